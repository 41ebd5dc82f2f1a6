"""The assignments of many pairs in one compiled loop, where numba is installed (extra ``fast``).

Shortest augmenting paths in the order of Crouse (2016), which scipy follows too: the same answer to the last tie, so
that results do not depend on whether numba is there. It is faster because one call solves many pairs, and because all
columns are looked at in every step, the scanned ones behind a wall of infinity, which the processor does several at a
time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from epic.assignment.exact import LOWEST

INTEGERS, FIELD, VALUES = "int64[::1]", "float{bits}[:, ::1]", "float{bits}[::1]"


def fast(signature: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile for both precisions now, in a fixed order: several processes may fill the cache on disk at once, and
    numba names what it keeps there by the order in which it comes.
    """

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        signatures = list(dict.fromkeys(signature.format(bits=bits) for bits in (32, 64)))
        how = {"nogil": True, "error_model": "numpy", **options}
        try:
            return njit(signatures, cache=True, **how)(function)
        except RuntimeError:  # no folder to keep it in
            return njit(signatures, **how)(function)

    return compiled


@fast("int64[::1](float64[:, ::1])", fastmath={"nnan", "nsz"})
def assign_rows(cost: np.ndarray) -> np.ndarray:
    """The cheapest column of its own for every row, where there are no more rows than columns."""
    n, m = cost.shape
    row_price, column_price = np.zeros(n), np.zeros(m)
    column_of, row_of = np.full(n, -1), np.full(m, -1)
    distance, wall, final = np.empty(m), np.empty(m), np.empty(m)
    before, scanned, order, place = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64), np.arange(m)
    for start in range(n):
        for j in range(m):
            distance[j] = np.inf
            wall[j] = 0.0
            order[j] = m - 1 - j
            place[j] = m - 1 - j
        open_columns, row, low = m, start, 0.0
        while True:
            line, price = cost[row], row_price[row]
            for j in range(m):
                through = (((low + line[j]) - price) - column_price[j]) + wall[j]
                nearer = through < distance[j]
                distance[j] = through if nearer else distance[j]
                before[j] = row if nearer else before[j]
            low = np.inf
            for j in range(m):
                low = min(low, distance[j])
            hits = 0
            for j in range(m):
                hits += distance[j] == low
            column = 0
            if hits == 1:
                while distance[column] != low:
                    column += 1
            else:  # the last free column as near as any, else the first taken one, in the order that scans leave
                fresh = True
                for q in range(open_columns):
                    j = order[q]
                    if distance[j] == low and (fresh or row_of[j] < 0):
                        column, fresh = j, False
            scanned[m - open_columns] = column
            final[column] = low
            open_columns -= 1
            moved = order[open_columns]
            order[place[column]] = moved
            place[moved] = place[column]
            if row_of[column] < 0:
                break
            distance[column] = np.inf
            wall[column] = np.inf
            row = row_of[column]
        row_price[start] += low
        for s in range(m - open_columns):
            j = scanned[s]
            if row_of[j] >= 0:
                row_price[row_of[j]] += low - final[j]
            column_price[j] -= low - final[j]
        while True:  # exchange columns along the path back to the start
            row = before[column]
            row_of[column] = row
            column_of[row], column = column, column_of[row]
            if row == start:
                break
    return column_of


@fast(f"int64({FIELD}, {', '.join(5 * [INTEGERS])})")
def solve(
    field: np.ndarray, top: np.ndarray, left: np.ndarray, rows: np.ndarray, columns: np.ndarray, partner: np.ndarray
) -> int:
    """Fill ``partner`` with the column of every row of every block of ``field``, block after block; -1 where none.

    Block p has its corner at ``(top[p], left[p])``. Entries above 0 count as 0 and are not taken. Gives -1, or the
    number of the first block with NaN or something below ``LOWEST``, on which the search would never end.
    """
    first = 0
    for p in range(top.size):
        n, m = rows[p], columns[p]
        block = field[top[p] : top[p] + n, left[p] : left[p] + m]
        wide = n <= m
        cost = np.empty((n, m) if wide else (m, n))
        for u in range(n):
            for v in range(m):
                gain = block[u, v]
                if not gain > LOWEST:
                    return p
                if wide:
                    cost[u, v] = min(gain, 0.0)
                else:
                    cost[v, u] = min(gain, 0.0)
        column_of = assign_rows(cost)
        partner[first : first + n] = -1
        for row in range(column_of.size):
            u, v = (row, column_of[row]) if wide else (column_of[row], row)
            if block[u, v] <= 0.0:
                partner[first + u] = v
        first += n
    return -1


@fast(f"void({FIELD}, {', '.join(3 * [INTEGERS])}, {VALUES}, {INTEGERS}, {VALUES}, {INTEGERS})")
def gains_of_squares(
    field: np.ndarray,
    top: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    lost: np.ndarray,
    u: np.ndarray,
    won: np.ndarray,
    v: np.ndarray,
) -> None:
    """Turn squared distances into gains, in place: root, less what deleting the row's node and inserting the column's
    costs.

    Blocks begin at ``top`` and the left edge, their nodes at ``u`` in ``lost`` and ``v`` in ``won``. Every step is
    rounded to the precision of the field, as numpy would.
    """
    for p in range(rows.size):
        for i in range(rows[p]):
            line, price = field[top[p] + i], lost[u[p] + i]
            for j in range(columns[p]):
                line[j] = np.sqrt(max(line[j], 0.0))
                line[j] -= price
                line[j] -= won[v[p] + j]
