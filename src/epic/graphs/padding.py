"""Group ragged pairs so that padding wastes little and memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

AREA = 1 << 20
"""Entries of one padded block of matrices: 4 MB in float32, small enough to stay near the cache."""


def buckets(rows: Tensor, columns: Tensor, area: int = AREA, waste: float = 1.6) -> Iterator[Tensor]:
    """Split pairs of ``rows[p] x columns[p]`` matrices into groups to be padded to their largest member.

    A group holds at most ``area`` padded entries (one pair alone may exceed it), and once it has eight pairs, at most
    ``waste`` times the entries that are really there. Every pair comes out once.

    >>> [b.tolist() for b in buckets(torch.tensor([2, 90, 3]), torch.tensor([2, 80, 2]), area=1000)]
    [[0, 2], [1]]
    """
    if rows.numel() == 0:
        return
    n, m = rows.tolist(), columns.tolist()
    order = torch.argsort(torch.maximum(rows, columns) * (1 << 20) + rows + columns).tolist()
    group: list[int] = []
    top_n = top_m = real = 0
    for p in order:
        new_n, new_m = max(top_n, n[p]), max(top_m, m[p])
        padded = (len(group) + 1) * new_n * new_m
        if group and (padded > area or (len(group) >= 8 and padded > waste * (real + n[p] * m[p]) + 64)):
            yield torch.tensor(group)
            group, real, new_n, new_m = [], 0, n[p], m[p]
        group.append(p)
        top_n, top_m, real = new_n, new_m, real + n[p] * m[p]
    yield torch.tensor(group)


def padded_index(start: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
    """Index ``[P, max]`` of the elements ``start[p] + 0 .. length[p] - 1`` and the mask of those that are real.

    Padding points at element 0, so that gathering is always in range.
    """
    step = torch.arange(int(length.max()) if length.numel() else 0, device=start.device)
    real = step < length[:, None]
    return torch.where(real, start[:, None] + step, 0), real
