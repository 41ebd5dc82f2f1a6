"""Apply edit operations to a whole batch of pairs at once: Algorithm 1 of the paper in closed form.

Algorithm 1 of the paper edits step by step. Which graph it arrives at depends only on the *set* of operations done:

- nodes: source nodes whose operation is not done, then target nodes whose operation is done;
- edges: source edges with an endpoint not done and none deleted, then target edges with both endpoints done.

A substituted node is one place whose features change, so a source edge that outlives one of its endpoints hangs on the
endpoint's replacement. The order of operations does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import counts, lengths, offsets, owners, ranges
from epic.paths.operations import Operations


@dataclass(frozen=True)
class Intermediate:
    """Graphs on edit paths.

    ``graphs`` are the graphs themselves. ``source_node`` and ``target_node`` are the positions of each node in
    ``Assignment.source`` and ``.target``, -1 where there is none.
    """

    graphs: PackedGraphs
    source_node: np.ndarray
    target_node: np.ndarray


def apply_operations(operations: Operations, done: np.ndarray) -> Intermediate:
    """Apply a set of operations to each pair (paper, Algorithm 1).

    Nodes and edges keep the order of their end of the path, source first.

    Args:
        operations: the operations of all pairs.
        done: which of them to apply.

    Returns:
        One graph for each pair, without labels, and where its nodes come from.
    """
    graphs, i, j, assignment = operations.graphs, operations.i, operations.j, operations.assignment
    done_source, done_target = operations.marks(done)
    stays = ~done_source
    size_s, size_t = counts(stays, assignment.source_ptr), counts(done_target, assignment.target_ptr)
    ptr = offsets(size_s + size_t)

    # Place of every surviving node in the new graphs; a replaced source node points to its replacement.
    place_s = _place(stays, ptr[:-1] - size_s.cumsum() + size_s, assignment.source_ptr)
    place_t = _place(done_target, ptr[1:] - size_t.cumsum(), assignment.target_ptr)
    swapped = assignment.partner >= 0
    replaced = (done_source & swapped).nonzero()[0]
    place_s[replaced] = place_t[assignment.partner[replaced]]
    fate = stays + 2 * (done_source & ~swapped).view(np.int8)  # 1: it stays, 2: it is deleted, 0: it is replaced

    at_s, ends_s, owner_s = edges_of(graphs, i, assignment.source_ptr)
    at_t, ends_t, owner_t = edges_of(graphs, j, assignment.target_ptr)
    # An edge lives on if one end still stays and neither is deleted; it is there already if both its ends are.
    lives = (fate[ends_s[0]] | fate[ends_s[1]] == 1).nonzero()[0]
    born = (done_target[ends_t[0]] & done_target[ends_t[1]]).nonzero()[0]
    pair_s, pair_t = owner_s[lives], owner_t[born]
    edges_s, edges_t = (np.bincount(pair, minlength=size_s.size) for pair in (pair_s, pair_t))
    # The edges of a graph that live on come first, behind all edges of the graphs before it.
    edges = offsets(edges_s + edges_t)
    slot_s = np.arange(lives.size) + (edges[:-1] - edges_s.cumsum() + edges_s)[pair_s]
    slot_t = np.arange(born.size) + (edges[1:] - edges_t.cumsum())[pair_t]
    edge_at, ends = np.empty(edges[-1], dtype=np.int64), np.empty((2, edges[-1]), dtype=np.int64)
    edge_at[slot_s], edge_at[slot_t] = at_s[lives], at_t[born]
    for end, end_s, end_t in zip(ends, ends_s, ends_t, strict=True):
        end[slot_s], end[slot_t] = place_s[end_s[lives]], place_t[end_t[born]]

    keep_s, keep_t = stays.nonzero()[0], done_target.nonzero()[0]
    slot_s, slot_t = place_s[keep_s], place_t[keep_t]
    node_at, source_node, target_node = np.empty((3, ptr[-1]), dtype=np.int64)
    for slot, keep, index, ptr_of in (
        (slot_s, keep_s, i, assignment.source_ptr),
        (slot_t, keep_t, j, assignment.target_ptr),
    ):
        first = graphs.ptr.cpu().numpy()[index.cpu().numpy()]
        node_at[slot] = keep + (first - ptr_of[:-1]).repeat(lengths(ptr_of))[keep]
    source_node[slot_s], source_node[slot_t] = keep_s, assignment.origin[keep_t]
    target_node[slot_s], target_node[slot_t] = -1, keep_t

    made = graphs.edited(ptr=ptr, edge_ptr=edges, edge_index=ends, node_at=node_at, edge_at=edge_at)
    return Intermediate(made, source_node, target_node)


def _place(kept: np.ndarray, first: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """Return the place of each kept element: ``first`` of its list, plus the kept ones before it in all lists."""
    return kept.cumsum() - kept + first.repeat(lengths(ptr))


def edges_of(graphs: PackedGraphs, index: Tensor, ptr: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the edges of the graphs ``index``: where they are, their ends counted along ``ptr``, and their graph."""
    number, edge_ptr, node_ptr = (t.cpu().numpy() for t in (index, graphs.edge_ptr, graphs.ptr))
    count = edge_ptr[number + 1] - edge_ptr[number]
    at = ranges(edge_ptr[number], count)
    # take: some eight times faster than edge_index[:, at]
    ends = graphs.edge_index.cpu().numpy().take(at, axis=1) + (ptr[:-1] - node_ptr[number]).repeat(count)
    return at, ends, owners(offsets(count))
