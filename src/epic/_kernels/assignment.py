"""Exact assignments of many pairs in one compiled loop.

Shortest augmenting paths in the order of Crouse (2016), which scipy follows too: the same answer, ties included. It is
faster because one call solves many pairs, and because every step looks at all columns (scanned ones are hidden by an
infinite distance), which the processor does several at a time.

There are two entry points: :func:`solve` for given reduced costs, :func:`solve_euclidean` for embeddings.
"""

from __future__ import annotations

import numpy as np

from epic._kernels.backend import FIELD, INTEGERS, LOWEST, VALUES, jit

ROOM = "Tuple((float64[::1], float64[:, ::1], int64[:, ::1]))"
SIDE = f"Tuple(({FIELD}, {VALUES}, {VALUES}))"
STEP = 16
"""Rows of costs are padded to multiples of this: the compiler handles so many columns at a time, the rest singly."""


@jit("Tuple((float64, int64, boolean))(float64[::1], int64[::1])", fastmath={"nnan", "nsz"})
def nearest(distance: np.ndarray, rank: np.ndarray) -> tuple[float, int, bool]:
    """Return the least distance, the place in the order of a column that has it, and whether that column is free.

    Of equally near columns scipy takes the last free one, else the first matched one. ``rank`` is larger for columns
    that are preferred, so that the choice is a maximum: the width plus the place for a free column, the width minus one
    minus the place for a matched one.
    """
    low, best, width = np.inf, -1, distance.size
    # Loops that do one thing each: the compiler then does several columns at a time.
    for j in range(width):
        low = min(low, distance[j])
    for j in range(width):
        best = max(best, rank[j] if distance[j] == low else -1)
    free = best >= width
    return low, best - width if free else width - 1 - best, free


