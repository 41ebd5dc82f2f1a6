"""The matrix of edit distances between two lists of graphs, block by block, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from epic.distance.pairs import CELLS, Pairs, large_pairs, node_distances, reduced_costs
from epic.graphs.ragged import lengths, ranges
from epic.matching.exact import assign_blocks
from epic.matching.reduced import ReducedCosts
from epic.matching.types import NodeCosts, Pricing


def distance_matrix(
    cost: Pricing, *, source: NodeCosts, target: NodeCosts, mirror: bool, progress: bool, exact: bool = False
) -> Tensor:
    """Compute all distances ``[A, B]``; see :meth:`epic.Cost.distances`.

    Args:
        cost: what edits cost.
        source: node costs of the source graphs.
        target: node costs of the target graphs.
        mirror: source and target are the same graphs at symmetric costs: compute one half and mirror it.
        progress: show a progress bar.
        exact: those of large pairs are exact too, and not upper bounds.

    Returns:
        The distances.
    """
    out = np.zeros((len(source), len(target)))
    in_parts = not exact and some_large(cost, source, target)
    reduced = reduced_costs(cost, source=source, target=target)
    with tqdm(total=len(source), desc="distances", unit="graph", disable=not progress, delay=1.0) as bar:
        for row in range(len(source) if in_parts else 0):
            others = torch.arange(row if mirror else 0, len(target))
            pairs = Pairs(cost, source=source, target=target, i=torch.full_like(others, row), j=others)
            out[row, others.numpy()] = node_distances(pairs).numpy()
            bar.update()
        for rows in () if in_parts else graph_chunks(source.ptr, CELLS // 1024):
            for block in cost_blocks(reduced, source, target, rows, first=rows.start if mirror else 0):
                here = np.arange(rows.start, rows.stop)[:, None], np.arange(block.columns.start, block.columns.stop)
                i, j = np.nonzero(here[0] <= here[1] if mirror else np.ones(block.total.shape, dtype=bool))
                block.total[i, j] += _saved(block, i, j)
                out[rows, block.columns] = block.total
            bar.update(rows.stop - rows.start)
    if mirror:
        out = np.triu(out, 1)
        out = out + out.T
    return torch.from_numpy(np.maximum(out, 0.0)).to(torch.get_default_dtype())


def some_large(cost: Pricing, source: NodeCosts, target: NodeCosts) -> bool:
    """Return whether some pair of source and target is so large that its nodes are matched in parts."""
    if not (len(source) and len(target)):
        return False
    return bool(large_pairs(cost, int(source.ptr.diff().max()), int(target.ptr.diff().max())))


@dataclass(frozen=True)
class Block:
    """Source graphs against the target graphs ``columns``.

    ``field`` holds the reduced costs of all their nodes, ``total`` what deleting each source graph and inserting each
    target graph costs; ``source_ptr`` and ``target_ptr`` are offsets of the graphs' nodes in the block.
    """

    columns: slice
    source_ptr: np.ndarray
    target_ptr: np.ndarray
    field: np.ndarray
    total: np.ndarray


def cost_blocks(
    reduced: ReducedCosts, source: NodeCosts, target: NodeCosts, rows: slice, first: int = 0
) -> Iterator[Block]:
    """Yield the source graphs ``rows`` against the target graphs from ``first`` on, in blocks."""
    u, source_ptr, deleted = _prices(source.ptr, source.deletion, rows)
    for columns in graph_chunks(target.ptr, CELLS // max(1, u.stop - u.start), first):
        v, target_ptr, inserted = _prices(target.ptr, target.insertion, columns)
        yield Block(columns, source_ptr, target_ptr, reduced(u, v), deleted[:, None] + inserted)


def _prices(ptr: Tensor, price: Tensor, graphs: slice) -> tuple[slice, np.ndarray, np.ndarray]:
    """Return the nodes of a run of graphs, their offsets counted from the first, and the sum of prices of each."""
    own = ptr[graphs.start : graphs.stop + 1].cpu().numpy()
    nodes = slice(int(own[0]), int(own[-1]))
    return nodes, own - own[0], reduce_graphs(np.add, price[nodes].numpy(), own - own[0], 0)


def graph_chunks(ptr: Tensor, nodes: int, first: int = 0) -> Iterator[slice]:
    """Yield consecutive runs of graphs of at most ``nodes`` nodes together, one graph at least."""
    p, start = ptr.tolist(), first
    while start < len(p) - 1:
        stop = max(start + 1, int(np.searchsorted(p, p[start] + nodes, side="right")) - 1)
        yield slice(start, stop)
        start = stop


def reduce_graphs(op: np.ufunc, value: np.ndarray, ptr: np.ndarray, axis: int) -> np.ndarray:
    """Reduce over the nodes of each graph; 0 for empty graphs (numpy's ``reduceat`` gives the next graph's entry)."""
    full = np.flatnonzero(lengths(ptr))
    if full.size == ptr.size - 1:
        return op.reduceat(value, ptr[:-1], axis=axis)
    shape = list(value.shape)
    shape[axis] = ptr.size - 1
    out = np.zeros(shape)
    if full.size:
        np.moveaxis(out, axis, 0)[full] = np.moveaxis(op.reduceat(value, ptr[full], axis=axis), axis, 0)
    return out


def _saved(block: Block, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return what the best substitutions add to the cost of graphs ``i`` against graphs ``j`` (0 or less)."""
    top, rows = block.source_ptr[i], lengths(block.source_ptr)[i]
    left, columns = block.target_ptr[j], lengths(block.target_ptr)[j]
    partner = assign_blocks(block.field, top=top, left=left, rows=rows, columns=columns)
    pair = np.arange(i.size).repeat(rows)
    kept = partner >= 0
    value = block.field[ranges(top, rows)[kept], (left[pair] + partner)[kept]]
    return np.bincount(pair[kept], value, i.size)
