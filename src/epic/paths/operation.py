"""One operation of a path as users see it, with the edge operations that it completes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epic.paths.operations import Operations


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


def _kind(source: int, target: int) -> str:
    return "insert" if source < 0 else "delete" if target < 0 else "substitute"


def operations_of(ops: Operations, rank: np.ndarray) -> tuple[Operation, ...]:
    """List the operations of one pair in the order of a path.

    Args:
        ops: The operations.
        rank: Position of each of them on the path.
    """
    edges, made = _edge_operations(ops, rank), []
    for step, r in enumerate(np.argsort(rank)):
        source, target = int(ops.source[r]), int(ops.target[r])
        one, other = (None if node < 0 else node for node in (source, target))
        made.append(Operation(_kind(source, target), one, other, float(ops.price[r]), tuple(edges.get(step, ()))))
    return tuple(made)


def _edge_operations(ops: Operations, rank: np.ndarray) -> dict[int, list[EdgeOperation]]:
    """Return the edge operations that each step completes."""
    found: dict[int, list[EdgeOperation]] = {}
    if ops.edges is None:
        return found
    steps, edits = ops.edges.step(rank).tolist(), ops.edges
    ends = zip(edits.source.T.tolist(), edits.target.T.tolist(), strict=True)
    for step, (source, target), price in zip(steps, ends, edits.price.tolist(), strict=True):
        one, other = (None if nodes[0] < 0 else (nodes[0], nodes[1]) for nodes in (source, target))
        found.setdefault(step, []).append(EdgeOperation(_kind(source[0], target[0]), one, other, price))
    return found
