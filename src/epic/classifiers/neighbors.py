"""Classify graphs by the nearest labelled ones, and explain each answer by the edit paths to them."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data
from typing_extensions import Self

from epic.classifiers.voting import GRID, WEIGHTS, best_k, choices, class_labels, validate, vote
from epic.costs.base import Cost
from epic.costs.learned import LearnedCost
from epic.data.splits import hold_out
from epic.distance.matrices import Neighbors, nearest
from epic.errors import InputError, choose
from epic.graphs.convert import check_same_features, pack
from epic.graphs.degrees import detect
from epic.graphs.packed import Graphs, PackedGraphs
from epic.paths.edit_path import EditPath, edit_path
from epic.random import Seed, base_seed


@dataclass(frozen=True)
class Neighbor:
    """One training graph near a query: its place in the training graphs, its class, how far it is, and the edit path to
    it (found when first asked for; it carries no labels, for that of the query is what is asked).
    """

    index: int
    graph: Data
    label: Any
    distance: float
    find_path: Callable[[], EditPath]

    @cached_property
    def path(self) -> EditPath:
        return self.find_path()

    def __repr__(self) -> str:
        return f"Neighbor(index={self.index}, label={self.label}, distance={self.distance:.3f})"


class EditNeighbors:
    """k nearest neighbours by exact edit distance, in the style of scikit-learn.

    >>> from epic.costs import UnitCost
    >>> from epic.data import lollipop
    >>> model = EditNeighbors(k=3, cost=UnitCost()).fit(lollipop(40, seed=0))
    >>> near = model.neighbors(lollipop(1, seed=9)[0])
    >>> len(near), near[0].path.distance == near[0].distance
    (3, True)

    ``k=None`` chooses from ``grid`` on held-out graphs: the most accurate, and of equals the smallest. ``cost=None``
    learns one in :meth:`fit`; a :class:`LearnedCost` that has not been fitted is learned too, as a copy. ``weights``:
    the votes of the neighbours count alike (``uniform``) or as one over the distance (``distance``; if some are at
    distance zero, only they vote). Graphs as near as the k-th vote too, so that the order of the training graphs
    decides nothing; of classes with equal votes the one with the nearest neighbour wins.

    After :meth:`fit`: ``classes_``, ``k_``, ``cost_``, and ``validation_`` (accuracy on the held-out graphs by k, or
    None). Predictions and probabilities are numpy arrays.
    """

    def __init__(
        self,
        k: int | None = None,
        cost: Cost | None = None,
        weights: str = "uniform",
        grid: Sequence[int] = GRID,
        seed: Seed = 0,
        progress: bool = True,
    ) -> None:
        # As given and unchecked, so that get_params and clones hold; fit looks at them.
        self.k, self.cost, self.weights, self.grid, self.seed, self.progress = k, cost, weights, grid, seed, progress

    _estimator_type = "classifier"  # what scikit-learn before 1.6 asks for

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know before it splits, searches or chains; called by it alone."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(two_d_array=False),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cost_")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        for name, value in params.items():
            setattr(self, choose(name, self.get_params(), "parameter"), value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in self.get_params().items())})"

    def fit(self, graphs: Graphs, y: Any = None, *, validation: Graphs | None = None, **options: Any) -> Self:
        """Keep labelled graphs; learn the cost and choose k where these are not given.

        ``y`` are classes of any kind, by default those of the graphs. ``validation`` are graphs, with labels of their
        own, that choose k and, in learning, the epoch. Without them a stratified tenth of the graphs is set aside for
        both; they serve as neighbours all the same. ``options`` go to :meth:`epic.LearnedCost.fit`.
        """
        choose(self.weights, WEIGHTS, "weights")
        if self.cost is not None and not isinstance(self.cost, Cost):
            raise InputError(f"cost must be an epic Cost such as UnitCost(), got {type(self.cost).__name__}")
        given = pack(graphs).to("cpu")
        classes, label = np.unique(class_labels(given, y), return_inverse=True)
        if classes.size < 2:
            raise InputError(f"all graphs are of class {classes[0]}: there is nothing to tell apart")
        train, held = replace(given, y=torch.from_numpy(label)), None
        seed = base_seed(self.seed)
        if validation is not None:
            held = _coded(pack(validation).to("cpu"), classes)
            check_same_features(train, held)
        elif self.k is None:
            stays, out = hold_out(torch.from_numpy(label), share=0.1, least=2, seed=seed)
            if out.numel() == 0:
                raise InputError(
                    f"{len(given)} graphs of {classes.size} classes are too few to set some aside and choose k: "
                    "pass k=, or validation="
                )
            train, held = train.select(stays), train.select(out)
        ks = choices(self.k, self.grid, len(train))
        cost = self._learn(train, held, {"seed": seed, "progress": self.progress}, options)
        scores = None
        if self.k is None and held is not None:
            scores = validate(cost, train, held, ks, self.weights, self.progress)
        nodes = cost.measure(given)
        # Kept only now that all is well: a failed fit leaves what was there.
        self.cost_, self.classes_, self.validation_ = cost, classes, scores
        self.k_ = ks[0] if scores is None else best_k(scores)
        self._given, self._label, self._nodes = given, label, nodes
        self._degrees, self._path_seed = detect(given), seed
        return self

    def predict(self, graphs: Graphs) -> np.ndarray:
        """The class of each graph."""
        return self._votes(graphs)[1]

    def predict_proba(self, graphs: Graphs) -> np.ndarray:
        """Share of the votes ``[graphs, classes]``, in the order of ``classes_``."""
        return self._votes(graphs)[0]

    def score(self, graphs: Graphs, y: Any = None) -> float:
        """Share of graphs whose class is right."""
        packed = pack(graphs)
        return float(np.mean(self.predict(packed) == class_labels(packed, y)))

    def neighbors(self, graph: Data, k: int | None = None, order: str = "random") -> tuple[Neighbor, ...]:
        """The nearest training graphs of one graph (``k_`` unless told), nearest first, and the edit paths to them."""
        query = pack(graph).to("cpu")
        if len(query) != 1:
            raise InputError(f"neighbors takes one graph, got {len(query)}: call it for each")
        found = self._search(query, k)
        start, ends = replace(query, y=None).graph(0), replace(self._given, y=None)
        finish = None if self._degrees is None else self._degrees.refresh
        result = []
        for j, distance in zip(found.index[0].tolist(), found.distance[0].tolist(), strict=True):
            way = partial(edit_path, start, ends.graph(j), self.cost_, order, self._path_seed, finish=finish)
            result.append(Neighbor(j, self._given.graph(j), self.classes_[self._label[j]], distance, way))
        return tuple(result)

    def _learn(
        self, train: PackedGraphs, held: PackedGraphs | None, defaults: dict[str, Any], options: dict[str, Any]
    ) -> Cost:
        cost = LearnedCost() if self.cost is None else self.cost
        if isinstance(cost, LearnedCost) and not cost.fitted:
            # A copy: what was passed in stays as it is, so that a clone of this object starts afresh.
            return copy.deepcopy(cost).fit(train, validation=0.1 if held is None else held, **{**defaults, **options})
        if options:
            raise InputError(f"the cost was given ready, so fit takes no {', '.join(options)}")
        return cost

    def _search(self, query: PackedGraphs, k: int | None = None) -> Neighbors:
        """As ``cost.nearest``, but the training graphs are not embedded again at every call."""
        if not hasattr(self, "cost_"):
            raise InputError("these neighbours are not known yet: call fit(graphs)")
        check_same_features(query, self._given)
        (k,) = choices(self.k_ if k is None else k, (), len(self._given))
        with torch.no_grad():
            return nearest(self.cost_, self.cost_.measure(query), self._nodes, k, False, self.progress)

    def _votes(self, graphs: Graphs) -> tuple[np.ndarray, np.ndarray]:
        found = self._search(pack(graphs).to("cpu"))
        share, winner = vote(found, self._label, self.classes_.size, self.weights)
        return share, self.classes_[winner]


def _coded(graphs: PackedGraphs, classes: np.ndarray) -> PackedGraphs:
    """The same with places in ``classes`` as labels."""
    label = class_labels(graphs)
    unknown = label[~np.isin(label, classes)]
    if unknown.size:
        raise InputError(f"a validation graph is of class {unknown[0]}, which no training graph is of")
    return replace(graphs, y=torch.from_numpy(np.searchsorted(classes, label)))
