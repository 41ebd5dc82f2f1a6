"""Reduced costs: what a substitution costs more than a deletion and an insertion (negative: it saves).

The exact assignment is solved on this n x m matrix; see :mod:`epic.matching.exact`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import blas

from epic._kernels import backend
from epic.graphs.ragged import offsets, to_array
from epic.matching.exact import assign_blocks, refuse
from epic.matching.types import NodeCosts

PRODUCTS = {np.dtype(np.float32): blas.sgemm, np.dtype(np.float64): blas.dgemm}


class ReducedCosts:
    """Reduced costs between runs of nodes of two lists of graphs, in numpy on the CPU.

    Args:
        block: gives the matrix of some source nodes and some target nodes (slices or indices).
        kinds: what tells the nodes of both sides apart, ``[N, D]``, where the number of columns that differ is
            what a substitution goes by; None where nothing is known.
    """

    def __init__(
        self, block: Callable[[Any, Any], np.ndarray], *, kinds: tuple[np.ndarray, np.ndarray] | None = None
    ) -> None:
        self._block, self._kinds = block, kinds

    def __call__(self, source: slice, target: slice) -> np.ndarray:
        """Return the matrix of the source nodes and the target nodes of two slices."""
        return self._block(source, target)

    def take(self, source: np.ndarray, target: np.ndarray) -> ReducedCosts:
        """Return the reduced costs between some source nodes and some target nodes, by their numbers."""
        return ReducedCosts(lambda u, v: self._block(source[u], target[v]))

    def same(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return for each source node whether it equals the target node next to it."""
        assert self._kinds is not None
        return (self._kinds[0][source] == self._kinds[1][target]).all(1)

    def places(self, source: slice, target: slice, *, axes: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Return points ``[n, axes]`` and ``[m, axes]`` for nodes of both sides: near where substitutions are cheap."""
        assert self._kinds is not None
        one, other = self._kinds[0][source], self._kinds[1][target]
        point = np.zeros((len(one) + len(other), axes))
        for column in np.concatenate([one, other]).T:  # a corner of a simplex for each kind, seen from random sides
            names, kind = np.unique(column, return_inverse=True)
            point += rng.normal(size=(names.size, axes))[kind]
        return np.split(point, [len(one)])

    def assign(self, *, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray, first: int = 0) -> np.ndarray:
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
        field = self.field(u=u, n=n, v=v, m=m)
        return assign_blocks(field, top=offsets(n)[:-1], left=np.zeros_like(u), rows=n, columns=m, first=first)

    def field(self, *, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray) -> np.ndarray:
        """Return the matrices of pairs, given as in :meth:`assign`, one below the other: each in its first columns."""
        # The only Python loops over pairs are here, and in the assignment without numba.
        blocks = [
            self(slice(a, b), slice(c, d))
            for a, b, c, d in zip(*(t.tolist() for t in (u, u + n, v, v + m)), strict=True)
        ]
        field = np.zeros((int(n.sum()), int(m.max(initial=0))), dtype=blocks[0].dtype if blocks else np.float64)
        for at, block in zip(offsets(n).tolist(), blocks, strict=False):
            field[at : at + block.shape[0], : block.shape[1]] = block
        return field


class EuclideanReducedCosts(ReducedCosts):
    """Reduced costs where a substitution costs a Euclidean distance: one matrix product and a few passes a pair.

    Args:
        a: node costs of the source graphs.
        b: node costs of the target graphs.
    """

    def __init__(self, a: NodeCosts, b: NodeCosts) -> None:
        apart = b.embedding is not a.embedding
        h = np.concatenate([to_array(c.embedding) for c in ((a, b) if apart else (a,))])
        # Far from the origin inner products cancel; distances do not change if both sides move together. Both
        # are centred on the mean of all nodes, so that two graphs give the same costs in one list as in two.
        middle = h.mean(0) if h.shape[0] else np.zeros(h.shape[1], h.dtype)
        self.source = self.target = np.ascontiguousarray(h - middle)
        self.source_square = self.target_square = np.einsum("nd,nd->n", self.source, self.source)
        if apart:
            n = a.embedding.shape[0]
            self.source, self.source_square = self.source[:n], self.source_square[:n]
            self.target, self.target_square = self.target[n:], self.target_square[n:]
        self.deletion, self.insertion = (np.ascontiguousarray(to_array(t)) for t in (a.deletion, b.insertion))
        # What is not a number is so in the sum of all, too; sums may overflow where no number does.
        sums = (self.source_square, self.target_square, self.deletion, self.insertion)
        if not all(math.isfinite(v.sum()) for v in sums):
            a.check_finite(), b.check_finite()

    def __call__(self, source: slice, target: slice) -> np.ndarray:
        left, right = self.source[source], self.target[target].T
        if left.dtype in PRODUCTS and _small(left.shape[0], left.shape[1], right.shape[1]):
            block = PRODUCTS[left.dtype](1.0, right, left.T, trans_a=True).T
        else:
            block = left @ right
        # Every step is rounded as in the compiled form.
        block *= -2
        block += self.source_square[source, None]
        block += self.target_square[target]
        np.maximum(block, 0.0, out=block)
        np.sqrt(block, out=block)
        block -= self.deletion[source, None]
        block -= self.insertion[target]
        return block

    def take(self, source: np.ndarray, target: np.ndarray) -> EuclideanReducedCosts:
        made = copy.copy(self)
        made.source, made.source_square, made.deletion = (  # take is several times faster than an index here
            t.take(source, 0) for t in (self.source, self.source_square, self.deletion)
        )
        made.target, made.target_square, made.insertion = (
            t.take(target, 0) for t in (self.target, self.target_square, self.insertion)
        )
        return made

    def same(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return (self.source[source] == self.target[target]).all(1)

    def places(self, source: slice, target: slice, *, axes: int, rng: np.random.Generator) -> list[np.ndarray]:
        width = self.source.shape[1]
        random = rng.normal(size=(width, min(axes, max(width, 1))))
        turned = np.linalg.qr(random)[0].astype(self.source.dtype) if width else random
        return [self.source[source] @ turned, self.target[target] @ turned]

    def assign(self, *, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray, first: int = 0) -> np.ndarray:
        dtype = self.source.dtype
        if not backend.enabled() or dtype not in PRODUCTS or {self.deletion.dtype, self.insertion.dtype} != {dtype}:
            return super().assign(u=u, n=n, v=v, m=m, first=first)
        from epic._kernels.assignment import solve_euclidean

        top, small = offsets(n), _small(n, self.source.shape[1], m)
        partner = np.empty(top[-1], dtype=np.int64)
        sides = (self.source, self.source_square, self.deletion), (self.target, self.target_square, self.insertion)
        bad = solve_euclidean(*sides, (u, n, v, m), small, partner)
        for p in (~small).nonzero()[0].tolist():
            if bad < 0 or p < bad:
                one = slice(p, p + 1)
                found = super().assign(u=u[one], n=n[one], v=v[one], m=m[one], first=first + p)
                partner[top[p] : top[p + 1]] = found
        if bad >= 0:
            refuse(first + bad)
        return partner


def _small(n: Any, width: int, m: Any) -> Any:
    """Return whether n rows and m columns are multiplied by scipy's BLAS, which compiled code can call too.

    numpy's and scipy's BLAS round alike as long as neither shares the work among threads nor takes a matrix for a
    vector: with them compiled and other code sees the same costs, ties included.
    """
    return (n > 1) & (m > 1) & (n * width * m <= 2**19)
