"""Edit paths of single nodes and edges at unit cost, for many pairs at once.

EPIC's operations are on nodes, and edges follow. Here each edge has operations of its own, as in the classical graph
edit distance. The nodes are matched first (Riesen and Bunke, Approximate graph edit distance computation by means of
bipartite graph matching, Image and Vision Computing, 2009); the matching leaves open only the order of operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from epic.costs.base import Cost
from epic.costs.unit import row_codes
from epic.distance.pairs import Pairs, assign_pairs
from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import counts, offsets, owners, ranges
from epic.matching.types import NodeCosts
from epic.paths.apply import edges_of
from epic.paths.operations import positions
from epic.random import uniform


class BipartiteCost(Cost):
    """Node operations priced by the node and half of its edges: the other half is paid at their other ends.

    A substitution costs 1 if features differ (``use_x=False``: they never do), plus half the difference of degrees; a
    deletion or insertion 1 plus half the degree. The degree counts neighbours, whatever the direction of edges.
    """

    symmetric = True

    def __init__(self, use_x: bool = True) -> None:
        self.use_x = use_x

    def embed(self, graphs: PackedGraphs) -> NodeCosts:
        size = max(1, graphs.num_nodes)
        names = (graphs.edge_index.min(0).values * size + graphs.edge_index.max(0).values).unique()
        low, high = names // size, names % size
        degree = torch.bincount(torch.cat([low, high[low != high]]), minlength=graphs.num_nodes)
        price = 1 + degree / 2
        label = row_codes(graphs.x) if self.use_x and graphs.x is not None else torch.zeros_like(degree)
        return NodeCosts(torch.stack([label, degree], 1), price, price, graphs.ptr)

    def substitution(self, source: Tensor, target: Tensor) -> Tensor:
        (label, degree), (label_t, degree_t) = source.unbind(-1), target.unbind(-1)
        differ = label[..., :, None] != label_t[..., None, :]
        return differ + (degree[..., :, None] - degree_t[..., None, :]).abs() / 2


@dataclass(frozen=True)
class EdgePaths:
    """Operations of many pairs on places and slots.

    A place is a node of the source, of the target, or both (where one replaces the other); a slot is a pair of places
    joined in the source, the target, or both. ``source`` and ``target`` name the node of each place, -1 where none;
    ``place_op`` and ``slot_op`` its operation, -1 where both ends agree. Pair p owns operations ``ptr[p]:ptr[p+1]`` and
    places ``place_ptr[p]:place_ptr[p+1]``. Of each directed edge (of both graphs, the source's first) ``arc`` tells
    where it is in the pack, ``arc_slot`` and ``ends`` where it lies; ``arcs_of_source`` of them are the source's.
    """

    ptr: np.ndarray
    place_ptr: np.ndarray
    source: np.ndarray
    target: np.ndarray
    place_op: np.ndarray
    slots: np.ndarray
    in_source: np.ndarray
    in_target: np.ndarray
    slot_op: np.ndarray
    arc: np.ndarray
    arc_slot: np.ndarray
    ends: np.ndarray
    arcs_of_source: int

    def __len__(self) -> int:
        return int(self.ptr[-1])

    @cached_property
    def pair(self) -> np.ndarray:
        """Pair of each operation."""
        return owners(self.ptr)

    @cached_property
    def pair_of_place(self) -> np.ndarray:
        """Pair of each place."""
        return owners(self.place_ptr)

    def order(self, generator: torch.Generator) -> np.ndarray:
        """Draw a random position of each operation; nodes come before their first edge and go after their last one."""
        key = uniform(len(self), generator).numpy()
        comes, goes = self.source < 0, self.target < 0
        for end in self.slots:  # of equal keys the lower number goes first: see edge_paths
            at = np.flatnonzero(comes[end])
            np.minimum.at(key, self.place_op[end[at]], key[self.slot_op[at]])
            at = np.flatnonzero(goes[end])
            np.maximum.at(key, self.place_op[end[at]], key[self.slot_op[at]])
        return positions(key, self.pair, self.ptr)

    def _state(self, done: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Mark the places that exist and those already edited, then slots alike."""
        done = np.append(done, False)  # what has operation -1 is never edited
        place, slot = done[self.place_op], done[self.slot_op]
        return (
            np.where(place, self.target >= 0, self.source >= 0),
            place,
            np.where(slot, self.in_target, self.in_source),
            slot,
        )

    def connected(self, done: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Tell which of the marked graphs are connected, edges taken both ways; an empty one is not."""
        alive, _, joined, _ = self._state(done)
        alive &= among[self.pair_of_place]
        low, high = self.slots[:, joined & among[self.pair_of_place[self.slots[0]]]]
        joins = coo_array((np.ones(low.size, np.int8), (low, high)), shape=(alive.size, alive.size))
        _, part = connected_components(joins, directed=False)
        owner = np.full(alive.size, -1)
        owner[part[alive]] = self.pair_of_place[alive]  # of each part that has nodes
        return np.bincount(owner[owner >= 0], minlength=among.size) == 1

    def graphs(self, pack: PackedGraphs, done: np.ndarray) -> PackedGraphs:
        """Return the graphs in which the marked operations are done, without labels."""
        alive, edited, _, changed = self._state(done)
        node = np.where(edited, self.target, self.source)[alive]
        place = np.cumsum(alive) - alive
        later = np.arange(self.arc.size) >= self.arcs_of_source
        there = np.flatnonzero(changed[self.arc_slot] == later)
        owner = self.pair_of_place[self.ends[0, there]]
        there = there[np.argsort(owner, kind="stable")]
        return pack.edited(
            ptr=offsets(counts(alive, self.place_ptr)),
            edge_ptr=offsets(np.bincount(owner, minlength=self.ptr.size - 1)),
            edge_index=place[self.ends[:, there]],
            node_at=node,
            edge_at=self.arc[there],
        )


def edge_paths(graphs: PackedGraphs, *, i: Tensor, j: Tensor, use_x: bool = True) -> EdgePaths:
    """Find the operations that turn graph ``i[p]`` into graph ``j[p]``, for all p.

    An edge is all that joins two nodes, in directed graphs one or both directions; it is edited as a whole. Matched
    nodes with equal ``x``, and edges with equal directions and ``edge_attr``, need no operation.

    Args:
        graphs: graphs on the CPU.
        i: source graph of each pair.
        j: target graph of each pair.
        use_x: whether node features count.
    """
    cost = BipartiteCost(use_x)
    nodes = cost.embed(graphs)
    m = assign_pairs(Pairs(cost, source=nodes, target=nodes, i=i, j=j))
    new = m.origin < 0
    size, inserted = np.diff(m.source_ptr), counts(new, m.target_ptr)
    place_ptr = offsets(size + inserted)
    place_s = np.arange(m.source.size) + np.repeat(place_ptr[:-1] - m.source_ptr[:-1], size)
    place_t = np.empty(m.target.size, np.int64)
    place_t[new] = ranges(place_ptr[:-1] + size, inserted)
    place_t[~new] = place_s[m.origin[~new]]
    source, target = np.full(place_ptr[-1], -1), np.full(place_ptr[-1], -1)
    source[place_s], target[place_t] = m.source, m.target

    label = nodes.embedding[:, 0].numpy()
    edit = (source < 0) | (target < 0) | (label[source] != label[target])

    (at_s, ends_s, _), (at_t, ends_t, _) = edges_of(graphs, i, m.source_ptr), edges_of(graphs, j, m.target_ptr)
    arc, ends = np.concatenate([at_s, at_t]), np.concatenate([place_s[ends_s], place_t[ends_t]], axis=1)
    names, arc_slot = np.unique(ends.min(0) * source.size + ends.max(0), return_inverse=True)
    arc_slot = arc_slot.reshape(-1)
    in_source = np.bincount(arc_slot[: at_s.size], minlength=names.size) > 0
    in_target = np.bincount(arc_slot[at_s.size :], minlength=names.size) > 0
    # Equal slots hold the same arcs: the sum of their codes, taken with opposite signs, is zero.
    code = 0 if graphs.edge_attr is None else row_codes(graphs.edge_attr).numpy()[arc]
    mixed = _scatter(code + (ends[0] > ends[1]))
    mixed[at_s.size :] *= -1
    balance = np.zeros(names.size, np.int64)
    np.add.at(balance, arc_slot, mixed)

    slots = np.stack([names // max(1, source.size), names % max(1, source.size)])
    # Numbered so that of one pair nodes to come are before edges, and edges before nodes to go.
    owner, differ = owners(place_ptr), np.flatnonzero(balance)
    first, last = np.flatnonzero(edit & (target >= 0)), np.flatnonzero(target < 0)
    pair = np.concatenate([owner[first], owner[slots[0, differ]], owner[last]])
    number = np.empty(pair.size, np.int64)
    number[np.argsort(pair, kind="stable")] = np.arange(pair.size)
    place_op, slot_op = np.full(source.size, -1), np.full(names.size, -1)
    place_op[first], slot_op[differ], place_op[last] = np.split(number, [first.size, first.size + differ.size])
    ptr = offsets(np.bincount(pair, minlength=i.numel()))
    return EdgePaths(
        ptr, place_ptr, source, target, place_op, slots, in_source, in_target, slot_op, arc, arc_slot, ends, at_s.size
    )


def _scatter(code: np.ndarray) -> np.ndarray:
    """Spread codes over 64 bits, so that sums of different ones do not meet."""
    code = (code ^ (code >> 31)) * np.int64(0x2545F4914F6CDD1D)
    return (code ^ (code >> 29)) * np.int64(0x1B03738712FAD5C9) + 1
