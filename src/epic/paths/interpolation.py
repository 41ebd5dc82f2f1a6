"""One graph from the middle of each of many edit paths: the pipeline behind EPIC's augmentation."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from epic._threads import few_threads
from epic.distance.edges import PricedGraphs
from epic.distance.pairs import CHUNK, Pairs, node_edits
from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import counts, lengths, offsets
from epic.matching.edges import EdgePricing
from epic.matching.types import NodeCosts, Pricing
from epic.paths.apply import apply_operations
from epic.paths.bonds import with_bonds
from epic.paths.molecules import as_molecules
from epic.paths.operations import Operations, draw_order
from epic.random import uniform

ROUNDS = 5
"""How hard an augmentation tries to keep edges: an eighth of what a single path does."""
LARGE_ROUNDS = 5
"""How hard it tries with the nodes of large pairs: less than half of what a single path does."""
AHEAD = 1 << 26
"""Numbers that :func:`embedded` keeps at most (256 MB in float32)."""


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
    apply them (Algorithm 1). Each is a function that says what the paper does there. With ``order="valid"`` the graphs
    are molecules, and bonds are read first and written last.

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
        nodes = embed_nodes(graphs, cost=cost)
        priced = PricedGraphs.of(cost, edge_cost, nodes, nodes, graphs, graphs)
        found = priced.match(i, j, rounds=ROUNDS)
        operations = Operations.of(graphs, i=i, j=j, edits=(found.assignment, found.nodes), edges=found.edges)
    if order == "valid":
        operations = with_bonds(operations)
    done = sample_step(operations, order, generator)
    made = apply_operations(operations, done).graphs
    if operations.bonds is not None:
        made = as_molecules(made, operations.bonds).to(graphs.ptr.device)
    return made, operations.fraction(done)


def embed_pairs(graphs: PackedGraphs, *, i: Tensor, j: Tensor, cost: Pricing) -> Pairs:
    """Embed the nodes of every graph that takes part in a pair, each graph once (paper, section 3.2)."""
    used = torch.zeros(len(graphs), dtype=torch.bool)
    used[i] = used[j] = True
    where = used.cumsum(0) - 1
    nodes = embed_nodes(graphs if bool(used.all()) else graphs.select(used.nonzero()[:, 0]), cost=cost)
    return Pairs(cost, source=nodes, target=nodes, i=where[i], j=where[j])


def embed_nodes(graphs: PackedGraphs, *, cost: Pricing) -> NodeCosts:
    """Embed the nodes of graphs, unless these bring their node costs along."""
    return NodeCosts(**graphs.node_costs, ptr=graphs.ptr) if graphs.node_costs else cost.embed(graphs)


@torch.no_grad()
def embedded(graphs: PackedGraphs, *, cost: Pricing) -> PackedGraphs:
    """Return graphs that bring their node costs along, for :func:`embed_nodes`.

    Training meets the same graphs in every epoch, and embedding takes half of the time of an augmented batch. Graphs
    too many for :data:`AHEAD` are returned as they are.
    """
    parts: list[NodeCosts] = []
    with few_threads():
        for at in range(0, len(graphs), CHUNK):
            parts.append(cost.embed(graphs[at : at + CHUNK]).to(graphs.ptr.device))
            if graphs.num_nodes * (parts[0].embedding.shape[1] + 2) > AHEAD:
                return graphs
    names = ("embedding", "deletion", "insertion")
    return replace(graphs, node_costs={n: torch.cat([getattr(p, n) for p in parts]) for n in names if parts})


def sample_step(operations: Operations, order: str, generator: torch.Generator) -> np.ndarray:
    """Draw an order of the operations of each pair and the step at which its path is cut; mark what is done by then.

    The number of operations done is uniform on 1 to n - 1, so that neither end is returned (0 or 1 if n is 1).
    Where operations have bonds, it is one of those after which the graph is a valid molecule and connected; where there
    is none, valid; where there is none of these either, any.
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
    if operations.bonds is not None:
        steps = _best_steps(operations, rank, steps, chance)
    return keep_a_node(operations, rank < steps[operations.pair])


def _best_steps(operations: Operations, rank: np.ndarray, steps: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Draw a step among the best ones between both ends; keep that of ``steps`` where no step qualifies."""
    n = lengths(operations.ptr)
    number = np.arange(len(operations)) - operations.ptr[:-1].repeat(n) + 1
    valid, connected = operations.states(rank)
    value = np.where(valid & (number < n[operations.pair]), 1 + connected, 0)
    best = np.zeros(n.size, dtype=np.int64)
    np.maximum.at(best, operations.pair, value)
    good = (value > 0) & (value == best[operations.pair])
    count, before = counts(good, operations.ptr), offsets(good)[operations.ptr[:-1]]
    picked = before + (chance * count).astype(np.int64)
    steps = steps.copy()
    steps[count > 0] = number[good][picked[count > 0]]
    return steps


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
