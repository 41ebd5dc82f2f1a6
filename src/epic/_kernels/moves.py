"""Moves of an assignment that counts edges: match, release, grow, descend. See :mod:`epic._kernels.edges`.

All keep the gradient ``G[u, v] = R[u, v] + sum of W over matched neighbours``. To match or release one pair of nodes
changes it in (degree of u) x (degree of v) places only, and it tells the cost of every move at once.

A graph is three arrays: offsets of its nodes' neighbours, the neighbours, and the codes of the edges to them. Code c is
row or column c of ``W``, and 0 means no edge.
"""

from __future__ import annotations

import numpy as np

from epic._kernels.backend import INTEGERS, jit

GRAPH, MATRIX, REALS = "UniTuple(int64[::1], 3)", "float64[:, ::1]", "float64[::1]"
PAIR = f"Tuple(({GRAPH}, {GRAPH}, {MATRIX}))"
"""Two graphs, and the matrix ``W`` of their edges."""
FAST = {"fastmath": {"nnan", "nsz"}}
MODULUS = 2147483647
HOPE = 0.5
"""How much of the edges that a pair of nodes may still match counts in growth."""
NOISE = 0.125
"""Largest noise in growth, as a share of the largest edge price."""
LEAST = 0.2
"""Smallest share of the nodes that is released at once."""


@jit(f"float64({INTEGERS})")
def draw(state: np.ndarray) -> float:
    """Return the next random number in (0, 1) (Park and Miller's generator, the same everywhere)."""
    state[0] = (state[0] * 48271) % MODULUS
    return state[0] / MODULUS


@jit(f"void(int64, int64, float64, {MATRIX}, {PAIR})")
def place(u: int, v: int, sign: float, gradient: np.ndarray, pair: tuple) -> None:
    """Add to the gradient that u is matched to v, or with ``sign = -1`` that it no longer is."""
    (ap, at, ac), (bp, bt, bc), edge = pair
    for x in range(ap[u], ap[u + 1]):
        line, price = gradient[at[x]], edge[ac[x]]
        for y in range(bp[v], bp[v + 1]):
            line[bt[y]] += sign * price[bc[y]]


@jit(f"float64({MATRIX}, {MATRIX}, {INTEGERS})")
def total(node: np.ndarray, gradient: np.ndarray, match: np.ndarray) -> float:
    """Return the cost of an assignment from its gradient."""
    cost = 0.0
    for u in range(match.size):
        if match[u] >= 0:
            cost += 0.5 * (node[u, match[u]] + gradient[u, match[u]])
    return cost


@jit(f"float64({MATRIX}, {MATRIX}, {INTEGERS}, {INTEGERS}, {PAIR})")
def linearise(node: np.ndarray, gradient: np.ndarray, match: np.ndarray, origin: np.ndarray, pair: tuple) -> float:
    """Fill the gradient and the inverse of an assignment, and return its cost."""
    gradient[:] = node
    origin[:] = -1
    for u in range(match.size):
        if match[u] >= 0:
            origin[match[u]] = u
            place(u, match[u], 1.0, gradient, pair)
    return total(node, gradient, match)


@jit(f"void({MATRIX}, {MATRIX}, float64, {INTEGERS}, {INTEGERS}, {PAIR}, {INTEGERS})", **FAST)
def grow(
    gradient: np.ndarray,
    half: np.ndarray,
    noise: float,
    match: np.ndarray,
    origin: np.ndarray,
    pair: tuple,
    state: np.ndarray,
) -> None:
    """Match free nodes greedily: the pair with the least gradient and hope of further edges, until none is below 0."""
    n, m = gradient.shape
    ap, at, _ = pair[0]
    hope, low, best = np.empty((n, m)), np.empty(n), np.empty(n, np.int64)
    column = np.empty(m)
    for v in range(m):
        column[v] = noise * draw(state) if origin[v] < 0 else np.inf
    for u in range(n):
        low[u], best[u] = np.inf, -1
        if match[u] < 0:
            row, line, other = noise * draw(state), hope[u], half[u]
            for v in range(m):
                line[v] = HOPE * other[v] + row + column[v]
            best[u] = m  # to be found
    last, v = -1, m
    while True:
        for u in range(n):  # look again where the best column went, or the gradient changed
            if best[u] == v:
                line, other = gradient[u], hope[u]
                least, where = np.inf, -1
                for w in range(m):
                    least = min(least, line[w] + other[w])
                for w in range(m - 1, -1, -1):
                    where = w if line[w] + other[w] == least else where
                low[u], best[u] = least, where
        last, least = -1, 0.0
        for u in range(n - 1, -1, -1):
            if low[u] <= least:
                last, least = u, low[u]
        if last < 0:
            return
        v = best[last]
        match[last], origin[v] = v, last
        low[last], best[last] = np.inf, -1
        place(last, v, 1.0, gradient, pair)
        for u in range(n):
            hope[u, v] = np.inf
        for x in range(ap[last], ap[last + 1]):
            if match[at[x]] < 0:
                best[at[x]] = v


@jit(f"float64({INTEGERS}, {INTEGERS}, {INTEGERS}, {REALS}, int64, int64)")
def edge_price(ptr: np.ndarray, to: np.ndarray, code: np.ndarray, price: np.ndarray, v: int, w: int) -> float:
    """Return the price of the edge from v to w, 0 where there is none."""
    for y in range(ptr[v], ptr[v + 1]):
        if to[y] == w:
            return price[code[y]]
    return 0.0


