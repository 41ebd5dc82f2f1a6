"""Euclidean distances between node embeddings, and the exact assignment on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import blas
from torch import Tensor

from epic._kernels import backend
from epic.graphs.ragged import offsets
from epic.matching.exact import refuse
from epic.matching.reduced import ReducedCosts
from epic.matching.types import NodeCosts

PRODUCTS = {np.dtype(np.float32): blas.sgemm, np.dtype(np.float64): blas.dgemm}


def euclidean(source: Tensor, target: Tensor) -> Tensor:
    """Compute Euclidean distances with a gradient everywhere (0, not infinity, at distance 0).

    Inner products are about nine times faster than differences (``torch.cdist`` without its matrix product, 30-node
    graphs on a CPU). A single source row is compared by differences, which keep all digits: equal nodes are at distance
    zero.

    Args:
        source: vectors ``[..., n, D]``.
        target: vectors ``[..., m, D]``.

    Returns:
        Distances ``[..., n, m]``.
    """
    if source.shape[-2] == 1:
        square = (target - source).square().sum(-1)[..., None, :]
    else:
        # Far from the origin inner products cancel; distances do not change if both sides move together.
        middle = source.detach().mean(-2, keepdim=True) if source.shape[-2] else 0.0
        source, target = source - middle, target - middle
        square = (
            source.square().sum(-1)[..., :, None]
            + target.square().sum(-1)[..., None, :]
            - 2 * source @ target.transpose(-1, -2)
        )
    positive = square > 0
    return square.where(positive, 1.0).sqrt() * positive


class EuclideanReducedCosts(ReducedCosts):
    """Reduced costs where a substitution costs a Euclidean distance: one matrix product and a few passes a pair.

    Args:
        a: node costs of the source graphs, on the CPU without gradients.
        b: node costs of the target graphs.
    """

    def __init__(self, a: NodeCosts, b: NodeCosts) -> None:
        h = a.embedding.numpy()
        middle = h.mean(0) if h.shape[0] else np.zeros(h.shape[1], h.dtype)  # see euclidean
        self.source, self.source_square = _centred(h, middle)
        self.target, self.target_square = self.source, self.source_square
        if b.embedding is not a.embedding:
            self.target, self.target_square = _centred(b.embedding.numpy(), middle)
        self.deletion, self.insertion = (np.ascontiguousarray(t.numpy()) for t in (a.deletion, b.insertion))
        # What is not a number is so in the sum of all, too; sums may overflow where no number does.
        sums = (self.source_square, self.target_square, self.deletion, self.insertion)
        if not all(math.isfinite(v.sum()) for v in sums):
            a.check_finite(), b.check_finite()

    def __call__(self, source: slice, target: slice) -> np.ndarray:
        """Return the matrix of the source nodes and the target nodes of two slices."""
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

    def assign(self, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray, *, first: int = 0) -> np.ndarray:
        """Find the target node that best replaces each source node; see :meth:`ReducedCosts.assign`."""
        dtype = self.source.dtype
        if not backend.enabled() or dtype not in PRODUCTS or {self.deletion.dtype, self.insertion.dtype} != {dtype}:
            return super().assign(u, n, v, m, first=first)
        from epic._kernels.assignment import solve_euclidean

        top, small = offsets(n), _small(n, self.source.shape[1], m)
        partner = np.empty(top[-1], dtype=np.int64)
        sides = (self.source, self.source_square, self.deletion), (self.target, self.target_square, self.insertion)
        bad = solve_euclidean(*sides[0], *sides[1], u, n, v, m, small, partner)
        for p in (~small).nonzero()[0].tolist():
            if bad < 0 or p < bad:
                one = slice(p, p + 1)
                partner[top[p] : top[p + 1]] = super().assign(u[one], n[one], v[one], m[one], first=first + p)
        if bad >= 0:
            refuse(first + bad)
        return partner


def _small(n: Any, width: int, m: Any) -> Any:
    """Return whether n rows and m columns are multiplied by scipy's BLAS, which compiled code can call too.

    numpy's and scipy's BLAS round alike as long as neither shares the work among threads nor takes a matrix for a
    vector: with them compiled and other code sees the same costs, ties included.
    """
    return (n > 1) & (m > 1) & (n * width * m <= 2**19)


def _centred(vectors: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors seen from the middle, and their squared lengths."""
    centred = np.ascontiguousarray(vectors - middle)
    return centred, np.einsum("nd,nd->n", centred, centred)
