"""Classifiers by edit distance as runs: the same splits, the same learned costs and the same records as networks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from epic.classifiers import EditKernelClassifier, EditNeighbors
from epic.costs.base import Cost
from epic.data.dataset import Dataset
from epic.data.splits import Split
from epic.errors import InputError

DISTANCES = {"kernel": EditKernelClassifier, "neighbors": EditNeighbors}
"""Classifiers by name."""

FLOOR = 1e-4
"""Lowest probability: a class without a vote is not impossible."""


def distance_classifier(name: str, dataset: Dataset, split: Split, *, cost: Cost, seed: int = 0) -> dict[str, Tensor]:
    """Fit a classifier by edit distance.

    Args:
        name: ``kernel`` or ``neighbors``.
        dataset: Graphs whose labels are classes.
        split: Which of them train, validate (they choose settings and calibrate) and test.
        cost: What edits cost.
        seed: Of cross-validation.

    Returns:
        Logarithms of probabilities for the validation and the test graphs.

    Raises:
        InputError: The labels are not classes.
    """
    need_classes(name, dataset)
    graphs = replace(dataset.graphs, per_graph={})  # outputs go by the numbers of classes, not by names
    model = DISTANCES[name](cost=cost, seed=seed, progress=False)
    model.fit(graphs.select(split.train), validation=graphs.select(split.validation))
    found = {}
    for part in ("validation", "test"):
        share = model.predict_proba(graphs.select(getattr(split, part)))
        whole = np.full((len(share), dataset.outputs), FLOOR)
        whole[:, model.classes_.astype(int)] = np.maximum(share, FLOOR)
        found[part] = torch.from_numpy(whole / whole.sum(1, keepdims=True)).log()
    return found


def need_classes(name: str, dataset: Dataset) -> None:
    """Raise an error unless labels are classes, before a cost is learned for nothing."""
    if dataset.task != "classes":
        remedy = ": say --task classes" if dataset.task == "binary" and dataset.outputs == 1 else ""
        raise InputError(f"{name} needs classes, but {dataset.name} has {dataset.task} labels{remedy}")
