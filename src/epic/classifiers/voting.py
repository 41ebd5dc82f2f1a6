"""From the nearest labelled graphs to a class: votes, and how many neighbours to ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from epic.costs.base import Cost
from epic.distance.matrices import Neighbors
from epic.errors import InputError, choose
from epic.graphs.packed import PackedGraphs, matrix

GRID = (1, 3, 5, 7, 9, 15)
WEIGHTS = ("uniform", "distance")


def vote(
    found: Neighbors, label: np.ndarray, num_classes: int, weights: str, k: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Shares ``[Q, classes]`` and winners ``[Q]`` of the votes of the k nearest graphs (None: all k that were found).

    ``label`` is that of every reference graph. Graphs as near as the k-th vote too: small graphs have many twins, and
    the order of the training graphs should decide nothing. Of classes with equal votes the one of the nearest wins.
    """
    query, index = found.tied.numpy().T
    d = found.tied_distance.numpy()
    limit = found.distance.double().numpy()[:, (k or found.distance.shape[1]) - 1]
    within = d <= limit[query] * (1 + 1e-6) + found.rounding
    query, near, d = query[within], label[index[within]], d[within]
    weight = np.ones_like(d)
    if weights == "distance":
        first = np.minimum.reduceat(d, np.flatnonzero(np.diff(query, prepend=-1)))[query]
        # Relative to the nearest, so that tiny distances do not overflow.
        zero = first <= found.rounding
        weight = np.where(zero, d <= found.rounding, first / np.maximum(d, np.finfo(float).tiny))
    votes = np.zeros((len(limit), num_classes))
    np.add.at(votes, (query, near), weight)
    leads = votes >= votes.max(1, keepdims=True) * (1 - 1e-9)
    candidates = np.flatnonzero(leads[query, near])
    winner = np.zeros(len(limit), dtype=np.int64)
    winner[query[candidates][::-1]] = near[candidates][::-1]  # the nearest is written last
    return votes / votes.sum(1, keepdims=True), winner


def validate(
    cost: Cost, train: PackedGraphs, held: PackedGraphs, grid: Sequence[int], weights: str, progress: bool = True
) -> dict[int, float]:
    """Accuracy on held-out graphs for each k of ``grid`` that ``train`` has enough graphs for; labels count from 0.

    One search serves them all.
    """
    assert train.y is not None
    assert held.y is not None
    choose(weights, WEIGHTS, "weights")
    ks = choices(None, grid, len(train))
    found = cost.nearest(held, train, ks[-1], progress)
    label, truth = train.y.numpy(), held.y.numpy()
    num_classes = int(train.y.max()) + 1
    return {k: float((vote(found, label, num_classes, weights, k)[1] == truth).mean()) for k in ks}


def best_k(scores: dict[int, float]) -> int:
    """The most accurate number of neighbours; of equals, the smallest.

    >>> best_k({5: 0.8, 3: 0.8, 1: 0.7})
    3
    """
    return max(scores, key=lambda k: (scores[k], -k))


def class_labels(graphs: PackedGraphs, y: Any = None) -> np.ndarray:
    """One class for each graph, from ``y`` (numbers, names) or the graphs' own labels."""
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
            raise InputError("real-valued labels, or NaN among them, are no classes: number the classes from 0")
        label = label.astype(np.int64)
    return label


def choices(k: int | None, grid: Sequence[int], count: int) -> tuple[int, ...]:
    """Numbers of neighbours to choose from, rising; one if it is given."""
    values = tuple(grid) if k is None else (k,)
    for value in values:
        if not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"a number of neighbours must be a positive integer, got {value!r}")
    within = tuple(sorted({int(v) for v in values if v <= count}))
    if not within:
        raise InputError(f"k = {list(values) if k is None else k} neighbours asked of {count} graphs")
    return within
