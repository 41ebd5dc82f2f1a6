"""Counterfactuals: a small change of a graph after which a model puts it into another class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from epic.costs.base import Cost, check_cost
from epic.costs.edge import EdgeCost
from epic.costs.unit import UnitCost
from epic.errors import InputError, need_count
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs, PackedGraphs, join
from epic.nn.classify import class_scores, evaluating
from epic.paths.edit_path import EditPath, edit_path
from epic.paths.operation import Operation
from epic.paths.operations import Operations
from epic.random import Seed, base_seed

Finish = Callable[[PackedGraphs], PackedGraphs]
Ask = Callable[[PackedGraphs], Tensor]


@dataclass(frozen=True)
class Counterfactual:
    """A changed graph that a model puts into another class, and what was changed.

    Args:
        path: the edit path from the graph to a reference graph; the operations that the answer needs come first.
        step: how many they are: ``path[step]`` is the changed graph.
        cost: what they cost.
        before: class of the graph.
        after: class of the changed graph.
        reference: number of the reference graph that the path leads to.
    """

    path: EditPath
    step: int
    cost: float
    before: int
    after: int
    reference: int

    @property
    def graph(self) -> Data:
        """The changed graph."""
        return self.path[self.step]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What was changed. Leave out any one of them, and the model does not answer ``after``."""
        return self.path.operations[: self.step]

    def __repr__(self) -> str:
        names, (graph, reference) = self.path.class_names, self.path.ends
        before, after = (names[c] if c < len(names) else c for c in (self.before, self.after))
        return (
            f"Counterfactual({graph and f'{graph}: '}class {before} -> {after} by {self.step} of {len(self.path)} "
            f"operations towards {reference or f'reference {self.reference}'}, cost {self.cost:.3f} of "
            f"{self.path.distance:.3f})"
        )


@torch.no_grad()
def counterfactual(
    graph: Data,
    model: Callable[[Batch], Tensor],
    *,
    reference: Graphs,
    cost: Cost | None = None,
    target: int | None = None,
    k: int = 3,
    tries: int = 4,
    matching: str = "nodes",
    edge_cost: EdgeCost | float | None = None,
    order: str = "random",
    seed: Seed = 0,
    finish: Finish | None = None,
) -> Counterfactual:
    """Find a small change after which a model puts a graph into another class.

    The search goes along edit paths to the nearest reference graphs that the model puts there. On each, the first graph
    of the other class is taken, and operations are undone, the most expensive first, as long as the class stays. So
    every operation that is left is needed. A cheaper set of operations may exist: all sets cannot be tried.

    Args:
        graph: the graph to explain.
        model: takes a PyG ``Batch`` and returns scores ``[graphs, classes]``, or ``[graphs]`` or ``[graphs, 1]`` that
            are positive for class 1. A module is put into evaluation mode for the search.
        reference: candidate target graphs, for instance the training graphs.
        cost: what edits cost (default: :class:`epic.UnitCost`).
        target: the class to reach (default: any other than that of the graph).
        k: how many of the nearest reference graphs to go towards.
        tries: orders of the operations to try on each path.
        matching: as in :func:`epic.edit_path`.
        edge_cost: as in :func:`epic.edit_path`.
        order: as in :func:`epic.edit_path`.
        seed: an int makes the result reproducible, a ``torch.Generator`` is drawn from once, None draws a fresh seed.
        finish: applied to every changed graph before the model sees it, for instance to compute degree features again.

    Returns:
        The cheapest change that was found.

    Raises:
        InputError: the graph is in that class already, or the model puts no reference graph there.

    >>> from epic.data import lollipop, lollipop_graph
    >>> large = lambda batch: torch.bincount(batch.batch) - 9.5  # class 1 from ten nodes on
    >>> found = counterfactual(lollipop_graph(4, 4), large, reference=lollipop(20, seed=0))
    >>> found.before, found.after, found.step, found.graph.num_nodes
    (0, 1, 2, 10)
    """
    cost = check_cost(cost) or UnitCost()
    query, others = pack([graph]), pack(reference)
    k, tries = need_count(k, "k"), need_count(tries, "tries")
    with evaluating(model):
        ask = partial(_classes, model)
        before = int(ask(query)[0])
        if before < 0:
            raise InputError("the graph has no nodes, so there is nothing to explain")
        if target == before:
            raise InputError(f"the model puts the graph into class {target} already: name another target")
        classes = ask(others)
        other = classes != before if target is None else classes == target
        there = (other & (classes >= 0)).nonzero()[:, 0]
        if there.numel() == 0:
            what = "another class" if target is None else f"class {target}"
            raise InputError(f"the model puts none of the {len(others)} reference graphs into {what}: give other ones")
        by: dict[str, Any] = {"matching": matching, "edge_cost": edge_cost}
        near = cost.nearest([graph], others.select(there), k=min(k, there.numel()), **by, progress=False)
        found, number = [], base_seed(seed)
        start, ends = replace(query, y=None).graph(0), replace(others, y=None)  # what is explained may have no label
        for at in there[near.index[0]].tolist():
            for turn in range(tries):
                wanted = int(classes[at])
                path = edit_path(start, ends.graph(at), cost, **by, order=order, seed=number + turn, finish=finish)
                done = _spare(path, ask, wanted, _first_step(path, ask, wanted))
                found.append((_cost(path._ops, done), done, path, wanted, at))
    price, done, path, wanted, at = min(found, key=lambda each: each[0])
    rank = np.empty(len(path), dtype=np.int64)
    rank[np.lexsort((path._rank, ~done))] = np.arange(len(path))
    ordered = EditPath(path._ops, rank=rank, order=path.order, num_classes=None, finish=finish)
    return Counterfactual(ordered, int(done.sum()), price, before, wanted, at)


def _classes(model: Callable[[Batch], Tensor], graphs: PackedGraphs) -> Tensor:
    """Return the class of each graph; -1 of a graph without nodes, which no model is asked about."""
    classes = torch.full((len(graphs),), -1)
    able = graphs.sizes.nonzero()[:, 0]
    if able.numel():
        classes[able] = class_scores(model, graphs.select(able)).argmax(1)
    return classes


def _graphs(path: EditPath, done: Sequence[np.ndarray]) -> PackedGraphs:
    """Apply several sets of operations to the same graph."""
    return join([path.after(some)[0] for some in done])


def _first_step(path: EditPath, ask: Ask, wanted: int) -> np.ndarray:
    """Mark the operations up to the first step at which the model answers as wanted; the last step does."""
    sets = [path._rank < step for step in range(1, len(path) + 1)]
    right = (ask(_graphs(path, sets)) == wanted).nonzero()[:, 0] if sets else torch.empty(0)
    return sets[int(right[0])] if right.numel() else np.ones(len(path), dtype=bool)


def _spare(path: EditPath, ask: Ask, wanted: int, done: np.ndarray) -> np.ndarray:
    """Undo operations as long as the model answers as wanted, the one that saves most first."""
    while done.any():
        sets = [done & (np.arange(done.size) != at) for at in np.flatnonzero(done)]
        kept = (ask(_graphs(path, sets)) == wanted).numpy()
        if not kept.any():
            break
        done = min((s for s, ok in zip(sets, kept, strict=True) if ok), key=lambda s: _cost(path._ops, s))
    return done


def _cost(ops: Operations, done: np.ndarray) -> float:
    """Price a set of operations, edges included where they have a price."""
    edges = 0.0 if ops.edges is None else float(ops.edges.price[ops.edges.done(done)].sum())
    return float(ops.price[done].sum()) + edges
