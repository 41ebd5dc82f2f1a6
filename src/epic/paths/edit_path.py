"""One edit path: its operations, and every graph on the way."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from epic._io import write_figure, write_text
from epic.costs.base import Cost, check_cost
from epic.costs.edge import EdgeCost
from epic.costs.unit import UnitCost
from epic.distance.edges import MATCHINGS, PricedGraphs
from epic.distance.ged import EditDistance
from epic.distance.ged import edit_distance as graph_edit_distance
from epic.distance.pairs import Pairs, exact_edits
from epic.errors import InputError, choose
from epic.graphs.checks import check_same_features
from epic.graphs.convert import pack
from epic.graphs.networkx import is_networkx
from epic.graphs.packed import Graphs, PackedGraphs, join, matrix
from epic.labels import count_classes, mix, soft_labels
from epic.paths.apply import apply_operations
from epic.paths.operations import ORDERS, Operations, draw_order
from epic.random import Seed, base_seed, derived
from epic.view import Names, notebook, path_page, strip


@dataclass(frozen=True)
class EdgeOperation:
    """What becomes of one edge when a node operation is done.

    Args:
        kind: ``substitute``, ``delete`` or ``insert``.
        source: its nodes in the source graph, None for an insertion.
        target: its nodes in the target graph, None for a deletion.
        cost: its price.
    """

    kind: str
    source: tuple[int, int] | None
    target: tuple[int, int] | None
    cost: float


@dataclass(frozen=True)
class Operation:
    """One node operation.

    Args:
        kind: ``substitute``, ``delete`` or ``insert``.
        source: node of the source graph, None for an insertion.
        target: node of the target graph, None for a deletion.
        cost: its price, without edges.
        edges: the edge operations that it completes, where edges have a price.
    """

    kind: str
    source: int | None
    target: int | None
    cost: float
    edges: tuple[EdgeOperation, ...] = ()

    def __str__(self) -> str:
        node = self.source if self.kind == "delete" else self.target
        what = f"{self.source} -> {self.target}" if self.kind == "substitute" else f"{node}"
        count = len(self.edges)
        more = f"; {count} edge{'s' * (count > 1)}, {sum(e.cost for e in self.edges):.2f}" if count else ""
        return f"{self.kind.capitalize()}({what}, {self.cost:.2f}{more})"


SAVED_AS = (".html", ".png", ".svg", ".pdf")


class EditPath:
    """The way from one graph to another, one node operation a step.

    ``len(path)`` counts operations; ``path[k]`` is the graph after k of them, for k from 0 (the source) to
    ``len(path)`` (the target). Iterating yields all of these graphs. Make one with :func:`epic.edit_path` or
    ``EPIC.path``.

    Args:
        ops: The operations with their prices.
        rank: Position of each operation on the path.
        order: Name of the order.
        num_classes: Number of classes, for soft labels.
        finish: Applied to every graph on the way.
    """

    def __init__(
        self,
        ops: Operations,
        *,
        rank: np.ndarray,
        order: str,
        num_classes: int | None,
        finish: Callable[[PackedGraphs], PackedGraphs] | None = None,
    ) -> None:
        self._ops, self._rank, self._finish, self.order = ops, rank, finish, order
        rows = np.argsort(rank)
        edges = _edge_operations(ops, rank)
        self.operations: tuple[Operation, ...] = tuple(
            _operation(int(ops.source[r]), int(ops.target[r]), float(ops.price[r]), tuple(edges.get(step, ())))
            for step, r in enumerate(rows)
        )
        self._labels: Tensor | None = None
        if ops.graphs.y is not None:
            self._labels = soft_labels(ops.graphs.y, num_classes or count_classes(ops.graphs.y))

    def __len__(self) -> int:
        return len(self.operations)

    def __repr__(self) -> str:
        kinds = [op.kind for op in self.operations]
        parts = ", ".join(f"{kinds.count(k)} {k}" for k in ("substitute", "delete", "insert"))
        before, after = self._ops.graphs.sizes.tolist()
        return (
            f"EditPath({before} -> {after} nodes, {len(self)} operations: {parts}; "
            f"distance {self.distance:.3f}, order {self.order})"
        )

    @property
    def source(self) -> Data:
        """The graph that the path starts from."""
        return self._end(0)

    @property
    def target(self) -> Data:
        """The graph that the path ends at."""
        return self._end(1)

    def _end(self, which: int) -> Data:
        """Return an end with attributes of the whole graph, such as its name."""
        graph = self[which * len(self)]
        for key, value in self._ops.graphs.per_graph.items():
            graph[key] = value[which]
        return graph

    @property
    def ends(self) -> tuple[str, str]:
        """What source and target are called, as far as it is known: ``urea (row 7)``."""
        known = self._ops.graphs.per_graph
        named = "row" in known or "name" in known
        return (self._ops.graphs.title(0), self._ops.graphs.title(1)) if named else ("", "")

    @property
    def smiles(self) -> tuple[str, str]:
        """SMILES of source and target; empty where they are not known."""
        return tuple(self._ops.graphs.per_graph.get("smiles", ("", "")))

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes by number; empty if they have none."""
        return self._ops.graphs.class_names

    @property
    def matching(self) -> str:
        """What was matched: ``nodes`` or ``edges``."""
        return MATCHINGS[0] if self._ops.edges is None else MATCHINGS[1]

    @property
    def distance(self) -> float:
        """The edit distance, which is the sum of the costs of all operations."""
        edges = self._ops.edges
        return float(self._ops.price.sum()) + (0.0 if edges is None else float(edges.price.sum()))

    def fraction(self, k: int) -> float:
        """Return the share of the cost spent after k operations (of the operations, where all are free)."""
        return float(self._ops.fraction(self._rank < self._step(k))[0])

    def label(self, k: int) -> Tensor:
        """Return the soft label ``[C]`` of the graph after k operations (paper, eq. 1)."""
        if self._labels is None:
            raise InputError("the two graphs have no labels y, so the path has none")
        share = torch.tensor([self.fraction(k)], dtype=torch.double)
        return mix(self._labels[:1], target=self._labels[1:], share=share)[0]

    def __getitem__(self, k: int) -> Data:
        k = self._step(k)
        at = apply_operations(self._ops, self._rank < k)
        graph = (at.graphs if self._finish is None else self._finish(at.graphs)).graph(0)
        graph.source_node = torch.from_numpy(at.source_node)
        graph.target_node = torch.from_numpy(at.target_node)
        if self._labels is not None:
            graph.y = self.label(k)[None]
        return graph

    def __iter__(self) -> Iterator[Data]:
        return (self[k] for k in range(len(self) + 1))

    def _step(self, k: int) -> int:
        count = len(self)
        if not -count - 1 <= k <= count:
            raise IndexError(
                f"step {k} of a path with {count} operations: steps run from 0 (source) to {count} (target)"
            )
        return k if k >= 0 else k + count + 1

    def plot(self, steps: int = 6, *, path: str | Path | None = None, names: Names | str | None = None) -> Any:
        """Draw some graphs of the path side by side.

        Args:
            steps: How many graphs to draw, at least 2.
            path: Where to save the figure: .png, .svg or .pdf.
            names: As in :meth:`save`.

        Returns:
            The matplotlib ``Figure``.
        """
        figure = strip(self, steps=steps, names=names)
        if path is not None:
            write_figure(path, figure, dpi=150, bbox_inches="tight")
        return figure

    def save(
        self,
        path: str | Path,
        *,
        title: str = "",
        names: Names | str | None = None,
        ends: tuple[str, str] | None = None,
        others: Sequence[EditPath] = (),
        steps: int = 6,
    ) -> None:
        """Write the path as a page with a slider, or as a picture. The page needs no network.

        Args:
            path: Where to write it: .html for the page; .png, .svg or .pdf for the picture.
            title: Title of the page.
            names: What labels are called: an :class:`epic.view.Names`, or the name of a dataset whose labels are known
                such as ``"Mutagenicity"``.
            ends: Names of the source and of the target, for the page (default: those of the graphs).
            others: Up to two other paths between the same graphs that the page can switch to.
            steps: How many graphs to draw in the picture.
        """
        path = Path(path)
        if path.suffix.lower() not in SAVED_AS:
            raise InputError(f"cannot save a path as {path}: the name must end in {', '.join(SAVED_AS)}")
        if not path.parent.is_dir():
            raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")
        if path.suffix.lower() == ".html":
            write_text(path, path_page(self, title=title, names=names, ends=ends, others=others))
        else:
            self.plot(steps, path=path, names=names)

    def _repr_html_(self) -> str:
        return notebook(self)


