"""One edit path: its operations, and every graph on the way."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from epic._io import write_figure, write_text
from epic.costs.base import Cost, check_cost
from epic.costs.unit import UnitCost
from epic.distance.pairs import Pairs, exact_edits
from epic.errors import InputError, choose
from epic.graphs.checks import check_same_features
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs, PackedGraphs, join, matrix
from epic.labels import count_classes, mix, soft_labels
from epic.paths.apply import apply_operations
from epic.paths.operations import ORDERS, Operations, draw_order
from epic.random import Seed, base_seed, derived
from epic.view import Names, notebook, path_page, strip


@dataclass(frozen=True)
class Operation:
    """One node operation.

    Args:
        kind: ``substitute``, ``delete`` or ``insert``.
        source: node of the source graph, None for an insertion.
        target: node of the target graph, None for a deletion.
        cost: its price.
    """

    kind: str
    source: int | None
    target: int | None
    cost: float

    def __str__(self) -> str:
        if self.kind == "substitute":
            return f"Substitute({self.source} -> {self.target}, {self.cost:.2f})"
        node = self.source if self.kind == "delete" else self.target
        return f"{self.kind.capitalize()}({node}, {self.cost:.2f})"


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
        self.operations: tuple[Operation, ...] = tuple(
            _operation(int(ops.source[r]), int(ops.target[r]), float(ops.price[r])) for r in rows
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
        return self[0]

    @property
    def target(self) -> Data:
        """The graph that the path ends at."""
        return self[len(self)]

    @property
    def distance(self) -> float:
        """Sum of the costs of all operations: the edit distance."""
        return float(self._ops.price.sum())

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
        ends: tuple[str, str] = ("", ""),
        steps: int = 6,
    ) -> None:
        """Write the path as a page with a slider, or as a picture. The page needs no network.

        Args:
            path: Where to write it: .html for the page; .png, .svg or .pdf for the picture.
            title: Title of the page.
            names: What labels are called: an :class:`epic.view.Names`, or the name of a dataset whose labels are known
                such as ``"Mutagenicity"``.
            ends: Names of the source and of the target, for the page.
            steps: How many graphs to draw in the picture.
        """
        path = Path(path)
        if path.suffix.lower() not in SAVED_AS:
            raise InputError(f"cannot save a path as {path}: the name must end in {', '.join(SAVED_AS)}")
        if not path.parent.is_dir():
            raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")
        if path.suffix.lower() == ".html":
            write_text(path, path_page(self, title=title, names=names, ends=ends))
        else:
            self.plot(steps, path=path, names=names)

    def _repr_html_(self) -> str:
        return notebook(self)


def _operation(source: int, target: int, cost: float) -> Operation:
    kind = "insert" if source < 0 else "delete" if target < 0 else "substitute"
    return Operation(kind, None if source < 0 else source, None if target < 0 else target, cost)


@torch.no_grad()
def edit_path(
    source: Data,
    target: Data,
    cost: Cost | None = None,
    *,
    order: str = "random",
    seed: Seed = 0,
    num_classes: int | None = None,
    finish: Callable[[PackedGraphs], PackedGraphs] | None = None,
) -> EditPath:
    """Find the cheapest edit path between two graphs.

    Args:
        source: the graph to start from.
        target: the graph to end at.
        cost: what edits cost (default: :class:`epic.UnitCost`).
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
    pair = {"i": torch.tensor([0]), "j": torch.tensor([1])}
    ops = Operations.of(ends, **pair, edits=exact_edits(Pairs(cost, source=nodes, target=nodes, **pair)))
    rank, reasons = draw_order(ops, order, derived(base_seed(seed), "order"))
    if reasons[0] is not None:
        warnings.warn(f"the path is not connected throughout: {reasons[0]}; its order is random", stacklevel=2)
        order = "random"
    return EditPath(ops, rank=rank, order=order, num_classes=num_classes, finish=finish)


def edit_distance(source: Data, target: Data, cost: Cost | None = None) -> float:
    """Compute the exact edit distance of two graphs.

    Args:
        source: one graph.
        target: another one.
        cost: what edits cost (default: :class:`epic.UnitCost`).

    Returns:
        The cost of the cheapest edit path.
    """
    return (check_cost(cost) or UnitCost()).distance(_single(source, "source"), _single(target, "target"))


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
