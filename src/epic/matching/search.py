"""The cheapest assignment of one pair that counts nodes and edges, by branch and bound."""

from __future__ import annotations

import time

import numpy as np

from epic._kernels import backend
from epic._kernels.backend import LOWEST
from epic.matching.edges import EdgePairs
from epic.matching.exact import refuse

BUDGET = 2000
"""Bounds that a search computes between two looks at the clock."""


def search(p: EdgePairs, start: np.ndarray, *, time_limit: float | None = None) -> tuple[np.ndarray, float, bool]:
    """Find the cheapest assignment of one pair by depth-first branch and bound.

    Args:
        p: one pair.
        start: an assignment to improve on: for each source node a target node, or -1.
        time_limit: seconds after which to stop (default: none).

    Returns:
        The best assignment found, a lower bound of what any adds to deleting and inserting all, and whether the search
        came to its end, so that the assignment is the cheapest.
    """
    from epic._kernels import branch

    run = vars(branch) if backend.enabled() else branch.PLAIN
    n, m, (a, b, edge) = int(p.n[0]), int(p.m[0]), p.single
    node = p.node[:n, :m]
    if node.size and not float(node.min()) > LOWEST:
        refuse(0)
    turned = n > m  # the smaller graph is decided node by node
    best = start.astype(np.int64)
    if turned:
        node, edge, a, b, best = node.T, edge.T, b, a, inverse(best, m)
        n, m = m, n
    node, edge = np.ascontiguousarray(node), np.ascontiguousarray(edge)
    pair = a, b, edge
    scale = max(float(np.abs(node[np.isfinite(node)]).max(initial=0.0)), float(np.abs(edge).max(initial=0.0)))
    step = 1.0 - 1e-6 if p.whole else 1e-9 * scale
    order, match, origin = np.empty(n, np.int64), np.full(n, -1), np.full(m, -1)
    run["fill_order"](a[0], a[1], order)
    gradient = np.empty_like(node)
    fixed, bound = np.zeros(n + 2), np.zeros(n + 1)
    fixed[n + 1] = run["linearise"](node, gradient, best, origin, pair)
    origin[:], gradient[:] = -1, node
    depth, tried, count = np.zeros(1, np.int64), np.full(n + 1, -1), np.zeros(n + 1, np.int64)
    children = np.empty((n + 1, m + 1), np.int64)
    state = order, match, origin, best, depth, tried, count, children, fixed, bound
    begin = time.perf_counter()
    bound[0] = -np.inf
    budget = BUDGET if backend.enabled() else 20
    while depth[0] >= 0:
        run["search"](node, gradient, pair, state, step, budget)
        if time_limit is not None and time.perf_counter() - begin > time_limit:
            break
    done = bool(depth[0] < 0)
    top = float(fixed[n + 1])
    open_at = [k for k in range(int(depth[0]) + 1) if tried[k] < 0 or tried[k] < count[k]]
    # A place that was not bounded costs no less than the one above it.
    lower = top if done else min([top, *(float(bound[k] if tried[k] >= 0 else bound[max(k - 1, 0)]) for k in open_at)])
    if p.whole and np.isfinite(lower):
        lower = float(np.ceil(lower - 1e-6))
    return (inverse(best, m) if turned else best), lower, done


def inverse(match: np.ndarray, size: int) -> np.ndarray:
    """Return for each of ``size`` target nodes the source node that it replaces, -1 where none."""
    out = np.full(size, -1, dtype=np.int64)
    kept = np.flatnonzero(match >= 0)
    out[match[kept]] = kept
    return out
