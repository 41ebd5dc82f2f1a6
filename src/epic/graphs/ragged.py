"""Lists of different lengths: laid end to end in numpy, or padded together in torch.

Which node and edge goes where is decided in numpy, on the CPU, where the exact assignment is solved too: on arrays of a
few thousand integers it takes about half of torch's time, most of it for calls (its methods are called in less time
than its functions: ``a.repeat``, ``np.repeat``). Features are then gathered by torch, on any device.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

AREA = 1 << 20
"""Entries of one padded block of matrices: 4 MB in float32, small enough to stay near the cache."""


def to_array(value: Tensor) -> np.ndarray:
    """Return a tensor as a numpy array on the CPU, without its gradient."""
    return value.detach().cpu().numpy()


def offsets(length: np.ndarray) -> np.ndarray:
    """Turn lengths into offsets, with a leading zero.

    >>> offsets(np.array([2, 3])).tolist()
    [0, 2, 5]
    """
    out = np.zeros(length.size + 1, dtype=np.int64)
    length.cumsum(out=out[1:])
    return out


def lengths(ptr: np.ndarray) -> np.ndarray:
    """Turn offsets into lengths, in a third of the time of ``np.diff``.

    >>> lengths(np.array([0, 2, 5])).tolist()
    [2, 3]
    """
    return ptr[1:] - ptr[:-1]


def owners(ptr: np.ndarray) -> np.ndarray:
    """Return the list that each element belongs to.

    >>> owners(np.array([0, 2, 5])).tolist()
    [0, 0, 1, 1, 1]
    """
    return np.arange(ptr.size - 1).repeat(lengths(ptr))


def ranges(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Concatenate the integer ranges ``start[i] .. start[i] + length[i] - 1``.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    end = length.cumsum()
    return np.arange(end[-1] if end.size else 0) + (start - (end - length)).repeat(length)


def merge(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the order that turns [all of the first lists, all of the second lists] into [first, second] list by list.

    >>> merge(np.array([1, 2]), np.array([2, 0])).tolist()
    [0, 3, 4, 1, 2]
    """
    both = np.array([first, second])
    start = (both.cumsum() - both.ravel()).reshape(both.shape)
    return ranges(start.T.ravel(), both.T.ravel())


def counts(mask: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """Count the marked elements of each list."""
    return lengths(offsets(mask)[ptr])


def ranks(value: Tensor, *, group: Tensor) -> Tensor:
    """Return the place of each value among those of its group, the lowest first; equal ones stay in their order."""
    order = value.argsort(stable=True)
    order = order[group[order].argsort(stable=True)]
    size = torch.bincount(group)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(order.numel(), device=order.device) - (size.cumsum(0) - size)[group[order]]
    return rank


def firsts(key: Tensor) -> Tensor:
    """Return where each key occurs for the first time, in the order of the keys.

    >>> firsts(torch.tensor([7, 3, 7, 3])).tolist()
    [1, 0]
    """
    return torch.from_numpy(np.unique(key.cpu().numpy(), return_index=True)[1]).to(key.device)


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


def padded_mask(length: Tensor, size: int) -> Tensor:
    """Mark the first ``length[p]`` of ``size`` elements: ``[P, size]``."""
    return torch.arange(size, device=length.device) < length[:, None]