@jit(f"{ROOM}({INTEGERS}, {INTEGERS})")
def room(rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Allocate memory for the largest of these pairs: for costs, for numbers and for indices.

    Allocating it for every pair is slow, and it would not be in the cache.
    """
    area, width = 0, 0
    for p in range(rows.size):
        padded = -(-max(rows[p], columns[p]) // STEP) * STEP
        area, width = max(area, min(rows[p], columns[p]) * padded), max(width, padded)
    return np.empty(area), np.empty((5, width)), np.empty((7, width), np.int64)


@jit("int64[::1](float64[:, ::1], int64, float64[:, ::1], int64[:, ::1])", fastmath={"nnan", "nsz"})
def assign_rows(cost: np.ndarray, m: int, real: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Match every row to a column of its own at the least total cost.

    There are no more rows than the ``m`` columns; further columns hold infinity. ``real`` and ``whole`` are working
    memory. The order in which equally near columns are considered starts reversed, and the last column moves to the
    place of one that is removed; see :func:`nearest` for their ranks.
    """
    n, width = cost.shape
    row_price, column_price, distance, final = real[0, :width], real[1, :width], real[2, :width], real[3, :width]
    open_price = real[4, :width]  # column_price, but minus infinity where a column was scanned: nothing comes nearer
    row_of, column_of, before, scanned = whole[0, :width], whole[1, :n], whole[2, :width], whole[3, :width]
    order, rank, first_rank = whole[4, :width], whole[5, :width], whole[6, :width]
    row_price[:] = column_price[:] = open_price[:] = 0.0
    row_of[:] = column_of[:] = -1
    for j in range(width):
        first_rank[j] = width + m - 1 - j
    for start in range(n):
        line = cost[start]
        for j in range(width):
            distance[j] = line[j] - column_price[j]
        low, place, free = nearest(distance, first_rank)
        column = m - 1 - place
        if free:  # half of all rows
            row_price[start], row_of[column], column_of[start] = low, start, column
            first_rank[column] = width - 1 - place
            continue
        for j in range(width):
            before[j] = start
            order[j] = m - 1 - j
            rank[j] = first_rank[j]
        count = 0
        while True:
            scanned[count], final[count] = column, low
            count += 1
            row = row_of[column]
            if row < 0:
                break
            moved = order[m - count]
            order[place] = moved
            rank[moved] = width + place if row_of[moved] < 0 else width - 1 - place
            distance[column], open_price[column] = np.inf, -np.inf
            line, price = cost[row], row_price[row]
            for j in range(width):
                through = ((low + line[j]) - price) - open_price[j]
                old, was = distance[j], before[j]
                nearer = through < old
                distance[j] = through if nearer else old
                before[j] = row if nearer else was
            low, place, free = nearest(distance, rank)
            column = order[place]
        row_price[start] = low
        for s in range(count):
            j = scanned[s]
            if row_of[j] >= 0:
                row_price[row_of[j]] += low - final[s]
            column_price[j] -= low - final[s]
            open_price[j] = column_price[j]
        first_rank[column] = width - 1 - (m - 1 - column)
        while True:  # exchange columns along the path back to the start
            row = before[column]
            row_of[column] = row
            column_of[row], column = column, column_of[row]
            if row == start:
                break
    return column_of


@jit(f"boolean({FIELD}, int64, int64, int64, {INTEGERS}, {ROOM})")
def solve_block(field: np.ndarray, top: int, left: int, m: int, partner: np.ndarray, memory: tuple) -> bool:
    """Fill ``partner`` with the column of every row of one block, -1 where none.

    The block has its corner at ``(top, left)`` and ``m`` columns; ``memory`` comes from :func:`room`. Entries above 0
    count as 0 and are not matched.

    Returns:
        False where an entry is NaN or below ``LOWEST``, on which the search would never end.
    """
    n, (costs, real, whole) = partner.size, memory
    wide = n <= m
    few, many = (n, m) if wide else (m, n)
    width = -(-many // STEP) * STEP
    cost = costs[: few * width].reshape(few, width)
    for u in range(n):
        line, bad = field[top + u, left : left + m], 0
        for v in range(m):
            bad += not line[v] > LOWEST
        if bad:
            return False
        if wide:
            to = cost[u]
            for v in range(m):
                to[v] = min(line[v], 0.0)
        else:
            for v in range(m):
                cost[v, u] = min(line[v], 0.0)
    for row in range(few):
        cost[row, many:] = np.inf
    column_of = assign_rows(cost, many, real, whole)
    partner[:] = -1
    for row in range(column_of.size):
        u, v = (row, column_of[row]) if wide else (column_of[row], row)
        if field[top + u, left + v] <= 0.0:
            partner[u] = v
    return True


@jit(f"int64({FIELD}, {', '.join(5 * [INTEGERS])})")
def solve(
    field: np.ndarray, top: np.ndarray, left: np.ndarray, rows: np.ndarray, columns: np.ndarray, partner: np.ndarray
) -> int:
    """Fill ``partner`` with the column of every row of every block of ``field``, block after block.

    Block p has its corner at ``(top[p], left[p])``.

    Returns:
        -1, or the number of the first block that cannot be solved.
    """
    first, memory = 0, room(rows, columns)
    for p in range(top.size):
        if not (0 <= top[p] <= field.shape[0] - rows[p] and 0 <= left[p] <= field.shape[1] - columns[p]):
            raise IndexError("a block is not in the field")
        here = partner[first : first + rows[p]]
        if not solve_block(field, top[p], left[p], columns[p], here, memory):
            return p
        first += rows[p]
    return -1


@jit(f"int64({SIDE}, {SIDE}, UniTuple({INTEGERS}, 4), boolean[::1], {INTEGERS})")
def solve_euclidean(a: tuple, b: tuple, pairs: tuple, small: np.ndarray, partner: np.ndarray) -> int:
    """Fill ``partner`` for the pairs that are ``small``, from embeddings, their squared lengths and prices.

    Pair p has ``n[p]`` rows from ``u[p]`` on and ``m[p]`` columns from ``v[p]`` on, where ``pairs`` is u, n, v, m.

    Every step is rounded to the precision of the embeddings, as in ``EuclideanReducedCosts.__call__``. One pair is
    solved after the other, so that its matrix stays in the cache.

    Returns:
        -1, or the number of the first pair that cannot be solved.
    """
    (source, source_square, deletion), (target, target_square, insertion), (u, n, v, m) = a, b, pairs
    if not (u.size == n.size == v.size == m.size == small.size and source.shape[1] == target.shape[1]):
        raise IndexError("rows and pairs do not belong together")
    rows = min(source.shape[0], source_square.size, deletion.size)
    columns = min(target.shape[0], target_square.size, insertion.size)
    zero, two = source.dtype.type(0), source.dtype.type(2)  # plain numbers would have all done in float64
    largest, total = 0, 0
    for p in range(u.size):
        if not (n[p] >= 0 and 0 <= u[p] <= rows - n[p]):
            raise IndexError("there is no such row")
        if not (m[p] >= 0 and 0 <= v[p] <= columns - m[p]):
            raise IndexError("there is no such column")
        largest, total = max(largest, n[p] * m[p] if small[p] else 0), total + n[p]
    if partner.size != total:
        raise IndexError("there are not as many partners as rows")
    product, top, memory = np.empty(largest, source.dtype), 0, room(n, m)
    for p in range(u.size):
        first, last = v[p], v[p] + m[p]
        if small[p]:
            block = product[: n[p] * m[p]].reshape(n[p], m[p])
            np.dot(source[u[p] : u[p] + n[p]], target[first:last].T, block)
            squares, prices = target_square[first:last], insertion[first:last]
            for i in range(n[p]):
                line, square, price = block[i], source_square[u[p] + i], deletion[u[p] + i]
                for j in range(m[p]):
                    distance = np.sqrt(max((square - two * line[j]) + squares[j], zero))
                    line[j] = (distance - price) - prices[j]
            if not solve_block(block, 0, 0, m[p], partner[top : top + n[p]], memory):
                return p
        top += n[p]
    return -1
