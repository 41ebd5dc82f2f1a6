"""Nearest neighbours by exact edit distance, without the whole matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from epic.distance.matrices import Block, cost_blocks, graph_chunks, reduce_graphs
from epic.distance.pairs import CELLS, Pairs, node_distances, reduced_costs
from epic.matching.types import NodeCosts, Pricing

ROUNDING = 1e-4
"""Difference of two distances that counts as none, as a share of the mean price of a deletion."""


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
    tied: Tensor = field(repr=False)
    tied_distance: Tensor = field(repr=False)
    rounding: float = field(repr=False)


def nearest(
    cost: Pricing, *, source: NodeCosts, target: NodeCosts, k: int, skip_self: bool, progress: bool
) -> Neighbors:
    """Find the k nearest target graphs of each source graph, exactly.

    A lower bound of every distance comes from the block of costs alone; assignments are solved in the order of the
    bound and only while it is below the k-th best distance found.

    With ``skip_self`` both are the same graphs, and no graph is its own neighbour. See :meth:`epic.Cost.nearest`.
    """
    parts, solved = [], 0
    # Embeddings of equal graphs differ in their last digits by where in a batch they were computed.
    rounding = ROUNDING * float(source.deletion.mean() if source.deletion.numel() else 0.0)
    reduced = reduced_costs(cost, source=source, target=target)
    with tqdm(total=len(source), desc="nearest", unit="graph", disable=not progress, delay=1.0) as bar:
        for rows in graph_chunks(source.ptr, CELLS // 1024):
            blocks = cost_blocks(reduced, source, target, rows)
            bound = np.concatenate([block.total - _most_saved(block) for block in blocks], axis=1)
            query = np.arange(rows.start, rows.stop)
            if skip_self:
                bound[query - rows.start, query] = np.inf

            def distances(q: np.ndarray, j: np.ndarray, first: int = rows.start) -> np.ndarray:
                numbers = {"i": torch.from_numpy(q + first), "j": torch.from_numpy(j)}
                return node_distances(Pairs(cost, source=source, target=target, **numbers), exact=True).numpy()

            index, distance, tied, tied_distance, count = _search(distances, bound, k, rounding)
            parts.append((index, distance, tied + np.array([rows.start, 0]), tied_distance))
            solved += count
            bar.update(query.size)
    return _neighbors(*(np.concatenate(column) for column in zip(*parts, strict=True)), solved, rounding)


def nearest_of(distances: Tensor, *, k: int, skip_self: bool) -> Neighbors:
    """Find the k nearest target graphs of each source graph in a matrix of distances ``[A, B]``, as :func:`nearest`."""
    bound = distances.double().numpy().copy()
    if skip_self:
        np.fill_diagonal(bound, np.inf)
    *found, _ = _search(lambda q, j: bound[q, j], bound, k, 0.0)
    return _neighbors(*found, distances.numel(), 0.0)


def _neighbors(*found: Any) -> Neighbors:
    """Make neighbours from indices, distances, ties and their distances; how many were solved, and the rounding."""
    index, distance, tied, tied_distance = (torch.from_numpy(t) for t in found[:4])
    return Neighbors(index, distance.to(torch.get_default_dtype()), found[4], tied, tied_distance, found[5])


def _search(
    distances: Callable[[np.ndarray, np.ndarray], np.ndarray], bound: np.ndarray, k: int, rounding: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Solve candidates by rising bound, for all queries of a block together, until no bound beats the k-th best.

    Returns:
        Indices and distances ``[queries, k]``; (query, index) and distance of all that tie; how many were solved.
    """
    queries, total = bound.shape
    order = np.argsort(bound, axis=1, kind="stable")
    rising = np.take_along_axis(bound, order, axis=1)
    best_index = np.full((queries, k), -1, dtype=np.int64)
    best = np.full((queries, k), np.inf)
    at, step = 0, max(k, 4)
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
        d = distances(q, j)
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
    return best_index, best, np.stack([q[near], j[near]], axis=1), d[near], q.size


def _most_saved(block: Block) -> np.ndarray:
    """Upper bound ``[A, B]`` of what substitutions can save: every node takes its best partner, conflicts ignored.

    Counted once by rows and once by columns; the smaller of the two holds. (A tighter bound from the assignment's dual
    halves the number of assignments left, and costs more than these: on NCI1 it took nearly twice as long in all.)
    """
    saving, pa, pb = -np.minimum(block.field, 0.0), block.source_ptr, block.target_ptr
    row = reduce_graphs(np.maximum, saving, pb, 1)  # [nodes of A, graphs of B]
    column = reduce_graphs(np.maximum, saving, pa, 0)  # [graphs of A, nodes of B]
    return np.minimum(reduce_graphs(np.add, row, pa, 0), reduce_graphs(np.add, column, pb, 1))
