"""The one interface of all costs, and what every cost can do with it: distances, matrices, nearest neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from typing_extensions import Self

from epic._io import read_tensors, write_tensors
from epic._kernels.backend import compiled
from epic.distance.explain import Explanation, explain
from epic.distance.matrices import CELLS, Neighbors, distance_matrix, nearest
from epic.errors import InputError, choose
from epic.graphs.convert import check_same_features, pack
from epic.graphs.packed import Graphs, PackedGraphs
from epic.graphs.padding import AREA, buckets, padded_index
from epic.graphs.ragged import lengths, offsets, ranges
from epic.matching.reduced import ReducedCosts
from epic.matching.sinkhorn import sinkhorn
from epic.matching.types import Assignment, NodeCosts, OperationCosts, PairCosts

CPU = torch.device("cpu")
FORM = "epic-cost/1"
AUGMENTER_FORM = "epic-augmenter/1"  # holds a cost too


class Cost(ABC):
    """Prices of node operations. A cost of your own defines :meth:`nodes` and :meth:`substitution`."""

    symmetric: ClassVar[bool] = False
    """Whether u into v costs what v into u does, and u into itself nothing: half of a matrix is then mirrored."""

    kind: ClassVar[str] = ""
    """Name under which the cost is saved; a cost that has one also defines :meth:`state` and :meth:`from_state`."""

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and JSON values that :meth:`from_state` makes the cost from."""
        return {}, {}

    @classmethod
    def from_state(cls, tensors: dict[str, Tensor], header: dict[str, Any]) -> Cost:
        return cls()

    def save(self, path: str | Path) -> None:
        """Write the cost as safetensors."""
        check_kind(self)
        tensors, header = self.state()
        write_tensors(path, tensors, {"format": FORM, "kind": self.kind, **header})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a saved cost, or the cost of a saved augmenter. ``Cost.load`` takes any kind, ``LearnedCost.load`` a
        learned one only.
        """
        tensors, header = read_tensors(path, FORM, AUGMENTER_FORM)
        found = cost_from_state(tensors, header, path)
        if not isinstance(found, cls):
            raise InputError(f"{path} holds a {header['kind']} cost, not a {cls.kind} one: use Cost.load")
        return found

    @abstractmethod
    def nodes(self, graphs: PackedGraphs) -> NodeCosts:
        """Work done once for each graph: vectors to compare, and deletion and insertion prices."""

    @abstractmethod
    def substitution(self, source: Tensor, target: Tensor) -> Tensor:
        """OperationCosts ``[..., n, m]`` of turning nodes ``source[..., n, :]`` into nodes ``target[..., m, :]``.

        Where a distance is asked for, the vectors come on the CPU in float64.
        """

    def swaps(self, a: NodeCosts, b: NodeCosts, u: Tensor, v: Tensor) -> Tensor:
        """Prices of turning the nodes ``u`` of ``a`` into the nodes ``v`` of ``b``, one to one."""
        source, target = a.embedding.index_select(0, u), b.embedding.index_select(0, v)
        return self.substitution(source[:, None, :], target[:, None, :])[:, 0, 0]

    def settled(self, a: NodeCosts, b: NodeCosts, m: Assignment) -> tuple[Tensor, Tensor] | None:
        """A quicker way to what :meth:`price` gives for sources and targets, where a cost has one."""
        return None

    @torch.no_grad()
    def distance(self, source: Graphs, target: Graphs) -> float:
        """Exact edit distance of two graphs."""
        one, other = self._both(source, target)
        zero = torch.zeros(1, dtype=torch.long)
        return float(self.exact(one, other, zero, zero))

    def distances(self, source: Graphs, target: Graphs | None = None, progress: bool = True) -> Tensor:
        """Exact edit distances ``[A, B]`` of every source graph to every target graph (by default, of the source graphs
        to each other).
        """
        a, b = self._both(source, target)
        mirrored = self.symmetric and target is None and torch.equal(a.deletion, a.insertion)
        with torch.no_grad():
            return distance_matrix(self, a, b, mirrored, progress)

    def nearest(self, source: Graphs, target: Graphs | None = None, k: int = 1, progress: bool = True) -> Neighbors:
        """The k nearest target graphs of each source graph; without ``target``, among the other source graphs.

        Exact, but cheaper than the matrix: where a lower bound already decides, no assignment is solved.
        """
        a, b = self._both(source, target)
        others = b.ptr.numel() - 1 - (target is None)
        if not 1 <= k <= others:
            raise InputError(f"k = {k} neighbours asked of {others} graphs")
        with torch.no_grad():
            return nearest(self, a, b, k, target is None, progress)

    def explain(self, graph: Graphs, reference: Graphs | None = None) -> Explanation:
        """What deleting and inserting each node of a graph costs, and on average substituting it by a node of the
        ``reference`` graphs. ``epic.view.costs`` draws it.
        """
        return explain(self, graph, reference)

    def _both(self, source: Graphs, target: Graphs | None) -> tuple[NodeCosts, NodeCosts]:
        one = pack(source)
        if target is None:
            a = self.measure(one)
            return a, a
        other = pack(target)
        check_same_features(one, other)
        return self.measure(one), self.measure(other)

    @torch.no_grad()
    def measure(self, graphs: Graphs) -> NodeCosts:
        """Node costs of any number of graphs, embedded in chunks, in float64 on the CPU."""
        packed = pack(graphs)
        parts = []
        for first in range(0, len(packed), 512):
            part = packed.select(torch.arange(first, min(first + 512, len(packed)), device=packed.ptr.device))
            measured = self.nodes(part).double()
            parts.append((measured.embedding.cpu(), measured.deletion.cpu(), measured.insertion.cpu()))
        h, d, i = (torch.cat(column) for column in zip(*parts, strict=True))
        return NodeCosts(h, d, i, packed.ptr.cpu()).finite()

    def matrices(self, source: Graphs, target: Graphs) -> PairCosts:
        """Costs between the i-th source graph and the i-th target graph, padded to the largest of them."""
        a, b = self.nodes(pack(source)), self.nodes(pack(target))
        return self.pair_costs(a, b, torch.arange(a.ptr.numel() - 1), torch.arange(b.ptr.numel() - 1))

    def pair_costs(self, a: NodeCosts, b: NodeCosts, i: Tensor, j: Tensor, pair: Tensor | None = None) -> PairCosts:
        """Costs between graphs ``i[p]`` of ``a`` and ``j[p]`` of ``b``, padded together."""
        rows, columns = a.ptr.diff()[i], b.ptr.diff()[j]
        at, real_row = padded_index(a.ptr[i], rows)
        to, real_column = padded_index(b.ptr[j], columns)
        width = a.embedding.shape[1:]
        h = a.embedding.index_select(0, at.flatten()).view(*at.shape, *width)
        k = b.embedding.index_select(0, to.flatten()).view(*to.shape, *width)
        return PairCosts(
            self.substitution(h, k),
            a.deletion.index_select(0, at.flatten()).view(at.shape) * real_row,
            b.insertion.index_select(0, to.flatten()).view(to.shape) * real_column,
            rows,
            columns,
            at,
            to,
            torch.arange(i.numel()) if pair is None else pair,
        )

    def blocks(self, a: NodeCosts, b: NodeCosts, i: Tensor, j: Tensor, area: int = AREA) -> Iterator[PairCosts]:
        """Costs of any number of pairs, in padded groups of similar size of at most ``area`` entries."""
        for group in buckets(a.ptr.diff()[i], b.ptr.diff()[j], area):
            yield self.pair_costs(a, b, i[group], j[group], group)

    def gains(self, a: NodeCosts, b: NodeCosts) -> ReducedCosts:
        """What substituting nodes of ``a`` by nodes of ``b`` costs more than deleting and inserting; an error where a
        cost is not a number.
        """
        lost, won = a.finite().deletion.numpy(), b.finite().insertion.numpy()
        return ReducedCosts(
            lambda u, v: self.substitution(a.embedding[u], b.embedding[v]).numpy() - lost[u, None] - won[v]
        )

    @torch.no_grad()
    def match(self, a: NodeCosts, b: NodeCosts, i: Tensor, j: Tensor) -> Assignment:
        """Exact assignment of graphs ``i[p]`` of ``a`` with graphs ``j[p]`` of ``b``, in the precision in which their
        costs are given.

        In float32 (as in learning and augmentation, for speed) an assignment may be chosen that is dearer than the best
        by rounding only.
        """
        ptr_a, ptr_b, first, second = (t.cpu().numpy().astype(np.int64, copy=False) for t in (a.ptr, b.ptr, i, j))
        rows, columns = ptr_a[first + 1] - ptr_a[first], ptr_b[second + 1] - ptr_b[second]
        one = a.to(CPU).detach()
        gain = self.gains(one, one if b is a else b.to(CPU).detach())
        source_ptr, target_ptr = offsets(rows), offsets(columns)
        first_source, first_target = ptr_a[first], ptr_b[second]
        parts = []
        for p0, p1 in _runs(rows, columns):
            run = slice(p0, p1)
            parts.append(gain.matched(first_source[run], rows[run], first_target[run], columns[run], p0))
        partner = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int64), *parts])
        source, target, origin = (np.empty(n, dtype=np.int64) for n in (partner.size, target_ptr[-1], target_ptr[-1]))
        (compiled("_kernels.assignment", "link") or _link)(
            partner, source_ptr, target_ptr, first_source, first_target, source, target, origin
        )
        return Assignment(source, target, source_ptr, target_ptr, partner, origin)

    def price(self, a: NodeCosts, b: NodeCosts, m: Assignment) -> OperationCosts:
        """What given assignments cost, node by node; differentiable.

        Computed from matched nodes alone and not from the matrix, whose inner products lose the last digits where two
        nodes are nearly equal: equal graphs are at distance zero.
        """
        quick = self.settled(a, b, m)
        if quick is not None:
            return OperationCosts(*quick, m.source_ptr, m.target_ptr)
        lost, won = a.deletion, b.insertion
        swapped = (m.partner >= 0).nonzero()[0]
        ends = (m.source[swapped], m.target[m.partner[swapped]])
        swap = self.swaps(a, b, *(torch.from_numpy(t).to(lost.device) for t in ends)).to(lost.dtype)
        places = (swapped, m.source, m.target, m.origin < 0)
        at, source_at, target_at, new = (torch.from_numpy(t).to(lost.device) for t in places)
        source = lost.index_select(0, source_at).index_copy(0, at, swap)
        target = won.index_select(0, target_at) * new
        return OperationCosts(source, target, m.source_ptr, m.target_ptr)

    def exact(self, a: NodeCosts, b: NodeCosts, i: Tensor, j: Tensor) -> Tensor:
        """Exact distances of listed pairs. Gradients hold the assignment fixed, which is exact where it is unique."""
        return self.price(a, b, self.match(a, b, i, j)).distance

    def soft(
        self, a: NodeCosts, b: NodeCosts, i: Tensor, j: Tensor, delta: float = 0.1, iterations: int = 10
    ) -> Tensor:
        """Sinkhorn distances of listed pairs; ``delta`` is a share of each pair's mean substitution cost."""
        found, order = [], []
        for block in self.blocks(a, b, i, j):
            with torch.no_grad():
                area = (block.rows * block.columns).clamp_min(1).to(block.substitution)
                inside = _inside(block)
                mean = (block.substitution.detach() * inside).sum((1, 2)) / area
                blur = delta * torch.where(mean > 0, mean, 1.0)
            found.append(
                sinkhorn(
                    block.substitution, block.deletion, block.insertion, blur, iterations, block.rows, block.columns
                ).distance
            )
            order.append(block.pair)
        at = torch.cat(order).to(a.ptr.device)
        return torch.cat(found).new_zeros(i.numel()).index_copy(0, at, torch.cat(found))


