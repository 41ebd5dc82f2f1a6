"""The cheapest set of substitutions, deletions and insertions that turns one node set into another.

Riesen and Bunke (2009) solve a square problem of n + m rows. Deleting u and inserting v is always possible at ``d[u] +
i[v]``, so only the gain ``S[u, v] - d[u] - i[v]`` of a substitution matters, and an n x m problem has the same optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from epic._kernels.backend import compiled
from epic.errors import InputError
from epic.graphs.ragged import ranges

LOWEST = -1e300
"""ReducedCosts below this are refused: their sums could overflow."""


@dataclass(frozen=True)
class PaddedAssignment:
    """``match[u]`` is the target node that replaces source node u, or -1 if u is deleted; what no one matches is
    inserted.
    """

    match: Tensor
    distance: Tensor


def assign(substitution: Tensor, deletion: Tensor, insertion: Tensor) -> PaddedAssignment:
    """Solve one pair exactly: ``substitution`` is n x m, ``deletion`` has n entries, ``insertion`` m.

    >>> a = assign(torch.tensor([[0.1, 5.0], [5.0, 5.0]]), torch.ones(2), torch.ones(2))
    >>> a.match.tolist(), round(a.distance.item(), 3)
    ([0, -1], 2.1)
    """
    n, m = substitution.shape
    result = assign_batch(substitution[None], deletion[None], insertion[None], torch.tensor([n]), torch.tensor([m]))
    return PaddedAssignment(result.match[0], result.distance[0])


def assign_batch(
    substitution: Tensor, deletion: Tensor, insertion: Tensor, rows: Tensor | None = None, columns: Tensor | None = None
) -> PaddedAssignment:
    """Solve P pairs padded to one size; pair p occupies ``[:rows[p], :columns[p]]``.

    ``match`` is ``[P, n]`` with -1 on deleted and on padded rows. ``distance`` is differentiable in the costs: the
    assignment is held fixed, which gives the exact gradient of the minimum wherever it is unique.
    """
    pairs, n, m = substitution.shape
    rows = torch.full((pairs,), n) if rows is None else rows.cpu()
    columns = torch.full((pairs,), m) if columns is None else columns.cpu()
    with torch.no_grad():
        gain = substitution.detach() - deletion.detach()[:, :, None] - insertion.detach()[:, None, :]
        found = match_gains(gain.cpu().numpy(), rows.numpy(), columns.numpy())
        match = torch.from_numpy(found).to(substitution.device)
    return PaddedAssignment(match, matched_distance(substitution, deletion, insertion, match, rows, columns))


def match_gains(gain: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Best partner of each row of padded gains, or -1."""
    pairs, n, m = gain.shape
    if pairs and (rows.max() > n or columns.max() > m or min(rows.min(), columns.min()) < 0):
        raise InputError(f"rows and columns must lie between 0 and the {n} x {m} of the costs")
    top = np.arange(pairs) * n
    match = np.full(pairs * n, -1, dtype=np.int64)
    match[ranges(top, rows)] = match_blocks(gain.reshape(pairs * n, m), top, np.zeros_like(top), rows, columns)
    return match.reshape(pairs, n)


def match_blocks(
    field: np.ndarray, top: np.ndarray, left: np.ndarray, rows: np.ndarray, columns: np.ndarray, first: int = 0
) -> np.ndarray:
    """What to substitute in each of many pairs, given what each substitution costs more than a deletion and an
    insertion (negative: it saves): the column of every row, pair after pair, -1 where none.

    Pair p is the block ``field[top[p] : top[p] + rows[p], left[p] : left[p] + columns[p]]``. At a tie substitution is
    preferred: it keeps the two graphs more alike on the way. Infinity forbids one. ``first`` is what the caller counts
    the first pair as.
    """
    if field.dtype not in (np.float32, np.float64):
        field = field.astype(np.float64)
    partner = np.full(int(rows.sum()), -1, dtype=np.int64)
    solve = compiled("_kernels.assignment", "solve") or solve_each
    top, left, rows, columns = (np.ascontiguousarray(a, dtype=np.int64) for a in (top, left, rows, columns))
    bad = solve(np.ascontiguousarray(field), top, left, rows, columns, partner)
    if bad >= 0:
        refuse(first + bad)
    return partner


def refuse(pair: int) -> NoReturn:
    """The error for a pair on which no search would end."""
    raise InputError(f"the costs of pair {pair} hold NaN or infinity, or are beyond {-LOWEST:g}: give finite numbers")


def solve_each(
    field: np.ndarray, top: np.ndarray, left: np.ndarray, rows: np.ndarray, columns: np.ndarray, partner: np.ndarray
) -> int:
    """What :func:`epic._kernels.assignment.solve` does, pair by pair."""
    first = 0
    for p, (t, l, n, m) in enumerate(zip(*(a.tolist() for a in (top, left, rows, columns)), strict=True)):
        gain = field[t : t + n, l : l + m]
        if gain.size and not gain.min() > LOWEST:
            return p
        u, v = linear_sum_assignment(np.minimum(gain, 0.0))
        partner[first : first + n][u] = np.where(gain[u, v] <= 0.0, v, -1)
        first += n
    return -1


def matched_distance(
    substitution: Tensor, deletion: Tensor, insertion: Tensor, match: Tensor, rows: Tensor, columns: Tensor
) -> Tensor:
    """Total cost ``[P]`` of given assignments."""
    device = substitution.device
    row = torch.arange(match.shape[1], device=device) < rows.to(device)[:, None]
    column = torch.arange(insertion.shape[1], device=device) < columns.to(device)[:, None]
    kept = match >= 0
    total = (deletion * (row & ~kept)).sum(1) + (insertion * column).sum(1)
    if substitution.shape[2] == 0:
        return total
    to = match.clamp_min(0)
    swap = substitution.gather(2, to[:, :, None])[:, :, 0] - insertion.gather(1, to)
    return total + torch.where(kept, swap, 0.0).sum(1)
