"""The cheapest set of substitutions, deletions and insertions that turns one node set into another.

Riesen and Bunke (2009) solve a square problem of n + m rows. Deleting u and inserting v is always possible at ``d[u] +
i[v]``, so only the reduced cost ``S[u, v] - d[u] - i[v]`` of a substitution matters, and an n x m problem has the same
optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import torch
from torch import Tensor

from epic._kernels import backend
from epic._kernels.backend import LOWEST, scipy_block
from epic.errors import InputError
from epic.graphs.ragged import padded_mask, ranges


@dataclass(frozen=True)
class PaddedAssignment:
    """Assignments of padded pairs.

    ``match[p, u]`` is the target node that replaces source node u, or -1 if u is deleted; target nodes that no one
    matches are inserted. ``distance[p]`` is the cost.
    """

    match: Tensor
    distance: Tensor


def assign(substitution: Tensor, deletion: Tensor, insertion: Tensor) -> PaddedAssignment:
    """Solve one pair exactly.

    Args:
        substitution: prices ``[n, m]``.
        deletion: prices ``[n]``.
        insertion: prices ``[m]``.

    Returns:
        The assignment and its cost, without the leading dimension.

    >>> a = assign(torch.tensor([[0.1, 5.0], [5.0, 5.0]]), torch.ones(2), torch.ones(2))
    >>> a.match.tolist(), round(a.distance.item(), 3)
    ([0, -1], 2.1)
    """
    result = assign_batch(substitution[None], deletion[None], insertion[None])
    return PaddedAssignment(result.match[0], result.distance[0])


def assign_batch(
    substitution: Tensor,
    deletion: Tensor,
    insertion: Tensor,
    *,
    rows: Tensor | None = None,
    columns: Tensor | None = None,
) -> PaddedAssignment:
    """Solve P pairs padded to one size.

    Args:
        substitution: prices ``[P, n, m]``.
        deletion: prices ``[P, n]``.
        insertion: prices ``[P, m]``.
        rows: source nodes of each pair (default: n).
        columns: target nodes of each pair (default: m).

    Returns:
        The assignments, with -1 on padded rows too. ``distance`` is differentiable in the costs: the assignment is held
        fixed, which gives the exact gradient of the minimum wherever it is unique.
    """
    pairs, n, m = substitution.shape
    device = substitution.device
    rows = torch.full((pairs,), n) if rows is None else rows.cpu()
    columns = torch.full((pairs,), m) if columns is None else columns.cpu()
    if pairs and (rows.max() > n or columns.max() > m or min(rows.min(), columns.min()) < 0):
        raise InputError(f"rows and columns must lie between 0 and the {n} x {m} of the costs")
    with torch.no_grad():
        reduced = (substitution - deletion[:, :, None] - insertion[:, None, :]).cpu().numpy()
        top = np.arange(pairs) * n
        found = np.full(pairs * n, -1, dtype=np.int64)
        found[ranges(top, rows.numpy())] = assign_blocks(
            reduced.reshape(pairs * n, m), top=top, left=np.zeros_like(top), rows=rows.numpy(), columns=columns.numpy()
        )
        match = torch.from_numpy(found.reshape(pairs, n)).to(device)
    row, column = padded_mask(rows.to(device), n), padded_mask(columns.to(device), m)
    kept, to = match >= 0, match.clamp_min(0)
    total = (deletion * (row & ~kept)).sum(1) + (insertion * column).sum(1)
    if m:
        total = total + torch.where(
            kept, substitution.gather(2, to[:, :, None])[:, :, 0] - insertion.gather(1, to), 0.0
        ).sum(1)
    return PaddedAssignment(match, total)


def assign_blocks(
    field: np.ndarray, *, top: np.ndarray, left: np.ndarray, rows: np.ndarray, columns: np.ndarray, first: int = 0
) -> np.ndarray:
    """Decide what to substitute in each of many pairs, given the ``field`` of their reduced costs.

    Pair p is the block ``field[top[p] : top[p] + rows[p], left[p] : left[p] + columns[p]]``. At a tie substitution is
    preferred: it keeps the two graphs more alike on the way. Infinity forbids a substitution.

    Returns:
        The column of every row within its block, pair after pair; -1 where none. Errors count pairs from ``first``.
    """
    if field.dtype not in (np.float32, np.float64):
        field = field.astype(np.float64)
    partner = np.empty(int(rows.sum()), dtype=np.int64)
    top, left, rows, columns = (np.ascontiguousarray(a, dtype=np.int64) for a in (top, left, rows, columns))
    if backend.enabled():
        from epic._kernels.assignment import solve

        bad = solve(np.ascontiguousarray(field), top, left, rows, columns, partner)
    else:
        bad = solve_each(field, top, left, rows, columns, partner)
    if bad >= 0:
        refuse(first + bad)
    return partner


def solve_each(
    field: np.ndarray, top: np.ndarray, left: np.ndarray, rows: np.ndarray, columns: np.ndarray, partner: np.ndarray
) -> int:
    """Fill ``partner`` pair by pair with scipy; return -1, or the number of the first pair that cannot be solved."""
    first = 0
    for p, (t, l, n, m) in enumerate(zip(*(a.tolist() for a in (top, left, rows, columns)), strict=True)):
        if not scipy_block(field, t, l, m, partner[first : first + n]):
            return p
        first += n
    return -1


def refuse(pair: int) -> NoReturn:
    """Raise the error for a pair on which no search would end."""
    raise InputError(f"the costs of pair {pair} hold NaN or infinity, or are beyond {-LOWEST:g}: give finite numbers")
