"""A support vector machine whose kernel is made of edit distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from scipy.special import softmax
from tqdm import tqdm
from typing_extensions import Self

from epic.augment.checks import positive
from epic.augment.params import param
from epic.classifiers.base import DistanceClassifier
from epic.classifiers.calibration import log_loss, temperature
from epic.costs.base import Cost
from epic.costs.learned import needs_learning
from epic.data.splits import hold_out, stratified_folds
from epic.distance.matrices import distance_matrix
from epic.distance.pairs import embed_all
from epic.errors import InputError
from epic.graphs.packed import Graphs, PackedGraphs
from epic.matching.types import NodeCosts
from epic.random import base_seed

GAMMAS = (0.1, 0.3, 1.0, 3.0)
CS = (1.0, 10.0, 100.0)
"""With 300 graphs of five sets, wider, finer and narrower grids gave the same accuracy to within half a point."""
FOLDS = 5
CHUNK = 512
"""Graphs classified at a time."""


def one_or_several(value: Any, name: str) -> Any:
    """Check a positive number, or a sequence of them to choose from; it is stored as given."""
    several = list(value) if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) else [value]
    if not several:
        raise InputError(f"{name} is empty: give a number, or several to choose from")
    for each in several:
        positive(each, name)
    return value


class EditKernelClassifier(DistanceClassifier):
    """Classify graphs by a support vector machine on the kernel exp(-gamma d) of exact edit distances d.

    It follows scikit-learn: ``clone``, ``cross_val_score``, ``GridSearchCV`` and pipelines take it, and predictions
    are numpy arrays. Distances among all training graphs are computed once; prediction needs those to the support
    vectors only. More than two classes are told apart one against the rest: on ENZYMES that was two points more
    accurate than one against one, and its probabilities were better.

    The kernel goes to the machine as it is. An edit distance need not make it positive semidefinite, but with 300
    graphs each of ENZYMES, NCI1, Mutagenicity, PROTEINS and IMDB-BINARY, with unit and with learned cost, negative
    eigenvalues made up less than 0.05 % of the spectrum, and clipping them changed no accuracy. Distances are not
    divided by the number of nodes: that brought negative eigenvalues (up to 0.8 %) and no accuracy.

    Probabilities are made from decision values by one temperature. It is fitted to all graphs, each judged by a machine
    that was trained without it. With a learned cost this is overconfident, because a cost sees the graphs that it was
    learned from farther apart than others. Another temperature is then fitted to graphs that were left out of learning
    (``validation``, or a stratified tenth, which the machine is trained with all the same), and the higher one counts.

    Args:
        gamma: How fast the kernel falls, as a multiple of one over the median distance of the training graphs. Of
            several values the one with the lowest log loss in five-fold cross-validation is taken.
        C: What errors on training graphs cost; one value or several, as with ``gamma``.
        cost: What edits cost. None, or a :class:`epic.LearnedCost` that is not fitted: learn it in :meth:`fit`.
        seed: An int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed.
        progress: Show progress bars.

    Attributes:
        classes_: The classes, sorted; names of classes that a file gave, in the order of their numbers.
        cost_: The cost in use.
        gamma_: The ``gamma`` in use.
        C_: The ``C`` in use.
        validation_: Log loss in cross-validation for each ``(gamma, C)``. It serves to choose: with a cost learned from
            the same graphs it is lower than on new ones.
        temperature_: What decision values are divided by to become logits.

    >>> from epic.costs import UnitCost
    >>> from epic.data import lollipop
    >>> model = EditKernelClassifier(cost=UnitCost()).fit(lollipop(40, seed=0))
    >>> model.predict_proba(lollipop(2, seed=9)).shape
    (2, 4)
    """

    gamma: float | Sequence[float] = param(default=GAMMAS, check=one_or_several)
    C: float | Sequence[float] = param(default=CS, check=one_or_several)

    def fit(self, graphs: Graphs, y: Any = None, *, validation: Graphs | None = None, **options: Any) -> Self:
        """Learn the cost if it is not given, compute all distances, choose gamma and C, and calibrate.

        Args:
            graphs: The training graphs, two of each class at least.
            y: A class for each graph, of any kind (default: the labels of the graphs).
            validation: Labelled graphs that calibrate the probabilities and, in learning, choose the epoch.
            options: Passed on to :meth:`epic.LearnedCost.fit`.

        Returns:
            This classifier.

        Raises:
            InputError: An argument is wrong; what was fitted before is kept.
        """
        given, train, held, classes = self._given(graphs, y, validation)
        codes, seed = train.labels.numpy(), base_seed(self.seed)
        counts = np.bincount(codes)
        if counts.min() < 2:
            raise InputError(f"class {classes[counts.argmin()]} has one graph: cross-validation needs two of each")
        out = torch.empty(0, dtype=torch.long)
        if held is None and needs_learning(self.cost):
            stays, out = hold_out(train.labels, share=0.1, least=2, seed=seed)
            if out.numel():
                train, held = train.select(stays), train.select(out)
        cost = self._learn(train, held, seed, options)
        nodes = embed_all(cost, given)
        distance = mutual_distances(cost, nodes, nodes, progress=self.progress)
        unit = float(np.median(distance[distance > 0])) if distance.any() else 1.0
        distance /= unit
        losses, decision = self._cross_validate(distance, codes, seed)
        gamma, c = min(losses, key=lambda setting: losses[setting])
        svm = _svm(c).fit(np.exp(-gamma * distance), codes)
        support = np.unique(np.concatenate([one.support_ for one in svm.estimators_]))
        nodes = embed_all(cost, given.select(torch.from_numpy(support).long()))
        machine = _Machine(svm, gamma / unit, cost, nodes, support, len(given))
        warmth = temperature(decision, codes)
        if held is not None:
            unseen = decision[out] if out.numel() else machine.decision(held, progress=self.progress)
            warmth = max(warmth, temperature(unseen, held.labels.numpy()))
        # Set only now: a failed fit keeps what was fitted before.
        self.cost_, self.classes_, self.validation_ = cost, classes, losses
        self.gamma_, self.C_, self.temperature_ = gamma, c, warmth
        self._graphs, self._machine = given[:1], machine
        return self

    def predict_proba(self, graphs: Graphs) -> np.ndarray:
        """Return calibrated probabilities ``[graphs, classes]``, in the order of ``classes_``."""
        asked = self._asked(graphs)
        return softmax(self._machine.decision(asked, progress=self.progress) / self.temperature_, axis=1)

    def _cross_validate(
        self, distance: np.ndarray, codes: np.ndarray, seed: int
    ) -> tuple[dict[tuple[float, float], float], np.ndarray]:
        """Return the log loss of each setting, and the decisions of the best on all graphs."""
        folds = stratified_folds(torch.from_numpy(codes), folds=min(FOLDS, codes.size), seed=seed)
        parts = [(torch.cat([f.train, f.validation]).numpy(), f.test.numpy()) for f in folds]
        settings = list(product(_listed(self.gamma), _listed(self.C)))
        losses: dict[tuple[float, float], float] = {}
        best = np.empty(0)
        for gamma, c in tqdm(settings, desc="choosing gamma and C", disable=not self.progress, delay=1.0):
            kernel = np.exp(-gamma * distance)
            decision = np.empty((codes.size, codes.max() + 1))
            for train, test in parts:
                svm = _svm(c).fit(kernel[np.ix_(train, train)], codes[train])
                decision[test] = _decision(svm, kernel[np.ix_(test, train)])
            loss = log_loss(decision / temperature(decision, codes), codes)
            if loss < min(losses.values(), default=np.inf):
                best = decision
            losses[gamma, c] = loss
        return losses, best


@dataclass(frozen=True)
class _Machine:
    """A trained machine, and the node costs of the training graphs that support it, with their places among all."""

    svm: Any
    gamma: float
    cost: Cost
    nodes: NodeCosts
    support: np.ndarray
    trained: int

    def decision(self, graphs: PackedGraphs, *, progress: bool) -> np.ndarray:
        """Return a score for each graph and class."""
        found = []
        with tqdm(total=len(graphs), desc="classifying", unit="graph", disable=not progress, delay=1.0) as bar:
            for first in range(0, len(graphs), CHUNK):
                nodes = embed_all(self.cost, graphs[first : first + CHUNK])
                kernel = np.zeros((len(nodes), self.trained))  # columns of non-support graphs are unused
                distance = mutual_distances(self.cost, nodes, self.nodes, progress=False)
                kernel[:, self.support] = np.exp(-self.gamma * distance)
                found.append(_decision(self.svm, kernel))
                bar.update(len(nodes))
        return np.concatenate(found)


@torch.no_grad()
def mutual_distances(cost: Cost, a: NodeCosts, b: NodeCosts, *, progress: bool) -> np.ndarray:
    """Return distances ``[A, B]`` that are the same in both directions: their mean, if the cost makes a difference."""

    def measured(one: NodeCosts, two: NodeCosts, mirror: bool) -> np.ndarray:
        return distance_matrix(cost, source=one, target=two, mirror=mirror, progress=progress).double().numpy()

    same = cost.symmetric and all(torch.equal(nodes.deletion, nodes.insertion) for nodes in (a, b))
    there = measured(a, b, same and a is b)
    return there if same else (there + (there if a is b else measured(b, a, False)).T) / 2


def _svm(c: float) -> Any:
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import SVC

    return OneVsRestClassifier(SVC(kernel="precomputed", C=c))


def _decision(svm: Any, kernel: np.ndarray) -> np.ndarray:
    """Return decision values ``[graphs, classes]``, one column for each of two classes too."""
    value = svm.decision_function(kernel)
    return np.stack([np.zeros_like(value), value], axis=1) if value.ndim == 1 else value


def _listed(value: float | Sequence[float]) -> list[float]:
    return [float(v) for v in np.atleast_1d(value)]
