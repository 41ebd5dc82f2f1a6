"""A classifier by nearest neighbours in edit distance, explained by the edit paths to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data
from typing_extensions import Self

from epic.augment import checks
from epic.augment.params import param
from epic.classifiers.base import DistanceClassifier
from epic.classifiers.voting import GRID, WEIGHTS, best_k, choices, validate, vote
from epic.costs.triplets import split_graphs
from epic.distance.nearest import Neighbors, nearest
from epic.distance.pairs import embed_all
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.graphs.degrees import detect
from epic.graphs.packed import Graphs
from epic.paths.edit_path import EditPath, edit_path
from epic.random import base_seed


@dataclass(frozen=True)
class Neighbor:
    """A training graph near a query.

    Args:
        index: Its place among the training graphs.
        label: Its class.
        distance: Its distance from the query.
        graph: The graph.
        path: The edit path from the query to it. It carries no labels: the label of the query is what is asked.
        name: What it is called: its name or the row of its file, where they are known.
    """

    index: int
    label: Any
    distance: float
    graph: Data = field(repr=False)
    path: EditPath = field(repr=False)
    name: str = ""


class EditNeighbors(DistanceClassifier):
    """Classify graphs by their nearest neighbours in exact edit distance.

    It follows scikit-learn: ``clone``, ``cross_val_score``, ``GridSearchCV`` and pipelines take it, and predictions
    are numpy arrays. Graphs as near as the last neighbour vote too, so that the order of the training graphs decides
    nothing. Of classes with equal votes the one with the nearest neighbour wins.

    Args:
        cost: What edits cost. None, or a :class:`epic.LearnedCost` that is not fitted: learn it in :meth:`fit`.
        n_neighbors: Number of neighbours that vote. None: choose from ``grid`` on held-out graphs. The most accurate
            number is taken; of equals, the smallest.
        weights: ``"uniform"``, or ``"distance"`` for votes that count as one over the distance. If some neighbours are
            at distance zero, only they vote.
        grid: Numbers of neighbours to choose from.
        seed: An int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed.
        progress: Show progress bars.

    Attributes:
        classes_: The classes, sorted; names of classes that a file gave, in the order of their numbers.
        cost_: The cost in use.
        n_neighbors_: Number of neighbours in use.
        validation_: Accuracy on the held-out graphs for each number of neighbours; None if none was chosen.

    >>> from epic.costs import UnitCost
    >>> from epic.data import lollipop
    >>> model = EditNeighbors(cost=UnitCost(), n_neighbors=3).fit(lollipop(40, seed=0))
    >>> distances, indices = model.kneighbors(lollipop(2, seed=9))
    >>> distances.shape, indices.shape
    ((2, 3), (2, 3))
    """

    n_neighbors: int | None = param(default=None)
    weights: str = param(default="uniform", check=checks.one_of(WEIGHTS))
    grid: Sequence[int] = param(default=GRID)

    def fit(self, graphs: Graphs, y: Any = None, *, validation: Graphs | None = None, **options: Any) -> Self:
        """Keep labelled graphs; learn the cost and choose the number of neighbours where these are not given.

        Args:
            graphs: The training graphs.
            y: A class for each graph, of any kind (default: the labels of the graphs).
            validation: Labelled graphs that choose the number of neighbours and, in learning, the epoch. Without them
                a stratified tenth of the graphs is held out for both. It serves as neighbours all the same.
            options: Passed on to :meth:`epic.LearnedCost.fit`.

        Returns:
            This classifier.

        Raises:
            InputError: An argument is wrong; what was fitted before is kept.
        """
        given, train, held, classes = self._given(graphs, y, validation)
        codes, seed = train.labels.numpy(), base_seed(self.seed)
        if held is None and self.n_neighbors is None:
            train, held = split_graphs(train, share=0.1, seed=seed)
            if held is None:
                raise InputError(
                    f"{len(given)} graphs of {classes.size} classes are too few to hold some out and choose "
                    "n_neighbors: pass n_neighbors=, or validation="
                )
        ks = choices(self.n_neighbors, self.grid, len(train))
        cost = self._learn(train, held, seed, options)
        scores = None
        if self.n_neighbors is None and held is not None:
            scores = validate(cost, train, held, grid=ks, weights=self.weights, progress=self.progress)
        nodes = embed_all(cost, given)
        # Set only now: a failed fit keeps what was fitted before.
        self.cost_, self.classes_, self.validation_ = cost, classes, scores
        self.n_neighbors_ = ks[0] if scores is None else best_k(scores)
        self._graphs, self._codes, self._nodes, self._path_seed = given, codes, nodes, seed
        return self

    def predict(self, graphs: Graphs) -> np.ndarray:
        """Return the class of each graph."""
        return self._vote(graphs)[1]

    def predict_proba(self, graphs: Graphs) -> np.ndarray:
        """Return the share of the votes ``[graphs, classes]``, in the order of ``classes_``."""
        return self._vote(graphs)[0]

    def kneighbors(
        self, graphs: Graphs | None = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Find the nearest training graphs, nearest first.

        Args:
            graphs: The queries. None: the training graphs, each of them not its own neighbour.
            n_neighbors: How many (default: ``n_neighbors_``).
            return_distance: Whether to return the distances too.

        Returns:
            Distances ``[graphs, n_neighbors]`` and indices of training graphs of the same shape, or the indices only.
        """
        found = self._search(graphs, n_neighbors)
        indices = found.index.numpy()
        return (found.distance.numpy(), indices) if return_distance else indices

    def neighbors(self, graph: Data, *, n_neighbors: int | None = None, order: str = "random") -> tuple[Neighbor, ...]:
        """Find the nearest training graphs of one graph, and the edit paths that explain their distances.

        Args:
            graph: The query.
            n_neighbors: How many (default: ``n_neighbors_``).
            order: Order of the operations on the paths, as in :func:`epic.edit_path`.

        Returns:
            The neighbours, nearest first.
        """
        query = pack(graph).to("cpu")
        if len(query) != 1:
            raise InputError(f"neighbors takes one graph, got {len(query)}: call it for each")
        found = self._search(query, n_neighbors)
        start, ends = replace(query, y=None).graph(0), replace(self._graphs, y=None)
        degrees = detect(self._graphs)
        result = []
        for j, distance in zip(found.index[0].tolist(), found.distance[0].tolist(), strict=True):
            path = edit_path(
                start,
                ends.graph(j),
                cost=self.cost_,
                order=order,
                seed=self._path_seed,
                finish=None if degrees is None else degrees.refresh,
            )
            label, name = self.classes_[self._codes[j]], self._graphs.title(j)
            result.append(Neighbor(j, label, distance, self._graphs.graph(j), path, name))
        return tuple(result)

    def _search(self, graphs: Graphs | None, n_neighbors: int | None = None) -> Neighbors:
        """Search as ``cost.nearest`` does, without embedding the training graphs again."""
        self._check_fitted()
        query = self._nodes if graphs is None else embed_all(self.cost_, self._asked(graphs))
        asked = self.n_neighbors_ if n_neighbors is None else n_neighbors
        (k,) = choices(asked, (), len(self._graphs) - (graphs is None))
        with torch.no_grad():
            return nearest(
                self.cost_, source=query, target=self._nodes, k=k, skip_self=graphs is None, progress=self.progress
            )

    def _vote(self, graphs: Graphs) -> tuple[np.ndarray, np.ndarray]:
        share, winner = vote(self._search(graphs), self._codes, self.classes_.size, weights=self.weights)
        return share, self.classes_[winner]
