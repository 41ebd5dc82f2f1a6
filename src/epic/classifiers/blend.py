"""A calibrated mixture of two classifiers: a network and neighbours, a network and a kernel, or two networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import nn
from typing_extensions import Self

from epic.augment import checks
from epic.augment.params import param
from epic.classifiers.base import Classifier, class_codes
from epic.classifiers.calibration import WEIGHTS, Mixture
from epic.classifiers.voting import class_labels
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs, PackedGraphs
from epic.nn.classify import class_scores

Side = Any
"""A network that takes a PyG ``Batch`` and returns logits, a fitted classifier, or a function to probabilities."""

FLOOR = 0.01
"""Lowest probability of one side: a class without a vote is not impossible."""


def _side(value: Side, name: str) -> Side:
    if not (callable(value) or hasattr(value, "predict_proba")):
        raise InputError(f"{name} must be a network, a fitted classifier or a function, got {type(value).__name__}")
    return value


class EditBlend(Classifier):
    """Mix the probabilities of a trained network with those of a classifier by edit distance.

    Each side is calibrated by one temperature, and the weight of the second is the one of the lowest log loss on
    validation graphs. The control is a mixture of two networks, ``EditBlend(model, another_model)``.

    Args:
        model: A torch module that takes a PyG ``Batch`` and returns logits (one column: of class 1 of two), or a
            function that takes packed graphs and returns probabilities ``[graphs, classes]``. Columns follow the
            sorted classes.
        neighbours: A fitted :class:`epic.EditNeighbors` or :class:`epic.EditKernelClassifier`, or another ``model``.
        weight: Share of ``neighbours``, from 0 to 1. None: choose it in :meth:`fit`.

    Attributes:
        classes_: The classes, sorted; names of classes that a file gave, in the order of their numbers.
        weight_: Share of ``neighbours`` in use.
        temperatures_: Temperature of each side.
        validation_: Log loss of each weight on the validation graphs.

    >>> from epic.data import lollipop
    >>> sure, fair = (lambda g, p=p: [[p, (1 - p) / 3, (1 - p) / 3, (1 - p) / 3]] * len(g) for p in (0.9, 0.25))
    >>> EditBlend(sure, fair).fit(lollipop(40, seed=0)).predict_proba(lollipop(1, seed=1)).round(2)
    array([[0.25, 0.25, 0.25, 0.25]])
    """

    model: Side = param(default=None, check=_side, kw_only=False)
    neighbours: Side = param(default=None, check=_side, kw_only=False)
    weight: float | None = param(default=None, check=checks.optional(checks.share))

    def fit(self, validation: Graphs, y: Any = None) -> Self:
        """Calibrate both sides and choose the weight.

        Args:
            validation: Labelled graphs that neither side was trained on.
            y: Their classes (default: the labels of the graphs).

        Returns:
            This mixture.

        Raises:
            InputError: The sides do not know the same classes, or a graph is of another.
        """
        validation_graphs = pack(validation)
        sides = [_scores(side, validation_graphs) for side in (self.model, self.neighbours)]
        named = [np.asarray(side.classes_) for side in (self.model, self.neighbours) if hasattr(side, "classes_")]
        known = [*named, *(np.arange(side.shape[1]) for side in sides if not named)]
        classes = known[0]
        if any(s.shape[1] != classes.size for s in sides) or any(not np.array_equal(k, classes) for k in known):
            count = " and ".join(str(side.shape[1]) for side in sides)
            raise InputError(f"the sides know {count} classes, not the same ones: train both on the same classes")
        code = class_codes(class_labels(validation_graphs, y), classes)
        weights = WEIGHTS if self.weight is None else (self.weight,)
        mixed = Mixture.of(sides[0], sides[1], code=code, weights=weights)
        self.classes_, self.temperatures_, self.validation_ = classes, mixed.temperatures, mixed.losses
        self.weight_, self._mixture = mixed.weight, mixed
        return self

    def predict_proba(self, graphs: Graphs) -> np.ndarray:
        """Return the mixed probabilities ``[graphs, classes]``, in the order of ``classes_``."""
        if not hasattr(self, "weight_"):
            raise InputError("this mixture is not fitted: call fit(validation)")
        packed = pack(graphs)
        return self._mixture(_scores(self.model, packed), _scores(self.neighbours, packed))


def _scores(side: Side, graphs: PackedGraphs) -> np.ndarray:
    """Return log probabilities of one side up to a constant, ``[graphs, classes]``."""
    if isinstance(side, nn.Module):
        scores = class_scores(side, graphs).double().numpy()
        right = np.isfinite(scores).all()
    else:
        given = np.asarray((side.predict_proba if hasattr(side, "predict_proba") else side)(graphs), dtype=np.float64)
        right = given.ndim == 2 and (given >= 0).all() and np.allclose(given.sum(1), 1, atol=1e-3)
        scores = np.log(np.maximum(given, FLOOR))
    if scores.ndim != 2 or len(scores) != len(graphs) or not right:
        what = "finite logits" if isinstance(side, nn.Module) else "probabilities that sum to one"
        raise InputError(
            f"{type(side).__name__} must return {what} of shape [{len(graphs)}, classes], got shape {scores.shape}"
        )
    return scores
