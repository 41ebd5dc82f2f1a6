"""Reduced costs: what a substitution costs more than a deletion and an insertion (negative: it saves).

The exact assignment is solved on this n x m matrix; see :mod:`epic.matching.exact`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epic.graphs.ragged import offsets
from epic.matching.exact import assign_blocks


class ReducedCosts:
    """Reduced costs between runs of nodes of two lists of graphs, in numpy on the CPU.

    Args:
        block: gives the matrix of a slice of source nodes and a slice of target nodes.
    """

    def __init__(self, block: Callable[[slice, slice], np.ndarray]) -> None:
        self._block = block

    def __call__(self, source: slice, target: slice) -> np.ndarray:
        """Return the matrix of the source nodes and the target nodes of two slices."""
        return self._block(source, target)

    def assign(self, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray, *, first: int = 0) -> np.ndarray:
        """Find the target node that best replaces each source node of each pair.

        Args:
            u: first source node of each pair.
            n: number of its source nodes.
            v: first target node of each pair.
            m: number of its target nodes.
            first: the number of the first pair in error messages.

        Returns:
            For every source node, pair after pair, the target node counted from ``v[p]``; -1 where there is none.
        """
        top = offsets(n)
        # The only Python loops over pairs are here, and in the assignment without numba.
        blocks = [
            self(slice(a, b), slice(c, d))
            for a, b, c, d in zip(*(t.tolist() for t in (u, u + n, v, v + m)), strict=True)
        ]
        field = np.zeros((top[-1], int(m.max(initial=0))), dtype=blocks[0].dtype if blocks else np.float64)
        for at, block in zip(top.tolist(), blocks, strict=False):
            field[at : at + block.shape[0], : block.shape[1]] = block
        return assign_blocks(field, top[:-1], np.zeros_like(u), n, m, first=first)
