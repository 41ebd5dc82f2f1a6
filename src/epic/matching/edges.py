"""Assignments that count edges too: the cheapest nodes and edges to edit, found by a local method or by search.

An edge is all that joins two nodes. It has a code for each of its two ends: code 0 is no edge, and the others stand for
what its two directions carry. A table says what turning an edge of one code into one of another costs; its first row is
insertion, its first column deletion. Both ends give the same price.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from epic._kernels import backend
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix
from epic.graphs.ragged import lengths, offsets, owners, ranges
from epic.matching.exact import refuse
from epic.matching.reduced import ReducedCosts

ROUNDS = 40
"""How often a part of the best assignment is released and matched again."""


class EdgePricing(Protocol):
    """What edges cost (see :class:`epic.costs.EdgeCost`)."""

    @property
    def directed(self) -> bool: ...

    @property
    def scale(self) -> str | None: ...

    def table(self, source: Tensor, target: Tensor) -> np.ndarray: ...


@dataclass(frozen=True)
class Edges:
    """The edges of packed graphs, as seen from both ends.

    Node u has the neighbours ``to[ptr[u] : ptr[u + 1]]``, counted within its graph, by edges of code ``code``; ``loop``
    is the code of its edge to itself, 0 where none. ``first`` is the first node of each graph. Code c stands for the
    attributes ``ways[c]`` of its two directions: rows of ``attributes`` counted from 1, 0 for a direction that is not
    there.
    """

    ptr: np.ndarray
    to: np.ndarray
    code: np.ndarray
    loop: np.ndarray
    first: np.ndarray
    ways: np.ndarray
    attributes: Tensor

    @staticmethod
    def of(graphs: PackedGraphs, *, directed: bool = False) -> Edges:
        """Read the edges of graphs; of several between the same two nodes in the same direction, the first counts.

        Where edges are ``directed``, that of a node to itself has one direction, as any other that goes one way.
        """
        size = max(1, graphs.num_nodes)
        source, target = graphs.edge_index.cpu().numpy()
        if graphs.edge_attr is None:
            attributes, label = torch.zeros(1, 0), np.ones(source.size, np.int64)
        else:
            attributes, inverse = matrix(graphs.edge_attr.cpu()).unique(dim=0, return_inverse=True)
            label = inverse.numpy() + 1
        name, at = np.unique(source * size + target, return_index=True)
        label, source, target = label[at], source[at], target[at]
        mirrored = target * size + source
        seen = np.unique(np.concatenate([name, mirrored]))
        forward, backward = np.zeros(seen.size, np.int64), np.zeros(seen.size, np.int64)
        forward[np.searchsorted(seen, name)] = label
        backward[np.searchsorted(seen, mirrored)] = label
        low, high = seen // size, seen % size
        loops = low == high
        if directed:
            backward[loops] = 0
        names, code = np.unique(forward * (len(attributes) + 1) + backward, return_inverse=True)
        ways = np.concatenate([np.zeros((1, 2), np.int64), np.stack(divmod(names, len(attributes) + 1), 1)])
        code = code.reshape(-1) + 1
        loop = np.zeros(graphs.num_nodes, np.int64)
        loop[low[loops]] = code[loops]
        low, high, code = low[~loops], high[~loops], code[~loops]
        first = graphs.ptr.cpu().numpy()
        to = high - first[np.searchsorted(first, high, side="right") - 1] if high.size else high
        ptr = offsets(np.bincount(low, minlength=graphs.num_nodes))
        return Edges(ptr, to, code, loop, first, ways, attributes)

    def of_graphs(self, graphs: np.ndarray) -> Edges:
        """Return the same edges with codes and attributes of some graphs only; those of others are not to be used."""
        nodes = ranges(self.first[graphs], lengths(self.first)[graphs])
        code = self.code[ranges(self.ptr[nodes], lengths(self.ptr)[nodes])]
        kept = np.unique(np.concatenate([[0], code, self.loop[nodes]]))
        rows = np.unique(np.concatenate([[0], self.ways[kept].ravel()]))
        number, row = np.zeros(len(self.ways), np.int64), np.zeros(len(self.attributes) + 1, np.int64)
        number[kept], row[rows] = np.arange(kept.size), np.arange(rows.size)
        attributes = self.attributes[torch.from_numpy(rows[1:] - 1)]
        return replace(
            self, code=number[self.code], loop=number[self.loop], ways=row[self.ways[kept]], attributes=attributes
        )

    def per_node(self, price: np.ndarray) -> np.ndarray:
        """Sum half of the prices of the edges of each node, and that of its loop, given the price of each code."""
        return np.bincount(owners(self.ptr), price[self.code] / 2, self.loop.size) + price[self.loop]

    def per_graph(self, price: np.ndarray) -> np.ndarray:
        """Sum the prices of the edges of each graph, given that of each code."""
        return np.bincount(owners(self.first), self.per_node(price), self.first.size - 1)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the compiled loops take."""
        return self.ptr, self.to, self.code


