"""What the classifiers by edit distance share: classes, the cost, and the ways of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from epic.augment.params import Parameters, param
from epic.classifiers.voting import class_labels
from epic.costs.base import Cost, check_cost
from epic.costs.learned import learned
from epic.errors import InputError
from epic.graphs.checks import check_same_features
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs, PackedGraphs
from epic.random import Seed, check_seed


class _Learned:
    """What ``fit`` sets. Among the parameters, type checkers would take it for arguments of the constructor."""

    classes_: np.ndarray
    cost_: Cost
    _graphs: PackedGraphs  # what graphs to classify must be like


class Classifier(_Learned, Parameters):
    """Base of classifiers of graphs, in the manner of scikit-learn."""

    def predict_proba(self, graphs: Graphs) -> np.ndarray:
        """Return the probability of each class ``[graphs, classes]``, in the order of ``classes_``."""
        raise NotImplementedError

    def predict(self, graphs: Graphs) -> np.ndarray:
        """Return the class of each graph, the one of the highest probability."""
        probability = self.predict_proba(graphs)
        return self.classes_[probability.argmax(1)]

    def score(self, graphs: Graphs, y: Any = None) -> float:
        """Return the accuracy.

        Args:
            graphs: The graphs to classify.
            y: Their classes (default: the labels of the graphs).
        """
        packed = pack(graphs)
        return float(np.mean(self.predict(packed) == class_labels(packed, y)))


class DistanceClassifier(Classifier):
    """Base of classifiers that know graphs by their edit distances only; see :class:`epic.EditNeighbors`."""

    cost: Cost | None = param(default=None, check=check_cost)
    seed: Seed = param(default=0, check=check_seed)
    progress: bool = param(default=True)

    def __sklearn_tags__(self) -> Any:
        """Describe the classifier to scikit-learn, which is the only caller."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(two_d_array=False),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cost_")

    def _given(
        self, graphs: Graphs, y: Any, validation: Graphs | None
    ) -> tuple[PackedGraphs, PackedGraphs, PackedGraphs | None, np.ndarray]:
        """Check what :meth:`fit` is given; return it, with places of classes as labels too, and the classes."""
        given = pack(graphs).to("cpu")
        label = class_labels(given, y)
        classes = np.unique(label)
        if y is None and given.class_names:  # in the order of their numbers, as the outputs of networks are
            named = [name for name in given.class_names if name in classes]
            classes = np.array([*named, *np.setdiff1d(classes, named)])
        if classes.size < 2:
            raise InputError(f"all graphs are of class {classes[0]}: there is nothing to tell apart")
        train, held = replace(given, y=torch.from_numpy(class_codes(label, classes))), None
        if validation is not None:
            held = pack(validation).to("cpu")
            check_same_features(train, held)
            held = replace(held, y=torch.from_numpy(class_codes(class_labels(held), classes)))
        return given, train, held, classes

    def _learn(
        self, train: PackedGraphs, validation_graphs: PackedGraphs | None, seed: int, options: dict[str, Any]
    ) -> Cost:
        """Return the cost to use: learned from ``train``, the epoch chosen by ``validation_graphs``; or as given."""
        validation = 0.1 if validation_graphs is None else validation_graphs
        return learned(self.cost, train, options, seed=seed, progress=self.progress, validation=validation)

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise InputError("this classifier is not fitted: call fit(graphs)")

    def _asked(self, graphs: Graphs) -> PackedGraphs:
        """Check graphs that are asked about."""
        self._check_fitted()
        packed = pack(graphs).to("cpu")
        check_same_features(packed, self._graphs)
        return packed


def class_codes(label: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the place of each label in ``classes``."""
    unknown = label[~np.isin(label, classes)]
    if unknown.size:
        raise InputError(f"a validation graph is of class {unknown[0]}, but no training graph is")
    order = np.argsort(classes)
    return order[np.searchsorted(classes, label, sorter=order)]
