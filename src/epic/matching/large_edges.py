"""Assignments of large pairs that count edges: nodes matched in parts, then made cheaper region by region.

The start is the assignment of :func:`epic.matching.large.assign_large`, which sees nodes only, except that of equal
nodes those with similar neighbourhoods are matched: two copies of a graph in other orders mostly meet there. Each round
goes through random regions (see :mod:`epic._kernels.regions`) that cover the source graph about twice. In a region
nodes are moved and exchanged, a part is released and matched again, and what is not more expensive is kept: no region
makes the assignment more expensive. No matrix is larger than a region, so memory is linear, and so is the time of a
round.
"""

from __future__ import annotations

import numpy as np

from epic._kernels import backend
from epic._kernels.moves import MODULUS
from epic.graphs.ragged import lengths, owners
from epic.matching.edges import EdgePairs
from epic.matching.large import AXES, assign_large
from epic.matching.reduced import ReducedCosts
from epic.matching.search import inverse

SIZES = (64, 32, 16)
"""Nodes of the balls of source and of target nodes in a region, round after round."""
DEPTH = 8
"""Largest distance at which surroundings of equal nodes are compared."""


def match_large(p: EdgePairs, *, rounds: int, seed: int = 0) -> np.ndarray:
    """Find a low-cost assignment of one large pair, in so many rounds through the graph.

    Its nodes need places (see :meth:`epic.matching.reduced.ReducedCosts.places`). The answer is for each source node
    the target node that replaces it, counted within the pair; -1 where there is none.
    """
    from epic._kernels import regions

    run = vars(regions) if backend.enabled() else regions.PLAIN
    (u, v, n, m), pair = (int(t[0]) for t in (p.u, p.v, p.n, p.m)), p.single
    a, _, edge = pair
    match = assign_large(p.reduced, u=u, n=n, v=v, m=m, colours=_colours(p) if edge.any() else ())
    if not edge.any():
        return match
    partners = match, inverse(match, m)
    middles, hopes = np.flatnonzero(lengths(a[0])), hope(p)
    places, nodes = (np.full(n, -1), np.full(m, -1)), (np.empty(n, np.int64), np.empty(m, np.int64))
    state, rng = np.array([seed % (MODULUS - 1) + 1]), np.random.default_rng(seed)
    eps = 1e-9 * float(-edge.min())
    for size in (SIZES[r % len(SIZES)] for r in range(rounds)):
        for middle in rng.permutation(middles)[: -(-2 * middles.size // size)].tolist():
            few, many = run["choose_region"](pair, middle, size, partners, nodes, places, state)
            here = nodes[0][:few], nodes[1][:many]
            if few:
                run["improve_region"](_block(p, *here), pair, hopes, eps, partners, here, places, state)
    return match


def _colours(p: EdgePairs) -> list[tuple[np.ndarray, np.ndarray]]:
    """Number the nodes of one pair by what lies around them (Weisfeiler and Leman 1968), the widest view first."""
    (u, v, n, m), rng = (int(t[0]) for t in (p.u, p.v, p.n, p.m)), np.random.default_rng(0)
    place = p.reduced.places(slice(u, u + n), slice(v, v + m), axes=AXES, rng=rng)
    colour = np.unique(np.concatenate(place)[:, 0], return_inverse=True)[1]
    a, b, _ = p.single
    near = np.concatenate([shift + owners(ptr) for shift, (ptr, _, _) in ((0, a), (n, b))])
    far = np.concatenate([shift + to[ptr[0] : ptr[-1]] for shift, (ptr, to, _) in ((0, a), (n, b))])
    seen = []
    for _ in range(DEPTH):
        word = rng.integers(1 << 63, size=n + m, dtype=np.uint64)[colour]
        told = 3 * word
        np.add.at(told, near, word[far])
        colour = np.unique(told, return_inverse=True)[1]
        seen.append((colour[:n], colour[n:]))
    return seen[::-1]


def hope(p: EdgePairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the most that the edges of each source node and of each target node of one pair can save: 0 or less."""
    edge = p.edge * p.weight[0]
    sides = (p.source, p.u[0], p.n[0], edge.min(1)), (p.target, p.v[0], p.m[0], edge.min(0))
    one, other = (np.bincount(owners(e.ptr), best[e.code], e.loop.size)[at : at + k] for e, at, k, best in sides)
    return one, other


def local_costs(p: EdgePairs) -> ReducedCosts:
    """Return the reduced costs of the nodes of one pair, with at least half of what their edges can save."""
    one, other = hope(p)

    def block(rows: slice, columns: slice) -> np.ndarray:
        nodes = np.arange(p.n[0])[rows], np.arange(p.m[0])[columns]
        return _block(p, *nodes) + 0.5 * np.maximum(one[rows, None], other[columns])

    return ReducedCosts(block)


def _block(p: EdgePairs, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the reduced costs of some nodes of one pair, with those of edges from a node to itself."""
    every, u, v = slice(None), p.u[0] + rows, p.v[0] + columns
    loops = p.edge[p.source.loop[u][:, None], p.target.loop[v]] * p.weight[0]
    return np.ascontiguousarray(p.reduced.take(u, v)(every, every) + loops, dtype=np.float64)
