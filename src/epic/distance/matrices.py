"""Distances between many graphs: a whole matrix, or only what the nearest neighbours need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from epic.graphs.ragged import ranges
from epic.matching.exact import match_blocks
from epic.matching.reduced import ReducedCosts

if TYPE_CHECKING:
    from epic.costs.base import Cost
    from epic.matching.types import NodeCosts

ROUNDING = 1e-4
"""Difference of two distances that counts as none, as a share of the mean price of a deletion."""
CELLS = 1 << 21
"""Entries of one block of node-to-node costs (16 MB in float64)."""


@dataclass(frozen=True)
class Neighbors:
    """``index[q, r]`` is the r-th nearest reference graph of query q, at ``distance[q, r]``; ``solved`` counts exact
    assignments.

    Of equally near graphs the first come; ``tied`` has all that are as near as the last to within ``rounding``: rows
    (query, reference graph), by query and distance, and ``tied_distance``.
    """

    index: Tensor
    distance: Tensor
    solved: int
    tied: Tensor
    tied_distance: Tensor
    rounding: float


def distance_matrix(cost: Cost, a: NodeCosts, b: NodeCosts, same: bool, progress: bool) -> Tensor:
    """Exact distances ``[A, B]``.

    ``same`` says that a and b are the same graphs at symmetric costs: half is mirrored.
    """
    na, nb = a.ptr.numel() - 1, b.ptr.numel() - 1
    out = np.zeros((na, nb))
    gain_of = cost.gains(a, b)
    with tqdm(total=na, desc="distances", unit="graph", disable=not progress, delay=1.0) as bar:
        for i0, i1 in _chunks(a.ptr, CELLS // 1024):
            for j0, j1, gain, base in _gains(gain_of, a, b, i0, i1, first=i0 if same else 0):
                wanted = np.arange(i0, i1)[:, None] <= np.arange(j0, j1) if same else np.ones(base.shape, dtype=bool)
                i, j = np.nonzero(wanted)
                base[i, j] += _saved(gain, *_blocks(_local(a.ptr, i0, i1), i), *_blocks(_local(b.ptr, j0, j1), j))
                out[i0:i1, j0:j1] = base
            bar.update(i1 - i0)
    if same:
        out = np.triu(out, 1)
        out = out + out.T
    return torch.from_numpy(np.maximum(out, 0.0)).to(torch.get_default_dtype())


def _blocks(ptr: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Begin and length of lists."""
    return ptr[which], ptr[which + 1] - ptr[which]


