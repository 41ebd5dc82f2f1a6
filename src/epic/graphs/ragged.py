"""Lists of different lengths laid end to end, in numpy.

Which node and edge goes where is decided here, on the CPU, where the exact assignment is solved too: on arrays of a few
thousand integers numpy took about half of torch's time. A batch has few graphs, so that much of it goes into calling:
numpy's methods are called in less time than its functions (``a.repeat``, ``np.repeat``). Features are then gathered by
torch, on any device.
"""

from __future__ import annotations

import numpy as np


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
