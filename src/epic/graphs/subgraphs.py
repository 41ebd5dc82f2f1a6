"""Take nodes and edges out of packed graphs."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from epic.graphs.packed import PackedGraphs, offsets


def undirected(graphs: PackedGraphs) -> tuple[Tensor, Tensor]:
    """Return the undirected edge that each directed edge belongs to, and ``low * nodes + high`` of each by its ends."""
    low, high = graphs.edge_index.min(0).values, graphs.edge_index.max(0).values
    names, number = (low * graphs.num_nodes + high).unique(return_inverse=True)
    return number, names


def keep_edges(graphs: PackedGraphs, stays: Tensor) -> PackedGraphs:
    """Return the graphs with only the marked edges."""
    at = stays.nonzero()[:, 0]
    return replace(
        graphs,
        edge_ptr=offsets(stays.long())[graphs.edge_ptr],
        edge_index=graphs.edge_index[:, at],
        edge={k: v[at] for k, v in graphs.edge.items()},
    )


def keep_nodes(graphs: PackedGraphs, stays: Tensor) -> PackedGraphs:
    """Return the subgraphs induced by the marked nodes."""
    rest = keep_edges(graphs, stays[graphs.edge_index].all(0))
    place = offsets(stays.long())
    at = stays.nonzero()[:, 0]
    return replace(
        rest, ptr=place[graphs.ptr], edge_index=place[rest.edge_index], node={k: v[at] for k, v in graphs.node.items()}
    )


def never_empty(graphs: PackedGraphs, stays: Tensor, generator: torch.Generator) -> Tensor:
    """Return ``stays`` with one random node kept in every graph that would lose all of its nodes."""
    left = offsets(stays.long())[graphs.ptr].diff()
    bare = ((left == 0) & (graphs.sizes > 0)).nonzero()[:, 0]
    chance = torch.rand(bare.numel(), generator=generator, dtype=torch.double).to(graphs.ptr.device)
    stays = stays.clone()
    stays[graphs.ptr[bare] + (chance * graphs.sizes[bare]).long()] = True
    return stays
