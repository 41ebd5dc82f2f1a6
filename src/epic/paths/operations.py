"""The node operations of many pairs, laid end to end, and the orders in which they can be done.

Any order of its operations takes a path to the target; the order decides what lies between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from torch import Tensor

from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import counts, lengths, merge, offsets, owners, to_array
from epic.matching.edges import EdgeEdits
from epic.matching.types import Assignment, OperationCosts
from epic.paths.bonds import Bonds
from epic.paths.connected import connected_ranks
from epic.random import uniform

ORDERS = ("random", "bfs", "connected", "valid")
TRIES = 16
"""Orders that are tried for ``valid``, as long as some graph on the way is not valid or not connected."""


@dataclass(frozen=True)
class Operations:
    """What turns graph ``i[p]`` of ``graphs`` into graph ``j[p]``, for every pair p.

    Pair p owns operations ``ptr[p]:ptr[p+1]``: its source nodes in order, then the target nodes to insert. ``source``
    and ``target`` are places in ``assignment.source`` and ``.target``, -1 for the missing side; ``price`` is what each
    operation costs. ``edges`` is what becomes of edges, where they have a price; ``bonds`` is what is known of bonds,
    where graphs are read as molecules (:func:`epic.paths.bonds.with_bonds`).
    """

    graphs: PackedGraphs
    i: Tensor
    j: Tensor
    assignment: Assignment
    source: np.ndarray
    target: np.ndarray
    price: np.ndarray
    ptr: np.ndarray
    edges: EdgeOperations | None = None
    bonds: Bonds | None = None

    @staticmethod
    def of(
        graphs: PackedGraphs,
        *,
        i: Tensor,
        j: Tensor,
        edits: tuple[Assignment, OperationCosts],
        edges: EdgeEdits | None = None,
    ) -> Operations:
        """Return the operations of pairs of graphs.

        Args:
            graphs: The graphs.
            i: Source graph of each pair.
            j: Target graph of each pair.
            edits: What :func:`epic.distance.pairs.node_edits` found for them.
            edges: What becomes of their edges, where edges have a price.
        """
        m, prices = edits
        new = m.origin < 0
        inserted, inserts = new.nonzero()[0], counts(new, m.target_ptr)
        nodes = lengths(m.source_ptr)
        order = merge(nodes, inserts)
        lost, won = (to_array(t).astype(np.float64) for t in (prices.source, prices.target))
        found = Operations(
            graphs,
            i,
            j,
            m,
            np.concatenate([np.arange(m.source.size), np.full_like(inserted, -1)])[order],
            np.concatenate([m.partner, inserted])[order],
            np.concatenate([lost, won[inserted]])[order],
            offsets(nodes + inserts),
        )
        return found if edges is None else replace(found, edges=EdgeOperations.of(found, edges))

    def __len__(self) -> int:
        return self.price.size

    @cached_property
    def pair(self) -> np.ndarray:
        """Pair of each operation."""
        return owners(self.ptr)

    def marks(self, done: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which source and which target nodes have had their operation; ``done`` marks operations."""
        source, target = (np.zeros(t.size, dtype=bool) for t in (self.assignment.source, self.assignment.target))
        source[self.source[done & (self.source >= 0)]] = True
        target[self.target[done & (self.target >= 0)]] = True
        return source, target

    def fraction(self, done: np.ndarray) -> np.ndarray:
        """Return the share of each pair's cost that is ``done`` (paper, eq. 1).

        Where all operations are free, it is the share of operations.
        """
        pairs = self.ptr.size - 1
        total, spent = (np.bincount(self.pair, price, pairs) for price in (self.price, self.price * done))
        if self.edges is not None:
            edges, ended = self.edges, self.edges.done(done)
            total += np.bincount(edges.pair, edges.price, pairs)
            spent += np.bincount(edges.pair, edges.price * ended, pairs)
        count, finished = lengths(self.ptr), counts(done, self.ptr)
        share = np.where(total > 0, spent / np.where(total > 0, total, 1.0), finished / np.maximum(count, 1))
        # Exact at both ends, whatever the rounding of the sums.
        share = np.where(finished == 0, 0.0, np.where(finished == count, 1.0, share))
        return np.clip(share, 0.0, 1.0)

    def ranks(self, key: np.ndarray) -> np.ndarray:
        """Return the position of each operation in its pair's path when sorted by ``key`` in [0, 1)."""
        return positions(key, self.pair, self.ptr)

    def inverse(self, rank: np.ndarray) -> np.ndarray:
        """Return the operation of each pair at each position, counted within the pair; from these, the positions."""
        first = self.ptr[:-1].repeat(lengths(self.ptr))
        order = np.empty(rank.size, dtype=np.int64)
        order[first + rank] = np.arange(rank.size) - first
        return order

    def states(self, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return whether the graph after each step is a valid molecule, and whether it is connected.

        Where an end is no valid molecule, bonds are not known, and no graph counts as valid.

        Args:
            rank: The position of each operation of pairs with bonds.
        """
        assert self.bonds is not None
        _, valid, connected = self.bonds.search(self.ptr, self.inverse(rank), tries=0)
        return valid & self.bonds.whole[self.pair], connected


def positions(key: np.ndarray, pair: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """Return the place of each key in [0, 1) among those of its pair, the lowest first."""
    rank = np.empty(key.size, dtype=np.int64)
    rank[np.argsort(pair + key, kind="stable")] = np.arange(key.size)
    return rank - ptr[:-1].repeat(lengths(ptr))


@dataclass(frozen=True)
class EdgeOperations(EdgeEdits):
    """What becomes of edges that have a price, as the node operations at their two ends bring it about.

    A source edge goes with the first of its nodes that is deleted, or when both of its nodes have been substituted; a
    target edge comes with the second of its nodes (Algorithm 1). Edges that stay as they are are not listed.

    Attributes:
        ends: Operations at the two ends ``[2, edits]``.
        alone: Whether the operation at this end is enough ``[2, edits]``.
    """

    ends: np.ndarray
    alone: np.ndarray

    @staticmethod
    def of(operations: Operations, edges: EdgeEdits) -> EdgeOperations:
        """Find the operations at the ends of edges."""
        m, kept = operations.assignment, edges.price > 0
        pair, source, target = edges.pair[kept], edges.source[:, kept], edges.target[:, kept]
        nodes = m.source.size  # those of targets follow
        by_node = np.empty(nodes + m.target.size, np.int64)
        for first, side in ((0, operations.source), (nodes, operations.target)):
            by_node[first + side[side >= 0]] = np.flatnonzero(side >= 0)
        gone = source[0] >= 0
        at = np.where(gone, m.source_ptr[pair] + source, nodes + m.target_ptr[pair] + target)
        ends = by_node[at]
        alone = gone & (operations.target[ends] < 0)
        return EdgeOperations(pair, source, target, edges.price[kept], edges.pairs, ends, alone)

    def done(self, done: np.ndarray) -> np.ndarray:
        """Return which edits are done when some operations are."""
        at = done[self.ends]
        return at.all(0) | (at & self.alone).any(0)

    def step(self, rank: np.ndarray) -> np.ndarray:
        """Return the position of the operation that completes each edit."""
        at = rank[self.ends]
        early = np.where(self.alone, at, np.iinfo(np.int64).max).min(0)
        return np.minimum(at.max(0), early)


def draw_order(ops: Operations, order: str, generator: torch.Generator) -> tuple[np.ndarray, list[str | None]]:
    """Order the operations of each pair, with a generator on the CPU.

    ``random``: all orders alike. ``bfs``: along a breadth-first search of the target from a random root; deletions,
    which have no place in the target, fall at random. ``connected``: a random order in which every graph on the way is
    connected. ``valid``: an order in which many graphs on the way are valid molecules and connected, found from a
    random one; the operations need bonds.

    Returns:
        The position of each operation in its path, and for each pair why there is no such order (None if there is).
    """
    fine: list[str | None] = [None] * ops.i.numel()
    key = uniform(len(ops), generator).numpy()
    if order == "random":
        return ops.ranks(key), fine
    if order == "valid":
        assert ops.bonds is not None
        start, seed = ops.ranks(key), int(torch.randint(1 << 31, (1,), generator=generator))
        found, *_ = ops.bonds.search(ops.ptr, ops.inverse(start), tries=TRIES, seed=seed)
        return np.where(ops.bonds.whole[ops.pair], ops.inverse(found), start), list(ops.bonds.faults)
    target = ops.graphs.select(ops.j).to("cpu")
    if order == "bfs":
        along = (breadth_first(target, generator).numpy() + 0.5) / target.sizes[target.graph_of_node].numpy()
        at = ops.target >= 0
        key[at] = along[ops.target[at]]
        return ops.ranks(key), fine
    return connected_ranks(ops, ops.graphs.select(ops.i).to("cpu"), target, ops.ranks(key))


def breadth_first(graphs: PackedGraphs, generator: torch.Generator) -> Tensor:
    """Search all graphs breadth first, edges taken both ways.

    Roots and the order of siblings are random; where a component is exhausted, the search starts again at a random
    node.

    Returns:
        The place of each node in the search of its graph.
    """
    nodes, ptr = graphs.num_nodes, graphs.ptr.numpy()
    # With nodes numbered by chance, the first of a component is its root, and siblings come in the order of numbers.
    by_chance = np.argsort(uniform(nodes, generator).numpy(), kind="stable")
    u, v = np.argsort(by_chance)[graphs.edge_index.numpy()]
    part = connected_components(csr_array((np.ones(u.size), (u, v)), shape=(nodes, nodes)), directed=False)[1]
    root = np.unique(part, return_index=True)[1]
    # One more node, from which edges lead to all roots, makes one search of all components.
    ends = np.concatenate([u, v, np.full(root.size, nodes)]), np.concatenate([v, u, root])
    joined = csr_array((np.ones(ends[0].size), ends), shape=(nodes + 1, nodes + 1))
    when = np.argsort(breadth_first_order(joined, nodes, return_predecessors=False)[1:])
    owner, place = owners(ptr), np.empty(nodes, dtype=np.int64)
    order = np.lexsort((when, root[part], owner[by_chance]))  # a component is finished before the next
    place[by_chance[order]] = np.arange(nodes) - ptr[owner]
    return torch.from_numpy(place)
