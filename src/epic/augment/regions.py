"""Connected regions of graphs: the order in which nodes are reached from random roots, for all graphs at once.

Edges count as neighbourhood whatever their direction. Every component has a root; the component of the first root comes
first, and the next one is begun only when it is used up. All of it is laid out as one big sparse graph, so that what is
done to a batch is done by a single call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import owners, ranges
from epic.graphs.subgraphs import keep_nodes
from epic.random import uniform

DIGITS = 12
"""Digits to which PageRank is computed."""
LONG = 10.0
"""Length of the links between components. Any positive number gives the same result."""


@dataclass(frozen=True)
class Regions:
    """Packed graphs as one symmetric 0/1 matrix, the component of each node, and a random root of each component.

    ``chance`` is a random number of each node. A root is the node of its component with the smallest one, and the
    component with the smallest root comes first: just as if roots were drawn one after the other, each from all nodes
    not reached yet.
    """

    ptr: np.ndarray
    neighbours: csr_array
    component: np.ndarray
    root: np.ndarray
    chance: np.ndarray

    @staticmethod
    def of(graphs: PackedGraphs, generator: torch.Generator) -> Regions:
        n = graphs.num_nodes
        source, target = graphs.edge_index.cpu().numpy()
        ends = np.concatenate([source, target]), np.concatenate([target, source])
        neighbours = csr_array((np.ones(ends[0].size), ends), shape=(n, n))
        neighbours.sum_duplicates()
        neighbours.data[:] = 1.0
        count, component = connected_components(neighbours, directed=False)
        chance = uniform(n, generator).numpy()
        by_chance = np.argsort(chance)
        root = np.empty(count, dtype=np.int64)
        root[component[by_chance[::-1]]] = by_chance[::-1]  # the last one written is the smallest
        return Regions(graphs.ptr.cpu().numpy(), neighbours, component, root, chance)

    def distance(self, step: np.ndarray) -> np.ndarray:
        """Length of the shortest way from its component's root to each node; to enter node v takes ``step[v]``."""
        if self.root.size == 0:
            return step
        # From each root a long way leads to the next, so that one search goes through the components one by one: with
        # all roots as sources, the time would grow with the square of their number.
        roots, near = np.sort(self.root), self.neighbours
        at = near.indptr[roots[:-1] + 1]
        into = np.insert(near.indices, at, roots[1:])
        length = np.insert(step[near.indices], at, LONG)
        begin = near.indptr + np.searchsorted(roots[:-1], np.arange(near.indptr.size))
        found = dijkstra(csr_array((length, into, begin), near.shape), indices=roots[0])
        return found - found[self.root[self.component]]

    def order(self, *score: np.ndarray) -> np.ndarray:
        """Return the nodes of each graph, component by component, smaller scores first; equal ones in random order.

        Later scores decide where earlier ones are equal.
        """
        turn = self.chance[self.root][self.component]
        return np.lexsort((self.chance, *score[::-1], turn, owners(self.ptr)))


def keep_first(graphs: PackedGraphs, order: np.ndarray, share: float) -> PackedGraphs:
    """Return the subgraphs induced by the first ``share`` of each graph's nodes, rounded up, and one node at least."""
    ptr = graphs.ptr.cpu().numpy()
    size = np.diff(ptr)
    wanted = np.ceil(share * size - 1e-9).astype(np.int64)  # 0.55 * 20 is a little more than 11
    stays = np.zeros(graphs.num_nodes, dtype=bool)
    stays[order[ranges(ptr[:-1], np.clip(wanted, np.minimum(1, size), size))]] = True
    return keep_nodes(graphs, torch.from_numpy(stays).to(graphs.ptr.device))


def pagerank(neighbours: csr_array, root: np.ndarray, restart: float) -> np.ndarray:
    """Return where a random walk is found that, at each step, goes back to its root with probability ``restart``.

    ``neighbours`` is a symmetric 0/1 matrix, with at most one root in each component. Ranks of a component sum to 1; a
    lone root has rank 1, and nodes that no root reaches have 0.
    """
    rho = 1 - restart
    degree = np.diff(neighbours.indptr)
    walk = csr_array(
        (rho / degree[neighbours.indices], neighbours.indices, neighbours.indptr), neighbours.shape, dtype=np.float64
    )
    home = np.zeros(degree.size)
    home[root] = restart
    # Solves p = walk @ p + home. Eigenvalues of the walk are real and within +-rho, so Chebyshev's acceleration takes a
    # third of the plain iteration's rounds, and their number is known beforehand.
    rate = rho / (1 + math.sqrt(1 - rho * rho))
    rounds = math.ceil((-DIGITS * math.log(10) - math.log(2)) / math.log(rate))
    before, rank, weight = home, walk @ home + home, 2.0
    for _ in range(rounds):
        weight = 1 / (1 - rho * rho * weight / 4)
        before, rank = rank, weight * (walk @ rank + home - before) + before
    return np.where(degree == 0, home / restart, rank)


def by_pagerank(regions: Regions, restart: float) -> np.ndarray:
    """Return the nodes of each graph in falling order of rank.

    Where ranks are equal, or too small to be told apart, nodes nearer to the root come first.
    """
    rank = pagerank(regions.neighbours, regions.root, restart)
    return regions.order(-np.round(rank, DIGITS), regions.distance(np.ones(rank.size)))
