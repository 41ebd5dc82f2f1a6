"""Assignments that count edges too, of many pairs in one compiled loop.

Deleting every node and edge of the source and inserting every one of the target is always possible. Counted from
there, a matched pair of nodes adds its reduced cost ``R[u, v]``. Two matched pairs whose ends are joined in both graphs
add the reduced cost ``W[a, b]`` of the two edges, which is never above 0:

    cost(X) = sum R[u, v] X[u, v] + 1/2 sum W[a(u, u'), b(v, v')] X[u, v] X[u', v']

The steps are:

- Frank-Wolfe with exact line search (IPFP: Leordeanu et al. 2009; with edition: Bougleux et al. 2017) from the node
  assignment and from the assignment with half of the local edge costs (Riesen and Bunke 2009);
- growth: match the pair of nodes with the least gradient, again and again, so that neighbours follow each other;
- descent: move, release, exchange or drive out single nodes while that lowers the cost;
- rounds: release a random region of the best assignment, grow and descend again, and keep what is not worse.

Without numba the same functions are interpreted (:func:`epic._kernels.backend.interpreted`).
"""

from __future__ import annotations

import numpy as np

from epic._kernels import moves
from epic._kernels.assignment import ROOM, room, solve_block
from epic._kernels.backend import INTEGERS, SCIPY, interpreted, jit
from epic._kernels.moves import GRAPH, MATRIX, MODULUS, PAIR, REALS, descend, grow, largest, linearise, rematch, total

FRANK_WOLFE = 8
"""Largest number of Frank-Wolfe steps."""


@jit(f"void({MATRIX}, {PAIR}, {ROOM})")
def stars(half: np.ndarray, pair: tuple, memory: tuple) -> None:
    """Fill half of the least cost of matching the edges of u to those of v: every edge has two ends."""
    (ap, _, ac), (bp, _, bc), edge = pair
    most = 1
    for v in range(bp.size - 1):
        most = max(most, bp[v + 1] - bp[v])
    for u in range(ap.size - 1):
        p = ap[u + 1] - ap[u]
        block, partner = np.empty((p, most)), np.empty(p, np.int64)
        for v in range(bp.size - 1):
            q = bp[v + 1] - bp[v]
            cost = 0.0
            if edge.shape == (2, 2):  # all edges are alike
                cost = min(p, q) * edge[1, 1]
            elif p > 0 and q > 0:
                for x in range(p):
                    for y in range(q):
                        block[x, y] = edge[ac[ap[u] + x], bc[bp[v] + y]]
                        cost = min(cost, block[x, y])
                if p > 1 and q > 1:
                    solve_block(block, 0, 0, q, partner, memory)
                    cost = 0.0
                    for x in range(p):
                        if partner[x] >= 0:
                            cost += block[x, partner[x]]
            half[u, v] = 0.5 * cost


@jit(f"void({MATRIX}, {MATRIX}, {INTEGERS}, {INTEGERS}, {PAIR}, {ROOM})")
def frank_wolfe(
    node: np.ndarray, gradient: np.ndarray, match: np.ndarray, origin: np.ndarray, pair: tuple, memory: tuple
) -> None:
    """Replace an assignment by the best one met on a Frank-Wolfe descent that starts from it.

    Only whole assignments are linearised, which is cheap: the gradient between two of them is a mean of theirs.
    """
    n, m = node.shape
    new, best, new_gradient = np.empty_like(match), match.copy(), np.empty_like(node)
    low = linearise(node, gradient, match, origin, pair)
    linear, slope = 0.0, 0.0  # R X, and the gradient times X
    for u in range(n):
        if match[u] >= 0:
            linear += node[u, match[u]]
            slope += gradient[u, match[u]]
    for _ in range(FRANK_WOLFE):
        solve_block(gradient, 0, 0, m, new, memory)
        cost = linearise(node, new_gradient, new, origin, pair)
        if cost < low:
            low = cost
            best[:] = new
        new_linear, new_slope, cross = 0.0, 0.0, 0.0
        for u in range(n):
            if new[u] >= 0:
                new_linear += node[u, new[u]]
                new_slope += new_gradient[u, new[u]]
                cross += gradient[u, new[u]]
        fall = cross - slope
        if not fall < -1e-9 * abs(slope):
            break
        # Second derivative of the cost along the way.
        bend = (new_slope - new_linear) - 2.0 * (cross - new_linear) + (slope - linear)
        step = min(1.0, -fall / bend) if bend > 0.0 else 1.0
        rest = 1.0 - step
        slope = (
            rest * linear
            + step * new_linear
            + rest * rest * (slope - linear)
            + 2.0 * step * rest * (cross - new_linear)
            + step * step * (new_slope - new_linear)
        )
        linear = rest * linear + step * new_linear
        for u in range(n):
            line, other = gradient[u], new_gradient[u]
            for v in range(m):
                line[v] = other[v] if step == 1.0 else rest * line[v] + step * other[v]
    match[:] = best