def _operation(source: int, target: int, cost: float, edges: tuple[EdgeOperation, ...]) -> Operation:
    return Operation(_kind(source, target), None if source < 0 else source, None if target < 0 else target, cost, edges)


def _kind(source: int, target: int) -> str:
    return "insert" if source < 0 else "delete" if target < 0 else "substitute"


def _edge_operations(ops: Operations, rank: np.ndarray) -> dict[int, list[EdgeOperation]]:
    """Return the edge operations that each step completes."""
    found: dict[int, list[EdgeOperation]] = {}
    if ops.edges is None:
        return found
    steps, edits = ops.edges.step(rank).tolist(), ops.edges.edits
    ends = zip(edits.source.T.tolist(), edits.target.T.tolist(), strict=True)
    for step, (source, target), price in zip(steps, ends, edits.price.tolist(), strict=True):
        one, other = (None if nodes[0] < 0 else (nodes[0], nodes[1]) for nodes in (source, target))
        found.setdefault(step, []).append(EdgeOperation(_kind(source[0], target[0]), one, other, price))
    return found


@torch.no_grad()
def edit_path(
    source: Data,
    target: Data,
    cost: Cost | None = None,
    *,
    matching: str = "nodes",
    edge_cost: EdgeCost | float | None = None,
    order: str = "random",
    seed: Seed = 0,
    num_classes: int | None = None,
    finish: Callable[[PackedGraphs], PackedGraphs] | None = None,
) -> EditPath:
    """Find a cheap edit path between two graphs.

    Args:
        source: the graph to start from.
        target: the graph to end at.
        cost: what edits cost (default: :class:`epic.UnitCost`).
        matching: ``nodes``: the cheapest node operations, which is what the paper does. ``edges``: node and edge
            operations together cost little, so that structure is kept.
        edge_cost: what edge operations cost with ``matching="edges"``, or one price for all of them (default:
            :class:`epic.EdgeCost`, scaled to the node costs).
        order: ``random``, ``bfs`` (along the target) or ``connected`` (every graph on the way connected; where no such
            order is found, a warning says so and the order is random).
        seed: an int makes the order reproducible, a ``torch.Generator`` is drawn from once, None draws a fresh seed.
        num_classes: number of classes; needed for soft labels only if neither graph is of the last class.
        finish: applied to every graph on the way, for instance to compute degree features again.

    Returns:
        The path.

    Raises:
        InputError: the graphs cannot be compared.
    """
    cost, order = check_cost(cost) or UnitCost(), choose(order, ORDERS, "order")
    one, other = _single(source, "source"), _single(target, "target")
    check_same_features(one, other)
    one, other = _same_labels(one, other)
    ends = join([one.only(other), other.only(one)])
    nodes = cost.embed(ends).to("cpu").double()
    i, j = torch.tensor([0]), torch.tensor([1])
    if choose(matching, MATCHINGS, "matching") == "nodes":
        edits = exact_edits(Pairs(cost, source=nodes, target=nodes, i=i, j=j))
        ops = Operations.of(ends, i=i, j=j, edits=edits)
    else:
        prices = EdgeCost(scale="nodes") if edge_cost is None else EdgeCost.of(edge_cost)
        found = PricedGraphs.of(cost, prices, nodes, nodes, ends, ends).match(i, j)
        ops = Operations.of(ends, i=i, j=j, edits=(found.assignment, found.nodes), edges=found.edges)
    rank, reasons = draw_order(ops, order, derived(base_seed(seed), "order"))
    if reasons[0] is not None:
        warnings.warn(f"the path is not connected throughout: {reasons[0]}; its order is random", stacklevel=2)
        order = "random"
    return EditPath(ops, rank=rank, order=order, num_classes=num_classes, finish=finish)


