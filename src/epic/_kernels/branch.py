"""The cheapest assignment that counts edges too, by depth-first branch and bound.

Costs are reduced as in :mod:`epic._kernels.edges`. Source nodes are decided one after the other. Where some are
decided, the rest costs no less than an assignment in which an edge to a decided node counts in full and an edge
between two undecided ones counts half at each end. Its optimum is the bound, and completes the decided nodes to an
assignment that may be the best so far.
"""

from __future__ import annotations

import numpy as np

from epic._kernels import moves
from epic._kernels.assignment import room, solve_block
from epic._kernels.backend import INTEGERS, SCIPY, interpreted, jit
from epic._kernels.moves import MATRIX, PAIR, REALS, linearise, place

STATE = f"Tuple(({', '.join(7 * [INTEGERS])}, int64[:, ::1], {REALS}, {REALS}))"


@jit(f"void({INTEGERS}, {INTEGERS}, {INTEGERS})")
def fill_order(ptr: np.ndarray, to: np.ndarray, order: np.ndarray) -> None:
    """List the source nodes so that each has many neighbours before it, those of high degree first."""
    n = order.size
    known = np.zeros(n, np.int64)
    for k in range(n):
        best, most, degree = -1, -1, -1
        for u in range(n):
            here = ptr[u + 1] - ptr[u]
            if known[u] >= 0 and (known[u] > most or (known[u] == most and here > degree)):
                best, most, degree = u, known[u], here
        order[k] = best
        known[best] = -1
        for x in range(ptr[best], ptr[best + 1]):
            if known[to[x]] >= 0:
                known[to[x]] += 1


@jit(f"float64(int64, int64, {INTEGERS}, {INTEGERS}, {PAIR})")
def hope(u: int, v: int, decided: np.ndarray, origin: np.ndarray, pair: tuple) -> float:
    """Return half of a lower bound of the cost of matching the edges of u and v whose other ends are undecided."""
    (ap, at, ac), (bp, bt, bc), edge = pair
    if edge.shape == (2, 2):  # all edges are alike
        p, q = 0, 0
        for x in range(ap[u], ap[u + 1]):
            p += decided[at[x]] == 0
        for y in range(bp[v], bp[v + 1]):
            q += origin[bt[y]] < 0
        return 0.5 * min(p, q) * edge[1, 1]
    one, other = 0.0, 0.0
    for x in range(ap[u], ap[u + 1]):
        if decided[at[x]] == 0:
            best = 0.0
            for y in range(bp[v], bp[v + 1]):
                if origin[bt[y]] < 0:
                    best = min(best, edge[ac[x], bc[y]])
            one += best
    for y in range(bp[v], bp[v + 1]):
        if origin[bt[y]] < 0:
            best = 0.0
            for x in range(ap[u], ap[u + 1]):
                if decided[at[x]] == 0:
                    best = min(best, edge[ac[x], bc[y]])
            other += best
    return 0.5 * max(one, other)


@jit(f"int64({MATRIX}, {MATRIX}, {PAIR}, {STATE}, float64, int64)")
def search(node: np.ndarray, gradient: np.ndarray, pair: tuple, state: tuple, step: float, budget: int) -> int:
    """Continue a search for at most ``budget`` bounds.

    At depth k the nodes ``order[:k]`` are decided at the cost ``fixed[k]``; ``children[k, tried[k]:count[k]]`` are the
    target nodes that are still to be tried for the next one (-1: none), at a cost of at least ``bound[k]``. ``best`` is
    the best assignment and ``fixed[n + 1]`` its cost. ``depth[0]`` is the present depth, -1 at the end; ``tried[k]`` is
    -1 where depth k has not been bounded yet. Assignments count as better only by ``step`` at least.

    Returns:
        How many bounds were computed.
    """
    order, match, origin, best, depth, tried, count, children, fixed, bound = state
    n, m = node.shape
    memory = room(np.array([n]), np.array([m]))
    block, partner, columns = np.empty((n, m)), np.empty(n, np.int64), np.empty(m, np.int64)
    trial, trial_origin, trial_gradient = np.empty(n, np.int64), np.empty(m, np.int64), np.empty((n, m))
    decided = np.zeros(n, np.int64)
    for k in range(max(depth[0], 0)):
        decided[order[k]] = 1
    work = 0
    while depth[0] >= 0 and work < budget:
        k = depth[0]
        if tried[k] < 0:  # a new place: bound it
            work += 1
            free = 0
            for v in range(m):
                if origin[v] < 0:
                    columns[free] = v
                    free += 1
            for r in range(n - k):
                u = order[k + r]
                for c in range(free):
                    v = columns[c]
                    block[r, c] = gradient[u, v] + hope(u, v, decided, origin, pair)
            solve_block(block, 0, 0, free, partner[: n - k], memory)
            low = fixed[k]
            trial[:] = match
            for r in range(n - k):
                if partner[r] >= 0:
                    low += block[r, partner[r]]
                    trial[order[k + r]] = columns[partner[r]]
            bound[k], tried[k], count[k] = low, 0, 0
            cost = linearise(node, trial_gradient, trial, trial_origin, pair)
            if cost <= fixed[n + 1] - step:
                fixed[n + 1] = cost
                best[:] = trial
            if k < n and low <= fixed[n + 1] - step:
                price = np.zeros(free + 1)
                price[:free] = block[0, :free]
                first = partner[0] if partner[0] >= 0 else free
                price[first] = -np.inf
                ranked = np.argsort(price, kind="mergesort")
                for c in range(free + 1):
                    children[k, c] = columns[ranked[c]] if ranked[c] < free else -1
                count[k] = free + 1
        u = order[k] if k < n else -1
        if tried[k] < count[k] and bound[k] <= fixed[n + 1] - step:
            v = children[k, tried[k]]
            tried[k] += 1
            match[u], decided[u] = v, 1
            fixed[k + 1] = fixed[k]
            if v >= 0:
                fixed[k + 1] += gradient[u, v]
                origin[v] = u
                place(u, v, 1.0, gradient, pair)
            depth[0], tried[k + 1] = k + 1, -1
        else:  # nothing left here: go back
            count[k] = 0
            depth[0] = k - 1
            if k > 0:
                u = order[k - 1]
                v = match[u]
                match[u], decided[u] = -1, 0
                if v >= 0:
                    origin[v] = -1
                    place(u, v, -1.0, gradient, pair)
    return work


PLAIN = interpreted(vars(moves), globals(), **SCIPY)
"""The same functions without numba."""
