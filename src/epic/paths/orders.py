"""In which order the operations of a path are done. Any order ends at the target; it decides what lies between."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from epic.errors import choose
from epic.graphs.packed import PackedGraphs
from epic.paths.connected import connected_ranks
from epic.paths.operations import Operations, by_key
from epic.random import uniform

ORDERS = ("random", "bfs", "connected")


def ranks(
    order: str, ops: Operations, graphs: PackedGraphs, i: Tensor, j: Tensor, generator: torch.Generator
) -> tuple[np.ndarray, list[str | None]]:
    """Order the operations of each pair.

    ``random``: all orders alike. ``bfs``: along a breadth-first search of the target from a random root; deletions,
    which have no place in the target, fall at random. ``connected``: a random order in which every graph on the way is
    connected.

    Args:
        order: one of ``ORDERS``.
        ops: the operations of all pairs.
        graphs: graphs that the pairs are of.
        i: source graph of each pair.
        j: target graph of each pair.
        generator: source of randomness, on the CPU.

    Returns:
        The position of each operation in its path, and for each pair why there is no such order (None if there is).
    """
    choose(order, ORDERS, "order")
    fine: list[str | None] = [None] * i.numel()
    key = uniform(len(ops), generator).numpy()
    if order == "random":
        return by_key(key, ops), fine
    target = graphs.select(j).to("cpu")
    if order == "bfs":
        along = (breadth_first(target, generator).numpy() + 0.5) / target.sizes[target.graph_of_node].numpy()
        at = ops.target >= 0
        key[at] = along[ops.target[at]]
        return by_key(key, ops), fine
    return connected_ranks(ops, graphs.select(i).to("cpu"), target, by_key(key, ops))


def breadth_first(graphs: PackedGraphs, generator: torch.Generator) -> Tensor:
    """Search all graphs breadth first, level by level together, edges taken both ways.

    Roots and the order of siblings are random; where a component is exhausted, the search starts again at a random
    node.

    Returns:
        The place of each node in the search of its graph.
    """
    nodes, device = graphs.num_nodes, graphs.ptr.device
    owner, chance = graphs.graph_of_node, uniform(nodes, generator).to(device)
    ends = torch.cat([graphs.edge_index, graphs.edge_index.flip(0)], dim=1)
    place = torch.full((nodes,), -1, device=device)
    count = torch.zeros(len(graphs), dtype=torch.long, device=device)
    far = nodes + 1
    while True:
        # Unvisited neighbours of what was visited last, each under its earliest visited parent.
        ends = ends[:, (place[ends[1]] < 0)]
        live = ends[:, (place[ends[0]] >= 0)]
        parent = torch.full((nodes,), far, device=device)
        parent.scatter_reduce_(0, live[1], place[live[0]], "amin")
        fresh = parent < far
        reached = torch.zeros(len(graphs), dtype=torch.bool, device=device)
        reached[owner[fresh]] = True
        stuck = ~reached & (count < graphs.sizes)
        if bool(stuck.any()):
            free = (place < 0) & stuck[owner]
            lowest = torch.full((len(graphs),), 2.0, dtype=torch.double, device=device)
            lowest.scatter_reduce_(0, owner[free], chance[free], "amin")
            fresh |= free & (chance == lowest[owner])
        new = fresh.nonzero()[:, 0]
        if new.numel() == 0:
            return place
        # By graph, then parent, then chance: three stable sorts, least significant first.
        new = new[torch.argsort(chance[new], stable=True)]
        new = new[torch.argsort(parent[new], stable=True)]
        new = new[torch.argsort(owner[new], stable=True)]
        added = torch.bincount(owner[new], minlength=len(graphs))
        first = added.cumsum(0) - added
        place[new] = count[owner[new]] + torch.arange(new.numel(), device=device) - first[owner[new]]
        count = count + added
