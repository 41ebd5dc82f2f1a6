"""From the nearest labelled graphs to a class: votes, and how many neighbours to ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from epic.costs.base import Cost
from epic.distance.nearest import Neighbors
from epic.errors import InputError, choose
from epic.graphs.packed import PackedGraphs, matrix

GRID = (1, 3, 5, 7, 9, 15)
WEIGHTS = ("uniform", "distance")


def vote(
    found: Neighbors, label: np.ndarray, num_classes: int, *, weights: str = "uniform", k: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Let the nearest graphs vote.

    Graphs as near as the k-th vote too: small graphs have many twins, and the order of the training graphs should
    decide nothing. Of classes with equal votes the one with the nearest neighbour wins.

    Args:
        found: The result of a search for at least ``k`` neighbours.
        label: Class of each reference graph, from 0.
        num_classes: Number of classes.
        weights: ``uniform``, or ``distance`` for one over the distance. If some are at distance zero, only they vote.
        k: How many neighbours vote (default: all that were searched for).

    Returns:
        Shares of the votes ``[queries, classes]``, and winners ``[queries]``.
    """
    query, index = found.tied.numpy().T  # sorted by query and distance
    d = found.tied_distance.numpy()
    near = found.distance.double().numpy()
    within = d <= near[query, (k or near.shape[1]) - 1] * (1 + 1e-6) + found.rounding
    query, cast, d = query[within], label[index[within]], d[within]
    weight = np.ones_like(d)
    if weights == "distance":
        first = near[query, 0]
        # Relative to the nearest, so that tiny distances do not overflow.
        relative = first / np.maximum(d, np.finfo(float).tiny)
        weight = np.where(first <= found.rounding, d <= found.rounding, relative)
    votes = np.zeros((len(near), num_classes))
    np.add.at(votes, (query, cast), weight)
    leads = (votes >= votes.max(1, keepdims=True) * (1 - 1e-9))[query, cast]
    nearest = np.unique(query[leads], return_index=True)[1]
    return votes / votes.sum(1, keepdims=True), cast[leads][nearest]


def validate(
    cost: Cost,
    train: PackedGraphs,
    validation_graphs: PackedGraphs,
    *,
    grid: Sequence[int] = GRID,
    weights: str = "uniform",
    progress: bool = True,
) -> dict[int, float]:
    """Return the accuracy on held-out graphs for each k of ``grid`` that ``train`` has enough graphs for.

    Labels count from 0. One search serves all k.
    """
    choose(weights, WEIGHTS, "weights")
    ks = choices(None, grid, len(train))
    found = cost.nearest(validation_graphs, train, k=ks[-1], progress=progress)
    label, truth = train.labels.numpy(), validation_graphs.labels.numpy()
    num_classes = int(label.max()) + 1
    return {k: float((vote(found, label, num_classes, weights=weights, k=k)[1] == truth).mean()) for k in ks}


def best_k(scores: dict[int, float]) -> int:
    """Return the most accurate number of neighbours; of equals, the smallest.

    >>> best_k({5: 0.8, 3: 0.8, 1: 0.7})
    3
    """
    return max(scores, key=lambda k: (scores[k], -k))


def class_labels(graphs: PackedGraphs, y: Any = None) -> np.ndarray:
    """Return one class for each graph, from ``y`` (numbers or names), or from the graphs: its name, or its number."""
    names = graphs.class_names if y is None else ()
    if y is None:
        if graphs.y is None:
            raise InputError("the graphs have no labels y: set them, or pass y=")
        y = graphs.y
    if isinstance(y, torch.Tensor):
        y = matrix(y)[:, 0].cpu().numpy() if y.dim() and y.numel() == len(y) else y.cpu().numpy()
    label = np.asarray(y)
    if label.shape != (len(graphs),):
        raise InputError(f"expected one class for each of {len(graphs)} graphs, got labels of shape {label.shape}")
    if label.dtype.kind == "f":
        if not (np.isfinite(label) & (label == np.rint(label))).all():
            raise InputError("labels that are real values or NaN are not classes: number the classes from 0")
        label = label.astype(np.int64)
    if not names:
        return label
    return np.array([*names, *(f"class {c}" for c in range(len(names), int(label.max(initial=0)) + 1))])[label]


def choices(n_neighbors: int | None, grid: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the numbers of neighbours to choose from, rising; only one if it is given."""
    values = tuple(grid) if n_neighbors is None else (n_neighbors,)
    for value in values:
        if not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"n_neighbors must be a positive integer, got {value!r}")
    within = tuple(sorted({int(v) for v in values if v <= count}))
    if not within:
        raise InputError(f"n_neighbors = {', '.join(map(str, values))}, but there are {count} graphs to choose from")
    return within
