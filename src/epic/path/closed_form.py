"""Graphs on edit paths, for a whole batch of pairs at once.

Algorithm 1 of the paper edits step by step. Which graph it arrives at depends only on the *set* of operations done:

- nodes: source nodes whose operation is not done, then target nodes whose operation is done;
- edges: source edges with an endpoint not done and none deleted, then target edges with both endpoints done.

A substituted node is one place that changes clothes, so a source edge that outlives one of its endpoints hangs on the endpoint's replacement.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from epic.cost.base import Matches
from epic.pack import Pack, offsets, ranges


@dataclass(frozen=True)
class Intermediate:
    """Graphs half-way. ``source_node`` and ``target_node`` tell which node of either end each node is (-1 where none), counted within its graph."""

    graphs: Pack
    source_node: Tensor
    target_node: Tensor


def intermediate(source: Pack, target: Pack, matches: Matches, done_source: Tensor, done_target: Tensor) -> Intermediate:
    """The graphs in which the marked operations are done.

    Pair p is made of the p-th graph of ``source`` and of ``target``. ``done_source`` marks source nodes that have been substituted or deleted,
    ``done_target`` target nodes that have been inserted or have replaced a node; for a substitution both sides are marked.
    Nodes and edges keep the order of their end of the path, source first.
    """
    source, target = source.only(target), target.only(source)
    stays = ~done_source
    size_s, size_t = _count(stays, source.ptr), _count(done_target, target.ptr)
    ptr = offsets(size_s + size_t)

    # Place of every surviving node in the new graphs; a replaced source node points to its replacement.
    pair_s, pair_t = source.graph_of_node, target.graph_of_node
    place_t = _rank(done_target, target.ptr, pair_t) + (ptr[:-1] + size_s)[pair_t]
    place_s = _rank(stays, source.ptr, pair_s) + ptr[:-1][pair_s]
    replaced = done_source & (matches.partner >= 0)
    place_s = torch.where(replaced, place_t[matches.partner.clamp_min(0)], place_s) if place_t.numel() else place_s
    deleted = done_source & (matches.partner < 0)

    u, w = source.edge_index
    edge_s = (stays[u] | stays[w]) & ~deleted[u] & ~deleted[w]
    v, x = target.edge_index
    edge_t = done_target[v] & done_target[x]
    edges_s, edges_t = _count(edge_s, source.edge_ptr), _count(edge_t, target.edge_ptr)

    nodes = merge(size_s, size_t)
    edges = merge(edges_s, edges_t)
    keep_s, keep_t = stays.nonzero()[:, 0], done_target.nonzero()[:, 0]
    at_s, at_t = edge_s.nonzero()[:, 0], edge_t.nonzero()[:, 0]
    ends = torch.cat([place_s[source.edge_index[:, at_s]], place_t[target.edge_index[:, at_t]]], dim=1)
    graphs = Pack(
        ptr,
        offsets(edges_s + edges_t),
        ends.index_select(1, edges),
        {k: _both(source.node[k], target.node[k], keep_s, keep_t, nodes) for k in source.node},
        {k: _both(source.edge[k], target.edge[k], at_s, at_t, edges) for k in source.edge},
    )
    own_s = torch.arange(source.num_nodes, device=ptr.device) - source.ptr[:-1][pair_s]
    own_t = torch.arange(target.num_nodes, device=ptr.device) - target.ptr[:-1][pair_t]
    origin = matches.origin[keep_t]
    from_s = torch.where(origin >= 0, own_s[origin.clamp_min(0)], -1) if own_s.numel() else torch.full_like(origin, -1)
    return Intermediate(
        graphs,
        torch.cat([own_s[keep_s], from_s]).index_select(0, nodes),
        torch.cat([torch.full_like(keep_s, -1), own_t[keep_t]]).index_select(0, nodes),
    )


def _count(mask: Tensor, ptr: Tensor) -> Tensor:
    total = offsets(mask.long())
    return total[ptr[1:]] - total[ptr[:-1]]


def _rank(mask: Tensor, ptr: Tensor, owner: Tensor) -> Tensor:
    """Number of marked entries of the same graph before each."""
    before = offsets(mask.long())
    return before[:-1] - before[ptr[:-1]][owner]


def merge(first: Tensor, second: Tensor) -> Tensor:
    """Permutation that turns [all of the first lists, all of the second lists] into [first, second] pair by pair."""
    starts = torch.stack([first.cumsum(0) - first, first.sum() + second.cumsum(0) - second], dim=1)
    return ranges(starts.flatten(), torch.stack([first, second], dim=1).flatten())


def _both(one: Tensor, other: Tensor, at_one: Tensor, at_other: Tensor, order: Tensor) -> Tensor:
    return torch.cat([one.index_select(0, at_one), other.index_select(0, at_other)]).index_select(0, order)
