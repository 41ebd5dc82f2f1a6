"""One graph from the middle of each of many edit paths: the pipeline behind EPIC's augmentation."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from epic.distance.edges import PricedGraphs
from epic.distance.pairs import Pairs, node_edits
from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import counts, lengths
from epic.matching.edges import EdgePricing
from epic.matching.types import Pricing
from epic.paths.apply import apply_operations
from epic.paths.operations import Operations, draw_order
from epic.random import uniform

ROUNDS = 5
"""How hard an augmentation tries to keep edges: an eighth of what a single path does."""
LARGE_ROUNDS = 5
"""How hard it tries with the nodes of large pairs: less than half of what a single path does."""


@torch.no_grad()
def interpolate_pairs(
    graphs: PackedGraphs,
    *,
    i: Tensor,
    j: Tensor,
    cost: Pricing,
    order: str,
    generator: torch.Generator,
    edge_cost: EdgePricing | None = None,
) -> tuple[PackedGraphs, np.ndarray]:
    """Make a graph from the edit path of each pair, after a random number of operations.

    The steps: embed the graphs; assign their nodes and price the operations; sample how many are done, and which;
    apply them (Algorithm 1). Each is a function that says what the paper does there.

    Args:
        graphs: graphs with whatever features the cost needs.
        i: source graph of each pair (on the CPU).
        j: target graph of each pair.
        cost: what edits cost.
        order: order of the operations; see :func:`epic.edit_path`.
        generator: source of randomness, on the CPU.
        edge_cost: what edge operations cost; None matches by nodes alone, as the paper does.

    Returns:
        The new graphs without labels, and the share of the path's cost spent on each (paper, eq. 1).
    """
    if edge_cost is None:
        edits = node_edits(embed_pairs(graphs, i=i, j=j, cost=cost), rounds=LARGE_ROUNDS)
        operations = Operations.of(graphs, i=i, j=j, edits=edits)
    else:
        nodes = cost.embed(graphs)
        priced = PricedGraphs.of(cost, edge_cost, nodes, nodes, graphs, graphs)
        found = priced.match(i, j, rounds=ROUNDS)
        operations = Operations.of(graphs, i=i, j=j, edits=(found.assignment, found.nodes), edges=found.edges)
    done = sample_step(operations, order, generator)
    return apply_operations(operations, done).graphs, operations.fraction(done)


def embed_pairs(graphs: PackedGraphs, *, i: Tensor, j: Tensor, cost: Pricing) -> Pairs:
    """Embed the nodes of every graph that takes part in a pair, each graph once (paper, section 3.2)."""
    used = torch.zeros(len(graphs), dtype=torch.bool)
    used[i] = used[j] = True
    where = used.cumsum(0) - 1
    nodes = cost.embed(graphs if bool(used.all()) else graphs.select(used.nonzero()[:, 0]))
    return Pairs(cost, source=nodes, target=nodes, i=where[i], j=where[j])


def sample_step(operations: Operations, order: str, generator: torch.Generator) -> np.ndarray:
    """Draw an order of the operations of each pair and the step at which its path is cut; mark what is done by then.

    The number of operations done is 1 to n - 1, all alike, so that neither end of the path comes out (0 or 1 of 1).
    """
    rank, reasons = draw_order(operations, order, generator)
    failed = [r for r in reasons if r is not None]
    if failed:
        warnings.warn(
            f"No {order} order exists for {len(failed)} of {len(reasons)} pairs (for instance: {failed[0]}); using a "
            "random order for them.",
            stacklevel=5,
        )
    n, chance = lengths(operations.ptr), uniform(len(reasons), generator).numpy()
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