def cost_from_state(tensors: dict[str, Tensor], header: dict[str, Any], path: str | Path) -> Cost:
    """Make the cost that a header describes, whatever its kind."""
    known = {c.kind: c for c in _descendants(Cost) if c.__dict__.get("kind")}  # type: ignore[type-abstract]
    kind = choose(header.get("kind"), known, f"kind of cost in {path}:")
    try:
        return known[kind].from_state(tensors, header)
    except (KeyError, TypeError, RuntimeError) as error:
        raise InputError(f"{path} does not hold a complete {kind} cost ({error}): save it again") from error


def check_kind(cost: Cost) -> None:
    """Refuse to save what could not be read back: a subclass must have a name of its own."""
    if not type(cost).__dict__.get("kind"):
        raise InputError(f"{type(cost).__name__} has no kind of its own: set one, and define state and from_state")


def _descendants(cls: type[Cost]) -> Iterator[type[Cost]]:
    for child in cls.__subclasses__():
        yield child
        yield from _descendants(child)


def _runs(rows: np.ndarray, columns: np.ndarray) -> Iterator[tuple[int, int]]:
    """Runs of pairs that fit into a matrix of ``CELLS`` entries below each other, one pair at least."""
    start = 0
    if rows.size and rows.sum() * columns.max() <= CELLS:  # as in training
        yield 0, rows.size
        return
    while start < rows.size:
        near = slice(start, start + CELLS // 32)  # a look at all that follow, in every run, would take its square
        area = np.cumsum(rows[near]) * np.maximum.accumulate(columns[near])
        stop = start + max(1, int(np.searchsorted(area, CELLS, side="right")))
        yield start, stop
        start = stop


def _link(
    partner: np.ndarray,
    source_ptr: np.ndarray,
    target_ptr: np.ndarray,
    first_source: np.ndarray,
    first_target: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    origin: np.ndarray,
) -> None:
    """What :func:`epic._kernels.assignment.link` does, on whole arrays."""
    rows, columns = lengths(source_ptr), lengths(target_ptr)
    source[:], target[:] = ranges(first_source, rows), ranges(first_target, columns)
    swapped = (partner >= 0).nonzero()[0]
    partner[swapped] += target_ptr[:-1].repeat(rows)[swapped]
    origin[:] = -1
    origin[partner[swapped]] = swapped


def _inside(block: PairCosts) -> Tensor:
    row = torch.arange(block.substitution.shape[1], device=block.rows.device) < block.rows[:, None]
    column = torch.arange(block.substitution.shape[2], device=block.rows.device) < block.columns[:, None]
    return row[:, :, None] & column[:, None, :]