@jit(f"float64({MATRIX}, {PAIR}, int64, int64, {INTEGERS}, {ROOM})")
def solve_pair(node: np.ndarray, pair: tuple, rounds: int, seed: int, best: np.ndarray, memory: tuple) -> float:
    """Fill ``best`` with the assignment of one pair and return a lower bound of the least cost.

    The bound is the optimum of the assignment with half of the local edge costs (BRANCH in Blumenthal et al. 2020).
    With ``rounds = -1`` the assignment is the one that has it, and no more is done.

    Returns:
        The bound, or NaN where a cost is NaN or below ``LOWEST``.
    """
    n, m = node.shape
    gradient, half = np.empty((n, m)), np.empty((n, m))
    match, origin, state = np.empty(n, np.int64), np.empty(m, np.int64), np.array([seed % (MODULUS - 1) + 1])
    stars(half, pair, memory)
    for u in range(n):
        for v in range(m):
            gradient[u, v] = node[u, v] + half[u, v]
    if not solve_block(gradient, 0, 0, m, match, memory):
        return np.nan
    bound = 0.0
    for u in range(n):
        if match[u] >= 0:
            bound += gradient[u, match[u]]
    if rounds < 0:
        best[:] = match
        return bound
    scale = largest(pair)
    eps = 1e-9 * max(scale, -bound / max(1, n))
    alone = np.empty(n, np.int64)
    solve_block(node, 0, 0, m, alone, memory)
    best[:] = alone
    low = linearise(node, gradient, best, origin, pair)
    for start in range(3 + rounds):
        if low <= bound + eps:  # nothing can be better
            break
        if start < 2:
            if start == 1:
                match[:] = alone
            frank_wolfe(node, gradient, match, origin, pair, memory)
            linearise(node, gradient, match, origin, pair)
            descend(gradient, eps, match, origin, pair)
        elif start == 2:
            match[:] = -1
            linearise(node, gradient, match, origin, pair)
            grow(gradient, half, 0.0, match, origin, pair, state)
            descend(gradient, eps, match, origin, pair)
        else:
            match[:] = best
            linearise(node, gradient, match, origin, pair)
            rematch(gradient, half, scale, eps, match, origin, pair, state)
        cost = total(node, gradient, match)
        if cost < low - eps or (start > 2 and cost < low + eps):
            low = cost
            best[:] = match
    return bound


@jit(f"boolean({GRAPH}, int64, int64, int64)")
def fits(graph: tuple, first: int, n: int, codes: int) -> bool:
    """Return whether the nodes, neighbours and codes of one graph are where they should be."""
    ptr, to, code = graph
    if not (n >= 0 and 0 <= first <= ptr.size - 1 - n):
        return False
    for u in range(first, first + n):
        if not (0 <= ptr[u] <= ptr[u + 1] <= min(to.size, code.size) and ptr[u + 1] - ptr[u] <= n):
            return False
        for x in range(ptr[u], ptr[u + 1]):
            if not (0 <= to[x] < n and 0 < code[x] < codes):
                return False
    return True


@jit(f"int64({MATRIX}, UniTuple({INTEGERS}, 5), {PAIR}, {REALS}, int64, int64, {INTEGERS}, {REALS})")
def solve_edges(
    field: np.ndarray,
    pairs: tuple,
    graphs: tuple,
    weight: np.ndarray,
    rounds: int,
    seed: int,
    partner: np.ndarray,
    bound: np.ndarray,
) -> int:
    """Fill ``partner`` with the column of every row of every pair, pair after pair, and ``bound`` as in solve_pair.

    Pair p has its reduced node costs in the first columns of ``field`` from row ``top[p]`` on, ``n[p]`` nodes in the
    one graph from ``u[p]`` on and ``m[p]`` in the other from ``v[p]`` on, where ``pairs`` is top, u, n, v, m. Its edges
    cost ``weight[p]`` times those of ``graphs``. All pairs start from the same seed, so that an assignment is a
    property of its pair.

    Returns:
        -1, or the number of the first pair that cannot be solved.
    """
    (top, u, n, v, m), (a, b, edge) = pairs, graphs
    if not (top.size == u.size == n.size == v.size == m.size == weight.size == bound.size):
        raise IndexError("the arrays of pairs differ in size")
    total_rows = 0
    for p in range(top.size):
        if not (fits(a, u[p], n[p], edge.shape[0]) and fits(b, v[p], m[p], edge.shape[1])):
            raise IndexError("a graph names a node or an edge that is not there")
        if not (0 <= top[p] <= field.shape[0] - n[p] and m[p] <= field.shape[1]):
            raise IndexError("a block is not in the field")
        total_rows += n[p]
    if partner.size != total_rows:
        raise IndexError("there are not as many partners as rows")
    memory, here = room(n, m), 0
    for p in range(top.size):
        node = field[top[p] : top[p] + n[p], : m[p]].copy()
        one, other = (a[0][u[p] : u[p] + n[p] + 1], a[1], a[2]), (b[0][v[p] : v[p] + m[p] + 1], b[1], b[2])
        pair = one, other, edge * weight[p]
        bound[p] = solve_pair(node, pair, rounds, seed, partner[here : here + n[p]], memory)
        if np.isnan(bound[p]):
            return p
        here += n[p]
    return -1


PLAIN = interpreted(vars(moves), globals(), **SCIPY)
"""The same functions without numba."""