def price_table(prices: EdgePricing, source: Edges, target: Edges) -> np.ndarray:
    """Return what turning each kind of source edge into each kind of target edge costs.

    An edge that goes both ways costs what the pricing says of it, and one that goes one way half of it; where edges are
    directed, each direction costs what the pricing says. No substitution costs more than a deletion and an insertion.

    Raises:
        InputError: a price is negative or not finite.
    """
    table = prices.table(source.attributes, target.attributes)
    wanted = (len(source.attributes) + 1, len(target.attributes) + 1)
    if table.shape != wanted:
        raise InputError(f"the edge cost gave a table of shape {table.shape}, expected {wanted}")
    if not (np.isfinite(table[0]).all() and np.isfinite(table[:, 0]).all() and (table >= 0).all()):
        raise InputError("an edge price is negative, NaN or infinite: prices must be 0 or more")
    table = np.minimum(table, table[:, :1] + table[:1])
    (out, back), (out_t, back_t) = source.ways.T, target.ways.T
    both = table[out[:, None], out_t] + table[back[:, None], back_t]
    return both if prices.directed else both / 2


def reduced_table(table: np.ndarray) -> np.ndarray:
    """Return what substituting edges costs more than deleting and inserting them: 0 or less."""
    return np.ascontiguousarray(table - table[:, :1] - table[:1], dtype=np.float64)