def _saved(gain: np.ndarray, top: np.ndarray, rows: np.ndarray, left: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """What the best substitutions add to the cost of each block (0 or less)."""
    partner = match_blocks(gain, top, left, rows, columns)
    pair = np.repeat(np.arange(top.size), rows)
    kept = partner >= 0
    value = gain[ranges(top, rows)[kept], (left[pair] + partner)[kept]]
    return np.bincount(pair[kept], value, top.size)


def nearest(cost: Cost, a: NodeCosts, b: NodeCosts, k: int, skip_self: bool, progress: bool) -> Neighbors:
    """The k nearest graphs of ``b`` for each graph of ``a``, exactly.

    A lower bound of every distance comes from the block of costs alone; assignments are solved in the order of the
    bound and only while it is below the k-th best distance found.
    """
    na, nb = a.ptr.numel() - 1, b.ptr.numel() - 1
    index, distance = np.zeros((na, k), dtype=np.int64), np.zeros((na, k))
    solved = 0
    tied: list[np.ndarray] = [np.zeros((0, 2), dtype=np.int64)]
    tied_distance = [np.zeros(0)]
    # Embeddings of equal graphs differ in their last digits by where in a batch they were computed.
    rounding = ROUNDING * float(a.deletion.mean() if a.deletion.numel() else 0.0)
    gain_of = cost.gains(a, b)
    with tqdm(total=na, desc="nearest", unit="graph", disable=not progress, delay=1.0) as bar:
        for i0, i1 in _chunks(a.ptr, CELLS // 1024):
            bound = np.empty((i1 - i0, nb))
            for j0, j1, gain, base in _gains(gain_of, a, b, i0, i1):
                bound[:, j0:j1] = base - _most_saved(
                    -np.minimum(gain, 0.0), _local(a.ptr, i0, i1), _local(b.ptr, j0, j1)
                )
            if skip_self:
                bound[np.arange(i1 - i0), np.arange(i0, i1)] = np.inf
            found = _search(cost, a, b, i0, bound, k, rounding)
            index[i0:i1], distance[i0:i1] = found[0], found[1]
            tied.append(found[2])
            tied_distance.append(found[3])
            solved += found[4]
            bar.update(i1 - i0)
    return Neighbors(
        torch.from_numpy(index),
        torch.from_numpy(distance).to(torch.get_default_dtype()),
        solved,
        torch.from_numpy(np.concatenate(tied)),
        torch.from_numpy(np.concatenate(tied_distance)),
        rounding,
    )


def _search(
    cost: Cost, a: NodeCosts, b: NodeCosts, first: int, bound: np.ndarray, k: int, rounding: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Solve candidates by rising bound, for all queries of a block together, until no bound beats the k-th best."""
    queries, total = bound.shape
    order = np.argsort(bound, axis=1, kind="stable")
    rising = np.take_along_axis(bound, order, axis=1)
    best_index = np.full((queries, k), -1, dtype=np.int64)
    best = np.full((queries, k), np.inf)
    at, step, solved = 0, max(k, 4), 0
    seen: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    while at < total:
        window = slice(at, min(at + step, total))
        # A bound may exceed its distance by rounding only; never let that hide a neighbour.
        q, c = np.nonzero(rising[:, window] <= best[:, -1:] * (1 + 1e-9) + 1e-12 + rounding)
        live = np.isfinite(rising[q, at + c])
        q, c = q[live], c[live]
        if q.size == 0:
            break
        j = order[q, at + c]
        d = cost.exact(a, b, torch.from_numpy(q + first), torch.from_numpy(j)).numpy()
        solved += q.size
        seen.append((q, j, d))
        new, new_index = np.full((queries, window.stop - at), np.inf), np.full((queries, window.stop - at), -1)
        new[q, c], new_index[q, c] = d, j
        pool, pool_index = np.concatenate([best, new], 1), np.concatenate([best_index, new_index], 1)
        # Ties go to the lower index, so that the answer does not depend on the blocks.
        top = np.lexsort((pool_index, pool), axis=1)[:, :k]
        best, best_index = np.take_along_axis(pool, top, 1), np.take_along_axis(pool_index, top, 1)
        at, step = window.stop, min(step * 2, 64)
    q, j, d = (np.concatenate(column) for column in zip(*seen, strict=True))
    near = np.flatnonzero(d <= best[q, -1] + rounding)  # all that the k-th distance lets in have been solved
    near = near[np.lexsort((j[near], d[near], q[near]))]
    return best_index, best, np.stack([q[near] + first, j[near]], axis=1), d[near], solved


def _most_saved(saving: np.ndarray, pa: np.ndarray, pb: np.ndarray) -> np.ndarray:
    """Upper bound ``[A, B]`` of what substitutions can save: every node takes its best partner, whoever else wants it.

    Counted once by rows and once by columns; the smaller of the two holds. (A tighter bound from the assignment's dual
    halves the number of assignments left, and costs more than these: on NCI1 it took nearly twice as long in all.)
    """
    row = _reduce(np.maximum, saving, pb, 1)  # [nodes of A, graphs of B]
    column = _reduce(np.maximum, saving, pa, 0)  # [graphs of A, nodes of B]
    return np.minimum(_reduce(np.add, row, pa, 0), _reduce(np.add, column, pb, 1))


def _reduce(op: np.ufunc, value: np.ndarray, ptr: np.ndarray, axis: int) -> np.ndarray:
    """``op.reduceat`` that gives 0 for empty graphs (numpy's would give the next graph's first entry)."""
    full = np.flatnonzero(np.diff(ptr))
    if full.size == ptr.size - 1:
        return op.reduceat(value, ptr[:-1], axis=axis)
    shape = list(value.shape)
    shape[axis] = ptr.size - 1
    out = np.zeros(shape)
    if full.size:
        np.moveaxis(out, axis, 0)[full] = np.moveaxis(op.reduceat(value, ptr[full], axis=axis), axis, 0)
    return out


def _gains(
    gain: ReducedCosts, a: NodeCosts, b: NodeCosts, i0: int, i1: int, first: int = 0
) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """For graphs i0..i1 of a against b in blocks: the gain of each substitution, and each pair's delete-all-insert-all
    cost.
    """
    u = slice(int(a.ptr[i0]), int(a.ptr[i1]))
    lost = _reduce(np.add, a.deletion[u].numpy(), _local(a.ptr, i0, i1), 0)
    for j0, j1 in _chunks(b.ptr, CELLS // max(1, u.stop - u.start), first):
        v = slice(int(b.ptr[j0]), int(b.ptr[j1]))
        won = _reduce(np.add, b.insertion[v].numpy(), _local(b.ptr, j0, j1), 0)
        yield j0, j1, gain(u, v), lost[:, None] + won[None, :]


def _local(ptr: Tensor, i0: int, i1: int) -> np.ndarray:
    return (ptr[i0 : i1 + 1] - ptr[i0]).cpu().numpy()


def _chunks(ptr: Tensor, nodes: int, first: int = 0) -> Iterator[tuple[int, int]]:
    """Consecutive runs of graphs of at most ``nodes`` nodes together, one graph at least."""
    p, start = ptr.tolist(), first
    while start < len(p) - 1:
        stop = max(start + 1, int(np.searchsorted(p, p[start] + nodes, side="right")) - 1)
        yield start, stop
        start = stop