@jit(f"void({MATRIX}, float64, {INTEGERS}, {INTEGERS}, {PAIR})", **FAST)
def descend(gradient: np.ndarray, eps: float, match: np.ndarray, origin: np.ndarray, pair: tuple) -> None:
    """Make the best move of one node after the other until none has one that lowers the cost.

    A node goes to a free node, to none, or to the node of another one, which then takes its place or none.
    """
    n, m = gradient.shape
    (ap, at, ac), (bp, bt, bc), edge = pair
    change, mine, column = np.empty(m), np.zeros(m), np.zeros(n + 1)
    for v in range(m):
        mine[v] = gradient[origin[v], v] if origin[v] >= 0 else 0.0
    u, idle = 0, 0
    while idle < n:
        v, line = match[u], gradient[u]
        here = line[v] if v >= 0 else 0.0
        if v >= 0:
            for w in range(n):
                column[w] = min(gradient[w, v], 0.0)
            column[u] = 0.0
            for t in range(m):
                change[t] = (line[t] - mine[t]) + column[origin[t]]  # origin -1 is the last entry, 0
            change[v] = 0.0  # to leave it
            # Where the two nodes are joined in both graphs, their edge has been counted twice.
            for x in range(ap[u], ap[u + 1]):
                w = at[x]
                t = match[w]
                if t >= 0:
                    once = edge_price(bp, bt, bc, edge[ac[x]], v, t)
                    if once != 0.0:
                        back = edge_price(bp, bt, bc, edge[ac[x]], t, v)
                        change[t] = (line[t] - mine[t]) + once + min(gradient[w, v] + back, 0.0)
        else:
            for t in range(m):
                change[t] = line[t] - mine[t]
        least, where = np.inf, -1
        for t in range(m):
            least = min(least, change[t])
        for t in range(m - 1, -1, -1):
            where = t if change[t] == least else where
        if least - here < -eps:
            to = where if where != v else -1
            idle = 0
            if v >= 0:
                place(u, v, -1.0, gradient, pair)
                origin[v] = -1
            match[u] = to
            if to >= 0:
                w = origin[to]
                if w >= 0:
                    place(w, to, -1.0, gradient, pair)
                    match[w] = -1
                origin[to] = u
                place(u, to, 1.0, gradient, pair)
                if w >= 0 and v >= 0 and gradient[w, v] < 0.0:
                    match[w], origin[v] = v, w
                    place(w, v, 1.0, gradient, pair)
            for t in range(m):
                mine[t] = gradient[origin[t], t] if origin[t] >= 0 else 0.0
        else:
            idle += 1
        u = u + 1 if u + 1 < n else 0


@jit(f"void({MATRIX}, int64, {INTEGERS}, {INTEGERS}, {PAIR}, {INTEGERS})")
def release(
    gradient: np.ndarray, count: int, match: np.ndarray, origin: np.ndarray, pair: tuple, state: np.ndarray
) -> None:
    """Release ``count`` source nodes: a random one and those nearest to it, then another one where that is all."""
    n = match.size
    ap, at, _ = pair[0]
    queue, seen = np.empty(n, np.int64), np.zeros(n, np.bool_)
    head, tail = 0, 0
    while head < count:
        if head == tail:
            u = int(draw(state) * n)
            while seen[u]:
                u = u + 1 if u + 1 < n else 0
            seen[u], queue[tail] = True, u
            tail += 1
        u = queue[head]
        head += 1
        for x in range(ap[u], ap[u + 1]):
            if not seen[at[x]]:
                seen[at[x]], queue[tail] = True, at[x]
                tail += 1
        if match[u] >= 0:
            place(u, match[u], -1.0, gradient, pair)
            origin[match[u]] = -1
            match[u] = -1


@jit(f"void({MATRIX}, {MATRIX}, float64, float64, {INTEGERS}, {INTEGERS}, {PAIR}, {INTEGERS})")
def rematch(
    gradient: np.ndarray,
    half: np.ndarray,
    scale: float,
    eps: float,
    match: np.ndarray,
    origin: np.ndarray,
    pair: tuple,
    state: np.ndarray,
) -> None:
    """Release a random region of an assignment, let it grow again with some noise, and descend."""
    n = match.size
    release(gradient, min(n, 1 + int(n * (LEAST + (1.0 - LEAST) * draw(state)))), match, origin, pair, state)
    grow(gradient, half, NOISE * scale, match, origin, pair, state)
    descend(gradient, eps, match, origin, pair)


@jit(f"float64({PAIR})")
def largest(pair: tuple) -> float:
    """Return the most that one pair of edges of two graphs saves; edges of other graphs are ignored."""
    (ap, _, ac), (bp, _, bc), edge = pair
    here, there = np.zeros(edge.shape[0], np.bool_), np.zeros(edge.shape[1], np.bool_)
    for x in range(ap[0], ap[-1]):
        here[ac[x]] = True
    for y in range(bp[0], bp[-1]):
        there[bc[y]] = True
    scale = 0.0
    for k in range(edge.shape[0]):
        if here[k]:
            for l in range(edge.shape[1]):
                if there[l]:
                    scale = max(scale, -edge[k, l])
    return scale
