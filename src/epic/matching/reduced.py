"""What a substitution costs more than a deletion and an insertion (negative: it saves), the matrix that the exact
assignment is solved on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epic.graphs.ragged import offsets
from epic.matching.exact import match_blocks


class ReducedCosts:
    """ReducedCosts between the nodes of two packs, for a run of nodes of each; numpy, on the CPU.

    ``block`` is the function that gives them.
    """

    def __init__(self, block: Callable[[slice, slice], np.ndarray]) -> None:
        self._block = block

    def __call__(self, source: slice, target: slice) -> np.ndarray:
        return self._block(source, target)

    def matched(self, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray, first: int = 0) -> np.ndarray:
        """Which target node, counted from ``v[p]``, best replaces each source node of each pair, pair after pair; -1
        where none. Pair p has ``n[p]`` nodes from ``u[p]`` on and ``m[p]`` from ``v[p]`` on; the caller counts the
        first one as ``first``.
        """
        top = offsets(n)[:-1]
        return match_blocks(self.stacked(u, n, v, m), top, np.zeros_like(top), n, m, first)

    def stacked(self, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray) -> np.ndarray:
        """The matrices of many pairs below each other, from the left edge."""
        # The only Python loops over pairs are here, in matched for large pairs, and in the assignment without numba.
        blocks = [self(*p) for p in pairs(u, n, v, m)]
        if len(blocks) == 1:
            return blocks[0]
        field = np.zeros((int(n.sum()), int(m.max())), dtype=blocks[0].dtype)
        for at, block in zip(offsets(n).tolist(), blocks, strict=False):
            field[at : at + block.shape[0], : block.shape[1]] = block
        return field


def pairs(u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray) -> list[tuple[slice, slice]]:
    """Source and target nodes of each pair."""
    lists = ((u.tolist(), (u + n).tolist()), (v.tolist(), (v + m).tolist()))
    source, target = ([slice(a, b) for a, b in zip(*ends, strict=True)] for ends in lists)
    return list(zip(source, target, strict=True))