def edit_distance(
    source: Graphs,
    target: Graphs,
    cost: Cost | None = None,
    *,
    method: str = "nodes",
    edge_cost: EdgeCost | float | None = None,
    time_limit: float | None = None,
) -> EditDistance:
    """Compute the edit distance of two graphs.

    By default it is the paper's: the cheapest node operations, each of which subsumes the edges that depend on it. All
    other methods price edges too.

    Args:
        source: one graph, of PyG or networkx.
        target: another one.
        cost: what node operations cost (default: :class:`epic.UnitCost`).
        method: ``nodes``; ``bipartite`` (Riesen and Bunke 2009: an assignment with local edge costs); ``edges`` (a low
            cost found by local search); ``exact`` (the least cost, by branch and bound); or ``hausdorff`` (Fischer et
            al. 2015: a lower bound in quadratic time, without a path).
        edge_cost: what edge operations cost, or one price for all of them (default: :class:`epic.EdgeCost`, unit cost;
            of directed networkx graphs, for each direction).
        time_limit: seconds after which ``exact`` gives the bounds reached so far (default: no limit).

    Returns:
        The distance: a number that also knows its bounds, whether they meet, the assignment, and the time it took.

    Raises:
        InputError: the graphs cannot be compared.

    >>> import networkx
    >>> found = edit_distance(networkx.path_graph(4), networkx.cycle_graph(4), method="exact")
    >>> float(found), found.exact, found.lower
    (1.0, True, 1.0)
    """
    if edge_cost is None:
        edge_cost = EdgeCost(directed=any(is_networkx(g) and g.is_directed() for g in (source, target)))
    return graph_edit_distance(
        source,
        target,
        check_cost(cost) or UnitCost(),
        edge_cost=EdgeCost.of(edge_cost),
        method=method,
        time_limit=time_limit,
    )


def _same_labels(one: PackedGraphs, other: PackedGraphs) -> tuple[PackedGraphs, PackedGraphs]:
    """Both labels as rows of one kind and width, or neither."""
    if one.y is None or other.y is None:
        if one.y is not other.y:
            lacks = "source" if one.y is None else "target"
            raise InputError(f"the {lacks} graph has no label y and the other has: give both one, or neither")
        return one, other
    a, b = matrix(one.y), matrix(other.y)
    if a.shape != b.shape or a.is_floating_point() != b.is_floating_point():
        raise InputError("the labels y of the two graphs differ in width or kind: give both the same")
    return replace(one, y=a), replace(other, y=b)


def _single(graph: Graphs, what: str) -> PackedGraphs:
    packed = pack(graph)
    if len(packed) != 1:
        raise InputError(f"the {what} must be one graph, got {len(packed)}")
    return packed.to("cpu")
