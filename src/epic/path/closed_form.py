"""Graphs on edit paths, for a whole batch of pairs at once.

Algorithm 1 of the paper edits step by step. Which graph it arrives at depends only on the *set* of operations done:

- nodes: source nodes whose operation is not done, then target nodes whose operation is done;
- edges: source edges with an endpoint not done and none deleted, then target edges with both endpoints done.

A substituted node is one place that changes clothes, so a source edge that outlives one of its endpoints hangs on the
endpoint's replacement.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from epic.cost.base import Matches
from epic.pack import Pack, offsets, ranges


@dataclass(frozen=True)
class Intermediate:
    """Graphs half-way.

    ``source_node`` and ``target_node`` are places in ``Matches.source`` and ``.target`` of each node, -1 where none.
    """

    graphs: Pack
    source_node: Tensor
    target_node: Tensor


def intermediate(
    graphs: Pack, i: Tensor, j: Tensor, matches: Matches, done_source: Tensor, done_target: Tensor
) -> Intermediate:
    """The graphs in which the marked operations are done, one for each pair ``i[p]``, ``j[p]`` of ``graphs``.

    ``done_source`` runs along ``matches.source`` and marks nodes that have been substituted or deleted, ``done_target``
    along ``matches.target`` nodes that have been inserted or have replaced a node; for a substitution both sides are
    marked. Nodes and edges keep the order of their end of the path, source first.
    """
    stays = ~done_source
    size_s, size_t = _count(stays, matches.source_ptr), _count(done_target, matches.target_ptr)
    ptr = offsets(size_s + size_t)
    pair_s, pair_t = _owner(matches.source_ptr), _owner(matches.target_ptr)

    # Place of every surviving node in the new graphs; a replaced source node points to its replacement.
    place_s = _rank(stays) + (ptr[:-1] - size_s.cumsum(0) + size_s)[pair_s]
    place_t = _rank(done_target) + (ptr[1:] - size_t.cumsum(0))[pair_t]
    swapped = matches.partner >= 0
    if place_t.numel():
        place_s = torch.where(done_source & swapped, place_t[matches.partner.clamp_min(0)], place_s)
    deleted = done_source & ~swapped

    at_s, ends_s, owner_s = _edges(graphs, i, matches.source_ptr)
    at_t, ends_t, owner_t = _edges(graphs, j, matches.target_ptr)
    # An edge lives on if one end still stays and neither is deleted; it is there already if both its ends are.
    stays_at, deleted_at, born_at = stays.take(ends_s), deleted.take(ends_s), done_target.take(ends_t)
    lives = ((stays_at[0] | stays_at[1]) & ~(deleted_at[0] | deleted_at[1])).nonzero()[:, 0]
    born = (born_at[0] & born_at[1]).nonzero()[:, 0]
    at_s, ends_s, owner_s = (v.index_select(-1, lives) for v in (at_s, ends_s, owner_s))
    at_t, ends_t, owner_t = (v.index_select(-1, born) for v in (at_t, ends_t, owner_t))
    edges_s = torch.bincount(owner_s, minlength=i.numel())
    edges_t = torch.bincount(owner_t, minlength=i.numel())

    edge_order = merge(edges_s, edges_t)
    edge_at = torch.cat([at_s, at_t]).index_select(0, edge_order)
    node_order = merge(size_s, size_t)
    keep_s, keep_t = stays.nonzero()[:, 0], done_target.nonzero()[:, 0]
    node_at = torch.cat([matches.source[keep_s], matches.target[keep_t]]).index_select(0, node_order)
    made = Pack(
        ptr,
        offsets(edges_s + edges_t),
        torch.cat([place_s.take(ends_s), place_t.take(ends_t)], dim=1).index_select(1, edge_order),
        {k: v.index_select(0, node_at) for k, v in graphs.node.items()},
        {k: v.index_select(0, edge_at) for k, v in graphs.edge.items()},
    )
    return Intermediate(
        made,
        torch.cat([keep_s, matches.origin[keep_t]])[node_order],
        torch.cat([torch.full_like(keep_s, -1), keep_t])[node_order],
    )


def _edges(graphs: Pack, index: Tensor, ptr: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Edges of the graphs ``index``: their places, their ends counted along ``ptr``, and which graph of ``index`` each
    belongs to.
    """
    count = graphs.edge_ptr.diff()[index]
    at = ranges(graphs.edge_ptr[index], count)
    owner = _owner(offsets(count))
    return at, graphs.edge_index.index_select(1, at) + (ptr[:-1] - graphs.ptr[index])[owner], owner


def _owner(ptr: Tensor) -> Tensor:
    return torch.repeat_interleave(torch.arange(ptr.numel() - 1, device=ptr.device), ptr.diff())


def _count(mask: Tensor, ptr: Tensor) -> Tensor:
    total = offsets(mask.long())
    return total[ptr[1:]] - total[ptr[:-1]]


def _rank(mask: Tensor) -> Tensor:
    """Number of marked entries before each."""
    return mask.long().cumsum(0) - mask.long()


def merge(first: Tensor, second: Tensor) -> Tensor:
    """Permutation that turns [all of the first lists, all of the second lists] into [first, second] pair by pair."""
    starts = torch.stack([first.cumsum(0) - first, first.sum() + second.cumsum(0) - second], dim=1)
    return ranges(starts.flatten(), torch.stack([first, second], dim=1).flatten())
