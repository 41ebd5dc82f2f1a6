"""Reduced costs between many graphs, block by block, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from torch import Tensor

from epic.distance.pairs import CELLS
from epic.matching.reduced import ReducedCosts
from epic.matching.types import NodeCosts


def cost_blocks(
    reduced: ReducedCosts, a: NodeCosts, b: NodeCosts, i0: int, i1: int, first: int = 0
) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Yield graphs ``i0`` to ``i1`` of ``a`` against those of ``b`` from ``first`` on, in blocks.

    Args:
        reduced: reduced costs between nodes of ``a`` and nodes of ``b``.
        a: node costs of the source graphs.
        b: node costs of the target graphs.
        i0: first source graph.
        i1: source graph after the last one.
        first: first target graph.

    Yields:
        The first target graph, the one after the last, the reduced costs of all nodes, and what deleting each source
        graph and inserting each target graph costs.
    """
    u = slice(int(a.ptr[i0]), int(a.ptr[i1]))
    deleted = reduce_graphs(np.add, a.deletion[u].numpy(), local_ptr(a.ptr, i0, i1), 0)
    for j0, j1 in graph_chunks(b.ptr, CELLS // max(1, u.stop - u.start), first):
        v = slice(int(b.ptr[j0]), int(b.ptr[j1]))
        inserted = reduce_graphs(np.add, b.insertion[v].numpy(), local_ptr(b.ptr, j0, j1), 0)
        yield j0, j1, reduced(u, v), deleted[:, None] + inserted[None, :]


def graph_chunks(ptr: Tensor, nodes: int, first: int = 0) -> Iterator[tuple[int, int]]:
    """Yield consecutive runs of graphs of at most ``nodes`` nodes together, one graph at least."""
    p, start = ptr.tolist(), first
    while start < len(p) - 1:
        stop = max(start + 1, int(np.searchsorted(p, p[start] + nodes, side="right")) - 1)
        yield start, stop
        start = stop


def reduce_graphs(op: np.ufunc, value: np.ndarray, ptr: np.ndarray, axis: int) -> np.ndarray:
    """Reduce over the nodes of each graph; 0 for empty graphs (numpy's ``reduceat`` gives the next graph's entry)."""
    full = np.flatnonzero(np.diff(ptr))
    if full.size == ptr.size - 1:
        return op.reduceat(value, ptr[:-1], axis=axis)
    shape = list(value.shape)
    shape[axis] = ptr.size - 1
    out = np.zeros(shape)
    if full.size:
        np.moveaxis(out, axis, 0)[full] = np.moveaxis(op.reduceat(value, ptr[full], axis=axis), axis, 0)
    return out


def local_ptr(ptr: Tensor, i0: int, i1: int) -> np.ndarray:
    """Return the offsets of graphs ``i0`` to ``i1`` counted from the first of them."""
    return (ptr[i0 : i1 + 1] - ptr[i0]).cpu().numpy()