@dataclass(frozen=True)
class EdgePairs:
    """The reduced costs of P pairs of graphs: what to minimise.

    Pair p has its source nodes in ``source`` from ``u[p]`` on, its target nodes in ``target`` from ``v[p]`` on, both
    with the reduced node costs ``reduced``. Its edges cost ``weight[p]`` times ``table``.
    """

    reduced: ReducedCosts
    source: Edges
    target: Edges
    u: np.ndarray
    n: np.ndarray
    v: np.ndarray
    m: np.ndarray
    table: np.ndarray
    weight: np.ndarray

    @cached_property
    def top(self) -> np.ndarray:
        """First row of each pair."""
        return offsets(self.n)[:-1]

    @cached_property
    def field(self) -> np.ndarray:
        """Reduced node costs: those of pair p are in the first ``m[p]`` columns from row ``top[p]`` on."""
        return self.reduced.field(u=self.u, n=self.n, v=self.v, m=self.m)

    @cached_property
    def edge(self) -> np.ndarray:
        """Reduced edge costs."""
        return reduced_table(self.table)

    @cached_property
    def node(self) -> np.ndarray:
        """Reduced node costs, with those of edges from a node to itself."""
        rows, loops = ranges(self.u, self.n), self.target.loop
        if not (self.source.loop.any() and loops.any()):
            return np.ascontiguousarray(self.field, dtype=np.float64)
        at = np.minimum(self.v[:, None] + np.arange(self.field.shape[1]), loops.size - 1)
        pair = np.arange(self.n.size).repeat(self.n)
        return self.field + self.edge[self.source.loop[rows][:, None], loops[at][pair]] * self.weight[pair, None]

    @cached_property
    def whole(self) -> bool:
        """Whether all costs are whole numbers, so that bounds can be rounded up."""
        parts = self.node[np.isfinite(self.node)], self.edge, self.weight
        return all(bool((t == np.rint(t)).all()) for t in parts)

    @property
    def single(self) -> tuple[Any, Any, np.ndarray]:
        """Both graphs of the first pair, and the prices of their edges: what the compiled loops take."""
        sides = (self.source, self.u[0], self.n[0]), (self.target, self.v[0], self.m[0])
        a, b = ((e.ptr[at : at + size + 1], e.to, e.code) for e, at, size in sides)
        return a, b, self.edge * self.weight[0]

    def match(self, *, rounds: int = ROUNDS, seed: int = 0, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Find a low-cost assignment of each pair.

        Args:
            rounds: how often to release and match again; -1 for the bipartite assignment with half of the local edge
                costs (Riesen and Bunke 2009).
            seed: what the random regions are drawn from; each pair alike, so that its answer is its own.
            first: the number of the first pair in error messages.

        Returns:
            For every source node, pair after pair, the target node that replaces it, counted within its pair (-1 where
            none); and a lower bound of what each pair adds to deleting and inserting all.
        """
        column, bound = np.full(int(self.n.sum()), -1, dtype=np.int64), np.zeros(self.n.size)
        from epic._kernels import edges

        solve = edges.solve_edges if backend.enabled() else edges.PLAIN["solve_edges"]
        pairs, graphs = (self.top, self.u, self.n, self.v, self.m), (self.source.arrays, self.target.arrays, self.edge)
        bad = solve(self.node, pairs, graphs, self.weight, rounds, seed, column, bound)
        if bad >= 0:
            refuse(first + bad)
        return column, np.ceil(bound - 1e-6) if self.whole else bound


@dataclass(frozen=True)
class EdgeEdits:
    """What becomes of every edge of P pairs of graphs.

    An edge of the source joins ``source[0]`` and ``source[1]``, an edge of the target ``target[0]`` and ``target[1]``
    (nodes counted within their graphs); -1 marks the missing side of a deletion or insertion. ``price`` is what it
    costs, 0 where the edge stays as it is, and ``pair`` the pair it belongs to.
    """

    pair: np.ndarray
    source: np.ndarray
    target: np.ndarray
    price: np.ndarray
    pairs: int

    @staticmethod
    def joined(parts: list[EdgeEdits], pairs: int) -> EdgeEdits:
        """Join the edits of several runs of pairs."""
        ends = np.empty((2, 0), np.int64)
        none = EdgeEdits(ends[0], ends, ends, np.empty(0), 0)
        pair, source, target, price = (
            np.concatenate([getattr(e, name) for e in (none, *parts)], axis=-1)
            for name in ("pair", "source", "target", "price")
        )
        return EdgeEdits(pair, source, target, price, pairs)

    @property
    def distance(self) -> np.ndarray:
        """Total price of each pair."""
        return np.bincount(self.pair, self.price, self.pairs)

    @property
    def edits(self) -> np.ndarray:
        """Number of edges of each pair that are inserted, deleted or changed at a price."""
        return np.bincount(self.pair[self.price > 0], minlength=self.pairs)


def edge_edits(p: EdgePairs, column: np.ndarray) -> EdgeEdits:
    """Price the edges of assignments (see :meth:`EdgePairs.match`) one by one, however these were found."""
    pair_s, u, w, code_s = _listed(p.source, p.u, p.n)
    pair_t, v, x, code_t = _listed(p.target, p.v, p.m)
    width = int(max(p.m.max(initial=0), 1))
    name_t = (pair_t * width + v) * width + x
    vu, vw = column[p.top[pair_s] + u], column[p.top[pair_s] + w]
    name_s = np.where((vu >= 0) & (vw >= 0), (pair_s * width + vu) * width + vw, -1)
    order = np.append(np.argsort(name_t), -1)  # the last place stands for no edge
    at = order[np.searchsorted(name_t, name_s, sorter=order[:-1])]
    met = np.append(name_t, -2)[at] == name_s
    new = np.ones(pair_t.size, bool)
    new[at[met]] = False
    once_s, once_t = u <= w, new & (v <= x)  # both ends list an edge
    price_s = p.table[code_s, np.append(code_t, 0)[np.where(met, at, -1)]] * p.weight[pair_s]
    price_t = p.table[0, code_t] * p.weight[pair_t]
    none = np.full((2, int(once_t.sum())), -1)
    return EdgeEdits(
        np.concatenate([pair_s[once_s], pair_t[once_t]]),
        np.concatenate([np.stack([u, w])[:, once_s], none], axis=1),
        np.concatenate([np.where(met, [vu, vw], -1)[:, once_s], np.stack([v, x])[:, once_t]], axis=1),
        np.concatenate([price_s[once_s], price_t[once_t]]),
        p.n.size,
    )


def _listed(edges: Edges, first: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, ...]:
    """List the edges of pairs from both ends, loops once: pair, both nodes, code."""
    nodes = ranges(first, count)
    degree = lengths(edges.ptr)[nodes]
    at = ranges(edges.ptr[nodes], degree)
    pair, local = owners(offsets(count)), nodes - first.repeat(count)
    loop = np.flatnonzero(edges.loop[nodes])
    return (
        np.concatenate([pair.repeat(degree), pair[loop]]),
        np.concatenate([local.repeat(degree), local[loop]]),
        np.concatenate([edges.to[at], local[loop]]),
        np.concatenate([edges.code[at], edges.loop[nodes][loop]]),
    )
