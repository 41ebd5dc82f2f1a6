"""One graph from the middle of each of many paths."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from epic._kernels.backend import compiled
from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import counts, lengths
from epic.matching.types import Assignment, OperationCosts
from epic.paths.apply import intermediate, taken
from epic.paths.operations import Operations
from epic.paths.orders import ranks
from epic.random import uniform


def interpolate_pairs(
    graphs: PackedGraphs,
    i: Tensor,
    j: Tensor,
    matches: Assignment,
    prices: OperationCosts,
    order: str,
    generator: torch.Generator,
) -> tuple[PackedGraphs, np.ndarray]:
    """A graph without labels from the path of each pair ``i[p]``, ``j[p]`` of ``graphs``, after a random number of
    operations, and the share of the path's cost done there.

    ``matches`` need not name nodes as ``graphs`` does: only the places along their lists count.
    """
    walk = compiled("_kernels.interpolation", "walk")
    if walk is None or order != "random":
        return _by_arrays(graphs, i, j, matches, prices, order, generator)
    operations = matches.partner.size + np.count_nonzero(matches.origin < 0)
    drawn = uniform(operations + i.numel(), generator).numpy()
    key, chance = drawn[:operations], drawn[operations:]
    whole = (graphs.edge_index, graphs.edge_ptr, graphs.ptr, i, j)
    ptr, edges, node_at, edge_at, ends, share = walk(
        matches.partner,
        matches.origin,
        matches.source_ptr,
        matches.target_ptr,
        *prices.arrays(),
        key,
        chance,
        *(np.ascontiguousarray(t.cpu().numpy(), dtype=np.int64) for t in whole),
    )
    return taken(graphs, ptr, edges, ends, node_at, edge_at), share


def _by_arrays(
    graphs: PackedGraphs,
    i: Tensor,
    j: Tensor,
    matches: Assignment,
    prices: OperationCosts,
    order: str,
    generator: torch.Generator,
) -> tuple[PackedGraphs, np.ndarray]:
    ops = Operations.of(matches, prices)
    rank, reasons = ranks(order, ops, graphs, i, j, generator)
    failed = sum(r is not None for r in reasons)
    if failed:
        warnings.warn(
            f"order={order!r} could not be had for {failed} of {len(reasons)} pairs (for instance: "
            f"{next(r for r in reasons if r)}); these are in random order",
            stacklevel=5,
        )
    done = rank < draw_steps(ops, generator)[ops.pair]
    done = keep_a_node(ops, done)
    return intermediate(graphs, i, j, matches, *ops.marks(done, matches)).graphs, ops.fraction(done)


def draw_steps(ops: Operations, generator: torch.Generator) -> np.ndarray:
    """How many operations to do in each pair: 1 to n - 1, all alike, so that neither end comes out (0 or 1 of 1)."""
    n = lengths(ops.ptr)
    chance = uniform(n.size, generator).numpy()
    return np.where(n > 1, 1 + (chance * (n - 1)).astype(np.int64), (chance * (n + 1)).astype(np.int64))


def keep_a_node(ops: Operations, done: np.ndarray) -> np.ndarray:
    """Undo one deletion where a graph would otherwise lose its last node."""
    alive = np.where(done, ops.target >= 0, ops.source >= 0)
    empty = counts(alive, ops.ptr) == 0
    if not empty.any():
        return done
    undo = np.flatnonzero(empty[ops.pair] & done)
    done = done.copy()
    done[undo[np.unique(ops.pair[undo], return_index=True)[1]]] = False
    return done
