"""Assignments of large graphs that count edges, made cheaper region by region.

A region is a ball of source nodes, a ball of target nodes about the image of its middle, and the partners of both: no
node inside has a partner outside. With all outside held fixed, it is a small pair of graphs. What its nodes save by
edges to outside is added to their reduced costs, so that the cost of the region falls as that of the whole does.

Without numba the same functions are interpreted (:func:`epic._kernels.backend.interpreted`).
"""

from __future__ import annotations

import numpy as np

from epic._kernels import moves
from epic._kernels.backend import INTEGERS, interpreted, jit
from epic._kernels.moves import GRAPH, MATRIX, PAIR, REALS, descend, draw, largest, linearise, rematch, total

LISTS = f"UniTuple({INTEGERS}, 2)"
"""One of the source and one of the target: partners, nodes of a region, or places of all nodes in it."""


@jit(f"int64({GRAPH}, int64, int64, {INTEGERS}, {INTEGERS}, {INTEGERS})")
def ball(graph: tuple, middle: int, size: int, nodes: np.ndarray, place: np.ndarray, state: np.ndarray) -> int:
    """List up to ``size`` nodes, nearest first, and where each stands in the list; return how many they are.

    Which neighbours of a hub come first is random, so that all are visited eventually.
    """
    ptr, to, _ = graph
    nodes[0], place[middle] = middle, 0
    head, tail = 0, 1
    while head < tail < size:
        first, degree = ptr[nodes[head]], ptr[nodes[head] + 1] - ptr[nodes[head]]
        turn = int(draw(state) * degree)
        for k in range(degree):
            w = to[first + (k + turn) % degree]
            if place[w] < 0 and tail < size:
                nodes[tail], place[w] = w, tail
                tail += 1
        head += 1
    return tail


@jit(f"int64({INTEGERS}, int64, {INTEGERS}, {INTEGERS}, int64, {INTEGERS})")
def add_partners(
    nodes: np.ndarray, count: int, partner: np.ndarray, others: np.ndarray, size: int, place: np.ndarray
) -> int:
    """Append the partners of the first ``count`` nodes to ``size`` others; return how many these are then."""
    for k in range(count):
        v = partner[nodes[k]]
        if v >= 0 and place[v] < 0:
            others[size], place[v] = v, size
            size += 1
    return size


@jit(f"UniTuple(int64, 2)({PAIR}, int64, int64, {LISTS}, {LISTS}, {LISTS}, {INTEGERS})")
def choose_region(
    pair: tuple, u: int, size: int, partners: tuple, nodes: tuple, places: tuple, state: np.ndarray
) -> tuple[int, int]:
    """List the nodes of the region about source node ``u``: balls of ``size`` nodes, and their partners.

    Returns:
        How many source and target nodes there are: none if neither ``u`` nor a neighbour of it is matched.
    """
    (a, b, _), (match, origin), (rows, columns), (row_place, column_place) = pair, partners, nodes, places
    v = match[u]
    for x in range(a[0][u], a[0][u + 1]):
        if v < 0:
            v = match[a[1][x]]
    if v < 0:
        return 0, 0
    n = ball(a, u, size, rows, row_place, state)
    m = ball(b, v, size, columns, column_place, state)
    more = add_partners(columns, m, origin, rows, n, row_place)
    return more, add_partners(rows, n, match, columns, m, column_place)


@jit(f"{GRAPH}({GRAPH}, {INTEGERS}, {INTEGERS})")
def induced(graph: tuple, nodes: np.ndarray, place: np.ndarray) -> tuple:
    """Return the graph of some nodes and the edges among them."""
    ptr, to, code = graph
    most = 0
    for u in nodes:
        most += ptr[u + 1] - ptr[u]
    first, ends, codes, size = np.zeros(nodes.size + 1, np.int64), np.empty(most, np.int64), np.empty(most, np.int64), 0
    for k in range(nodes.size):
        for x in range(ptr[nodes[k]], ptr[nodes[k] + 1]):
            if place[to[x]] >= 0:
                ends[size], codes[size] = place[to[x]], code[x]
                size += 1
        first[k + 1] = size
    return first, ends[:size].copy(), codes[:size].copy()


@jit(f"void({MATRIX}, {INTEGERS}, {INTEGERS}, {LISTS}, {PAIR})")
def add_outside(node: np.ndarray, rows: np.ndarray, match: np.ndarray, places: tuple, pair: tuple) -> None:
    """Add to reduced costs what edges to matched nodes outside the region save."""
    ((ap, at, ac), (bp, bt, bc), edge), (row_place, column_place) = pair, places
    for u in rows:
        for x in range(ap[u], ap[u + 1]):
            w = at[x]
            if row_place[w] == -1:
                row_place[w] = -2  # seen
                for y in range(ap[w], ap[w + 1] if match[w] >= 0 else ap[w]):
                    k = row_place[at[y]]
                    for z in range(bp[match[w]], bp[match[w] + 1] if k >= 0 else bp[match[w]]):
                        if column_place[bt[z]] >= 0:
                            node[k, column_place[bt[z]]] += edge[ac[y], bc[z]]
    for u in rows:
        for x in range(ap[u], ap[u + 1]):
            row_place[at[x]] = max(row_place[at[x]], -1)


@jit(f"float64({MATRIX}, {PAIR}, UniTuple({REALS}, 2), float64, {LISTS}, {LISTS}, {LISTS}, {INTEGERS})")
def improve_region(
    node: np.ndarray,
    pair: tuple,
    hopes: tuple,
    eps: float,
    partners: tuple,
    nodes: tuple,
    places: tuple,
    state: np.ndarray,
) -> float:
    """Descend in a region, match a part of it again, keep what does not cost more; return by how much the cost fell.

    ``node`` holds the reduced costs of ``nodes``, and is changed. The hope of a node is the most that its edges can
    save. The places of all nodes are -1 after.
    """
    n, m = node.shape
    (a, b, edge), (match, origin), (rows, columns), (row_place, column_place) = pair, partners, nodes, places
    add_outside(node, rows, match, places, pair)
    inner = induced(a, rows, row_place), induced(b, columns, column_place), edge
    half, gradient, best, inverse = np.empty((n, m)), np.empty((n, m)), np.empty(n, np.int64), np.empty(m, np.int64)
    for i in range(n):
        best[i] = column_place[match[rows[i]]] if match[rows[i]] >= 0 else -1
        for j in range(m):
            half[i, j] = 0.5 * max(hopes[0][rows[i]], hopes[1][columns[j]])
    scale, low = largest(inner), linearise(node, gradient, best, inverse, inner)
    begin, found = low, best.copy()
    for again in range(2):
        if again:
            found[:] = best
            linearise(node, gradient, found, inverse, inner)
            rematch(gradient, half, scale, eps, found, inverse, inner, state)
        else:
            descend(gradient, eps, found, inverse, inner)
        cost = total(node, gradient, found)
        if cost <= low:
            low = cost
            best[:] = found
    for j in range(m):
        origin[columns[j]], column_place[columns[j]] = -1, -1
    for i in range(n):
        match[rows[i]], row_place[rows[i]] = -1, -1
        if best[i] >= 0:
            match[rows[i]], origin[columns[best[i]]] = columns[best[i]], rows[i]
    return begin - low


PLAIN = interpreted(vars(moves), globals())
"""The same functions without numba."""
