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

    With rows (-2h, |h|^2, 1) and columns (k, 1, |k|^2) the product is the squared distance itself.
    """

    def __init__(self, a: NodeCosts, b: NodeCosts) -> None:
        h, k = a.embedding.numpy(), b.embedding.numpy()
        middle = h.mean(0) if h.shape[0] else np.zeros(h.shape[1], h.dtype)  # see euclidean
        self.left, self.right = _rows(h, middle)
        if b.embedding is not a.embedding:
            self.right = _rows(k, middle)[1]
        self.deletion, self.insertion = (np.ascontiguousarray(t.numpy()) for t in (a.deletion, b.insertion))
        # What is not a number is so in the sum of all, too; sums may overflow where no number does.
        if not all(
            math.isfinite(v.sum()) for v in (self.left[:, -2], self.deletion, self.right[:, -1], self.insertion)
        ):
            a.check_finite(), b.check_finite()

    def __call__(self, source: slice, target: slice) -> np.ndarray:
        """Return the matrix of the source nodes and the target nodes of two slices."""
        left, right = self.left[source], self.right[target].T
        if left.dtype in PRODUCTS and _small(left.shape[0], left.shape[1], right.shape[1]):
            block = PRODUCTS[left.dtype](1.0, right, left.T, trans_a=True).T
        else:
            block = left @ right
        np.maximum(block, 0.0, out=block)
        np.sqrt(block, out=block)
        block -= self.deletion[source, None]
        block -= self.insertion[target]
        return block

    def assign(self, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray, *, first: int = 0) -> np.ndarray:
        """Find the target node that best replaces each source node; see :meth:`ReducedCosts.assign`."""
        dtype = self.left.dtype
        if not backend.enabled() or dtype not in PRODUCTS or {self.deletion.dtype, self.insertion.dtype} != {dtype}:
            return super().assign(u, n, v, m, first=first)
        from epic._kernels.assignment import solve_euclidean

        top, small = offsets(n), _small(n, self.left.shape[1], m)
        partner = np.empty(top[-1], dtype=np.int64)
        bad = solve_euclidean(self.left, self.right, self.deletion, self.insertion, u, n, v, m, small, partner)
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


def _rows(vectors: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (-2k, |k|^2, 1) and (k, 1, |k|^2) of the vectors k seen from the middle."""
    right = np.empty((vectors.shape[0], vectors.shape[1] + 2), dtype=vectors.dtype)
    left = np.empty_like(right)
    k = right[:, :-2]
    np.subtract(vectors, middle, out=k)
    np.multiply(k, -2, out=left[:, :-2])
    left[:, -1] = right[:, -2] = 1
    np.einsum("nd,nd->n", k, k, out=right[:, -1])
    left[:, -2] = right[:, -1]
    return left, right
