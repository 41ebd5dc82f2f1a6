"""Classifiers that see no structure, or only that around each atom: what a graph network must beat.

A network that is not better than counting node labels has not been trained, or has nothing to find.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from epic.data.chemistry import node_labels
from epic.data.dataset import Dataset
from epic.data.splits import Split
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix
from epic.labels import class_columns
from epic.nn.layers import FeatureSchema
from epic.random import base_seed
from epic.train.metrics import score

STRENGTHS = (0.01, 0.1, 1.0, 10.0)
"""Inverse strengths of regularisation that logistic regression chooses from."""

RADIUS, BITS = 2, 2048


def label_counts(dataset: Dataset) -> np.ndarray:
    """Count what is in each graph: nodes, edges, and nodes with each label (or the sum of each feature).

    Features made from degrees are left out: they are structure. A linear model also needs the logarithms of the counts
    and their shares of the nodes: with these it is right for 70.6 % instead of 47.2 % of IMDB-BINARY, by size alone.

    Args:
        dataset: The graphs.

    Returns:
        Features ``[graphs, columns]``.
    """
    graphs = dataset.graphs
    columns = [graphs.sizes[:, None], graphs.edge_ptr.diff()[:, None]]
    if graphs.x is not None and not dataset.degree_features:
        owner = torch.arange(len(graphs)).repeat_interleave(graphs.sizes)
        x = _one_hot(graphs.x)
        columns.append(x.new_zeros(len(graphs), x.shape[1]).index_add(0, owner, x))
    counts = torch.cat([c.double() for c in columns], 1)
    return torch.cat([counts, counts.abs().log1p(), counts[:, 1:] / counts[:, :1].clamp_min(1)], 1).numpy()


def circular_fingerprints(graphs: PackedGraphs, *, radius: int = RADIUS, bits: int = BITS) -> np.ndarray:
    """Fold the neighbourhoods of all atoms into bits, as extended-connectivity fingerprints do (Rogers and Hahn 2010).

    A neighbourhood is named by a hash of its centre's name and of the sorted names of what the centre is bound to, with
    the bond; the names of radius 0 are the node features.

    Args:
        graphs: Graphs with integer or one-hot features.
        radius: Rounds of growth.
        bits: Length of a fingerprint.

    Returns:
        Zeros and ones ``[graphs, bits]``.
    """
    if graphs.x is None:
        raise InputError("fingerprints need node features x, but the graphs have none")
    start, end = graphs.edge_index.cpu().numpy()
    name = _hashed(matrix(graphs.x).cpu().numpy())
    bond = np.zeros(len(start), dtype=np.uint64)
    if graphs.edge_attr is not None:
        bond = _hashed(matrix(graphs.edge_attr).cpu().numpy())
    owner = np.repeat(np.arange(len(graphs)), graphs.sizes.cpu().numpy())
    found = np.zeros((len(graphs), bits), dtype=np.uint8)
    for step in range(radius + 1):
        found[owner, name % np.uint64(bits)] = 1
        if step < radius:
            # A sum of hashes does not depend on the order of the neighbours, and so needs no sorting.
            around = np.zeros(len(name), dtype=np.uint64)
            np.add.at(around, end, _hashed(np.stack([name[start], bond], 1)))
            name = _hashed(np.stack([name, around], 1))
    return found


def counts_classifier(dataset: Dataset, split: Split, *, seed: int = 0) -> dict[str, Tensor]:
    """Fit a model to counts of labels and sizes: what validates best of four logistic regressions and a forest.

    Args:
        dataset: The graphs.
        split: Which of them train, validate and test.
        seed: Of the random forest.

    Returns:
        Outputs for the validation and the test graphs, as a network gives them.
    """
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    linear: list[Any] = [LogisticRegression(C=c, max_iter=1000) for c in STRENGTHS]
    if dataset.task == "values":
        linear = [Ridge(alpha=1 / c) for c in STRENGTHS]
    models = [*(make_pipeline(StandardScaler(), m) for m in linear), _forest(dataset.task, 200, seed)]
    features = label_counts(dataset)
    tried = (_fit(dataset, split, features, m) for m in models)
    return max(tried, key=lambda found: score(found["validation"], dataset.y[split.validation], dataset.task))


def ecfp_classifier(dataset: Dataset, split: Split, *, seed: int = 0) -> dict[str, Tensor]:
    """Fit a random forest to circular fingerprints; arguments and result as in :func:`counts_classifier`.

    Raises:
        InputError: Nodes have no labels, so nothing names an atom.
    """
    if node_labels(dataset[0]) is None:
        raise InputError(f"ecfp needs node labels, and {dataset.name} has none: take another backbone, such as counts")
    return _fit(dataset, split, circular_fingerprints(dataset.graphs), _forest(dataset.task, 500, seed))


def _forest(task: str, trees: int, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestRegressor if task == "values" else RandomForestClassifier
    return forest(n_estimators=trees, random_state=base_seed(seed) % 2**32)


BASELINES: dict[str, Callable[..., dict[str, Tensor]]] = {"counts": counts_classifier, "ecfp": ecfp_classifier}
"""The baselines by name: dataset, split and seed -> outputs for the validation and the test graphs."""


def _fit(dataset: Dataset, split: Split, features: np.ndarray, estimator: Any) -> dict[str, Tensor]:
    """Fit one estimator for each column of labels, on the graphs that have it."""
    if dataset.task == "values":
        targets = matrix(dataset.y).double().numpy()
    else:
        targets = class_columns(dataset.y, dataset.task).double().numpy()
        targets[targets < 0] = np.nan
    outputs: dict[str, list[np.ndarray]] = {"validation": [], "test": []}
    train = split.train.numpy()
    for column in targets.T:
        known = train[~np.isnan(column[train])]
        label = column[known] if dataset.task == "values" else column[known].astype(int)
        model = estimator.fit(features[known], label) if np.unique(label).size > 1 else None
        for part, rows in outputs.items():
            at = features[getattr(split, part).numpy()]
            if dataset.task == "values":
                rows.append(model.predict(at)[:, None] if model else np.full((len(at), 1), label.mean()))
                continue
            share = np.full((len(at), dataset.outputs if dataset.task == "classes" else 2), 1e-6)
            if model is None:
                share[:, label[:1]] = 1
            else:
                share[:, model.classes_] = np.maximum(model.predict_proba(at), 1e-6)
            rows.append(np.log(share) if dataset.task == "classes" else np.log(share[:, 1:] / share[:, :1]))
    return {part: torch.from_numpy(np.concatenate(rows, 1)) for part, rows in outputs.items()}


def _one_hot(x: Tensor) -> Tensor:
    """Return integer columns as one-hot ones; floats stay."""
    x = matrix(x)
    if x.is_floating_point() or x.dtype == torch.bool:
        return x.double()
    sizes = FeatureSchema.of(x, "x").sizes
    return torch.cat([torch.nn.functional.one_hot(c.long(), n) for c, n in zip(x.T, sizes, strict=True)], 1).double()


def _hashed(rows: np.ndarray) -> np.ndarray:
    """Return a 64-bit hash of each row (the mixing steps of splitmix64, column by column)."""
    rows = np.ascontiguousarray(rows)
    whole = rows if rows.dtype == np.uint64 else rows.astype(np.float64).view(np.uint64).reshape(rows.shape)
    value = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in whole.T:
        value = (value ^ column) + np.uint64(0x9E3779B97F4A7C15)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        value ^= value >> np.uint64(31)
    return value
