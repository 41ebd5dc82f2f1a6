"""One graph from the middle of each of many edit paths: the pipeline behind EPIC's augmentation.

Packed graphs are embedded, assigned, priced, cut at a random step, and edited into packed graphs again.
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from epic.distance.pairs import assign_pairs, operation_costs
from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import counts, lengths
from epic.matching.types import NodeCosts, Pricing
from epic.paths.apply import apply_operations
from epic.paths.operations import Operations
from epic.paths.orders import ranks
from epic.random import uniform


@torch.no_grad()
def interpolate_pairs(
    graphs: PackedGraphs, i: Tensor, j: Tensor, *, cost: Pricing, order: str, generator: torch.Generator
) -> tuple[PackedGraphs, np.ndarray]:
    """Make a graph from the edit path of each pair, after a random number of operations.

    Args:
        graphs: graphs with whatever features the cost needs.
        i: source graph of each pair (on the CPU).
        j: target graph of each pair.
        cost: what edits cost.
        order: order of the operations; see :func:`epic.edit_path`.
        generator: source of randomness, on the CPU.

    Returns:
        The new graphs without labels, and the share of the path's cost spent on each (paper, eq. 1).
    """
    nodes, a, b = embed_graphs(graphs, i, j, cost)
    assignment = assign_pairs(cost, nodes, nodes, a, b)
    operations = Operations.of(assignment, operation_costs(cost, nodes, nodes, assignment))
    done = sample_step(operations, graphs, i, j, order=order, generator=generator)
    made = apply_operations(graphs, i, j, assignment, *operations.marks(done, assignment))
    return made.graphs, operations.fraction(done)


def embed_graphs(graphs: PackedGraphs, i: Tensor, j: Tensor, cost: Pricing) -> tuple[NodeCosts, Tensor, Tensor]:
    """Embed every graph that takes part in a pair once.

    Args:
        graphs: all graphs.
        i: source graph of each pair.
        j: target graph of each pair.
        cost: what edits cost.

    Returns:
        The node costs, and the pairs as numbers among the embedded graphs.
    """
    used = torch.zeros(len(graphs), dtype=torch.bool)
    used[i] = used[j] = True
    where = used.cumsum(0) - 1
    chosen = graphs if bool(used.all()) else graphs.select(used.nonzero()[:, 0])
    return cost.embed(chosen), where[i], where[j]


def sample_step(
    operations: Operations,
    graphs: PackedGraphs,
    i: Tensor,
    j: Tensor,
    *,
    order: str,
    generator: torch.Generator,
) -> np.ndarray:
    """Draw an order of the operations of each pair and the step at which its path is cut.

    The number of operations done is 1 to n - 1, all alike, so that neither end of the path comes out (0 or 1 of 1).

    Args:
        operations: the operations of all pairs.
        graphs: the graphs that ``i`` and ``j`` name.
        i: source graph of each pair.
        j: target graph of each pair.
        order: order of the operations.
        generator: source of randomness, on the CPU.

    Returns:
        A mask of the operations that are done.
    """
    rank, reasons = ranks(order, operations, graphs, i, j, generator)
    failed = [r for r in reasons if r is not None]
    if failed:
        warnings.warn(
            f"No {order} order exists for {len(failed)} of {len(reasons)} pairs (for instance: {failed[0]}); using a "
            "random order for them.",
            stacklevel=5,
        )
    n, chance = lengths(operations.ptr), uniform(i.numel(), generator).numpy()
    steps = np.where(n > 1, 1 + (chance * (n - 1)).astype(np.int64), (chance * (n + 1)).astype(np.int64))
    return keep_a_node(operations, rank < steps[operations.pair])


def keep_a_node(operations: Operations, done: np.ndarray) -> np.ndarray:
    """Undo one deletion where a graph would otherwise lose its last node."""
    alive = np.where(done, operations.target >= 0, operations.source >= 0)
    empty = counts(alive, operations.ptr) == 0
    if not empty.any():
        return done
    undo = np.flatnonzero(empty[operations.pair] & done)
    done = done.copy()
    done[undo[np.unique(operations.pair[undo], return_index=True)[1]]] = False
    return done
