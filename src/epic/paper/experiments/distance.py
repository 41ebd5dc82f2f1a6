"""The paper's ``distance`` table: how well does the nearest training graph tell the class, under each cost?

Nearest in each class, the nearest class wins: that is one nearest neighbour. The paper lacks two further rows: the same
with a vote of all graphs that are equally near, and k nearest neighbours with k chosen on the validation graphs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from epic.classifiers.voting import GRID, best_k, class_labels, validate, vote
from epic.costs.base import Cost
from epic.costs.feature import FeatureCost
from epic.costs.learned import LearnedCost
from epic.costs.learning import ASSIGNMENTS
from epic.costs.unit import UnitCost
from epic.data.catalog import load
from epic.data.dataset import Dataset
from epic.data.splits import split_of
from epic.distance.nearest import Neighbors
from epic.errors import InputError, choose
from epic.graphs.packed import PackedGraphs

COSTS = ("unit", "feature", "learned", *ASSIGNMENTS)
"""``learned`` is ``sinkhorn``, the paper's way of learning."""


def distance_run(
    dataset: str,
    cost: str = "learned",
    seed: int = 0,
    *,
    split_seed: int = 0,
    data: Dataset | str | Path | None = None,
    grid: Sequence[int] = GRID,
    learning: Mapping[str, Any] | None = None,
    network: Mapping[str, Any] | None = None,
    ready: Cost | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Classify the test graphs of a split by their nearest training graphs.

    Learning sees the training graphs; the validation graphs choose its epoch, and k.

    Args:
        dataset: Name of the dataset.
        cost: One of ``COSTS``.
        seed: Of learning.
        split_seed: Of the split.
        data: The dataset itself, or the folder to look for it in.
        grid: Numbers of neighbours to choose from; empty leaves out k nearest neighbours.
        learning: Options of ``LearnedCost.fit``.
        network: Options of :class:`epic.LearnedCost`.
        ready: A cost learned before with the same dataset, split and seed, to be used instead.
        progress: Whether to show progress bars.

    Returns:
        A record that JSON can hold, a function of the arguments and the data but for the seconds. Accuracies are in
        percent of the test graphs; ``majority_accuracy`` is that of always naming the most frequent training class.
    """
    choose(cost, COSTS, "cost")
    loaded = data if isinstance(data, Dataset) else load(dataset, data=data, progress=progress)
    train, validation, test = _parts(loaded, split_seed)
    classes, truth = int(train.labels.max()) + 1, test.labels.numpy()
    begin = time.perf_counter()
    prices = ready
    if prices is None and cost in ("unit", "feature"):
        prices = UnitCost() if cost == "unit" else FeatureCost()
    elif prices is None:
        options = {"assignment": "sinkhorn" if cost == "learned" else cost, "seed": seed, **(learning or {})}
        prices = LearnedCost(**(network or {})).fit(train, validation=validation, progress=progress, **options)
    fitted = time.perf_counter()
    scores = validate(prices, train, validation, grid=grid, progress=progress) if grid else {}
    k = best_k(scores) if scores else 1
    chosen = time.perf_counter()
    found = prices.nearest(test, train, k=k, progress=progress)
    done = time.perf_counter()
    label = train.labels.numpy()
    voted = vote(found, label, classes, k=1)[1]
    record: dict[str, Any] = {
        "dataset": dataset,
        "cost": cost,
        "seed": seed,
        "split_seed": split_seed,
        "train_graphs": len(train),
        "validation_graphs": len(validation),
        "test_graphs": len(test),
        "classes": classes,
        "majority_accuracy": _accuracy(truth == int(train.labels.bincount().argmax())),
        # The nearest graph alone decides: of equals, the first. The paper does not say what it does with them.
        **_counted("", label[found.index[:, 0].numpy()], truth),
        **_counted("voted_", voted, truth),
        **_twins(found, label, voted == truth),
        "fit_seconds": round(fitted - begin, 1),
        "nearest_seconds": round(done - chosen, 1),
        "assignments_solved_share": round(found.solved / (len(test) * len(train)), 4),
        **_learned(prices),
        "data": loaded.graphs.digest(),
    }
    if scores:
        record |= {
            "k": k,
            "weights": "uniform",
            **_counted("k_", vote(found, label, classes)[1], truth),
            "k_validation": {str(n): round(100 * s, 2) for n, s in scores.items()},
            "choose_seconds": round(chosen - fitted, 1),
        }
    return record


def _parts(dataset: Dataset, split_seed: int) -> list[PackedGraphs]:
    """Return training, validation and test graphs, classes numbered from 0."""
    split = split_of(dataset.y, official=dataset.split, seed=split_seed)
    codes = np.unique(class_labels(dataset.graphs), return_inverse=True)[1]
    graphs = replace(dataset.graphs, y=torch.from_numpy(codes))
    parts = [graphs.select(part) for part in (split.train, split.validation, split.test)]
    for name, part in zip(("training", "validation", "test"), parts, strict=True):
        if len(part) == 0:
            raise InputError(f"{dataset.name} leaves no {name} graphs ({len(dataset)} in all)")
    return parts


def _learned(cost: Cost) -> dict[str, Any]:
    """Say how learning went."""
    if not isinstance(cost, LearnedCost) or not cost.history_:
        return {}
    best = min(cost.history_, key=lambda e: e.judged)
    ordered = None if best.ordered is None else round(best.ordered, 4)
    return {"epochs": len(cost.history_), "best_epoch": best.epoch, "validation_ordered": ordered}


def _twins(found: Neighbors, label: np.ndarray, right: np.ndarray) -> dict[str, int]:
    """Count test graphs with training graphs at distance zero.

    Of these, count those with twins of several classes, and those whose twins' vote is right: no distance under which
    equal graphs are equal can change that.
    """
    query, index = found.tied[found.tied_distance <= found.rounding].numpy().T
    classes = np.zeros((len(right), label.max() + 1), dtype=bool)
    classes[query, label[index]] = True
    twin = classes.any(1)
    return {
        "twins": int(twin.sum()),
        "twins_of_several_classes": int((classes.sum(1) > 1).sum()),
        "twins_voted_correct": int(right[twin].sum()),
    }


def _counted(prefix: str, said: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    right = said == truth
    return {f"{prefix}correct": int(right.sum()), f"{prefix}accuracy": _accuracy(right)}


def _accuracy(right: np.ndarray) -> float:
    return round(100 * int(right.sum()) / right.size, 2)
