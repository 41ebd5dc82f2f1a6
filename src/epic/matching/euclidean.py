"""Euclidean distances between node vectors, with a gradient everywhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.linalg import blas
from torch import Tensor

from epic._kernels.backend import compiled, constant
from epic.graphs.ragged import offsets
from epic.matching.exact import refuse
from epic.matching.reduced import ReducedCosts

if TYPE_CHECKING:
    from epic.matching.types import Assignment, NodeCosts


PRODUCTS = {np.dtype(np.float32): blas.sgemm, np.dtype(np.float64): blas.dgemm}


def between(source: Tensor, target: Tensor) -> Tensor:
    """Distances ``[..., n, m]`` by inner products, about nine times faster than differences taken one by one
    (``torch.cdist`` without its matrix product, 30-node graphs on a CPU).
    """
    # Far from the origin inner products cancel; distances do not change if both sides move together.
    middle = source.detach().mean(-2, keepdim=True) if source.shape[-2] else 0.0
    source, target = source - middle, target - middle
    square = (
        source.square().sum(-1)[..., :, None]
        + target.square().sum(-1)[..., None, :]
        - 2 * source @ target.transpose(-1, -2)
    )
    return _root(square)


def one_to_one(source: Tensor, target: Tensor) -> Tensor:
    """Distances ``[...]`` of vectors side by side."""
    return _root((source - target).square().sum(-1))


def swaps(a: NodeCosts, b: NodeCosts, u: Tensor, v: Tensor) -> Tensor:
    """Distances of the nodes ``u`` of ``a`` to the nodes ``v`` of ``b``, one to one."""
    return one_to_one(a.embedding.index_select(0, u), b.embedding.index_select(0, v))


def settled(a: NodeCosts, b: NodeCosts, m: Assignment) -> tuple[Tensor, Tensor] | None:
    """What :meth:`epic.costs.Cost.price` asks for, compiled but for sums and roots, which torch rounds in its own way;
    None where that cannot be.
    """
    squared, settle = (compiled("_kernels.assignment", name) for name in ("squared_differences", "settle"))
    values = {id(t): t for t in (a.embedding, b.embedding, a.deletion, b.insertion)}.values()
    if squared is None or settle is None or len({t.dtype for t in values}) > 1 or not all(map(constant, values)):
        return None
    if a.embedding.shape[1:] != b.embedding.shape[1:]:
        return None
    squares = squared(a.embedding.numpy(), b.embedding.numpy(), m.source, m.target, m.partner)
    swap = torch.from_numpy(squares).sum(-1).sqrt_().numpy()
    source, target = settle(a.deletion.numpy(), b.insertion.numpy(), swap, m.source, m.target, m.partner, m.origin)
    return torch.from_numpy(source), torch.from_numpy(target)


def _root(square: Tensor) -> Tensor:
    """Square root with gradient 0, not infinity, at 0."""
    positive = square > 0
    return square.where(positive, 1.0).sqrt() * positive


class EuclideanReducedCosts(ReducedCosts):
    """:meth:`epic.costs.Cost.gains` for Euclidean costs: one matrix product and four passes a pair, five times faster
    than in torch.

    With rows (-2h, |h|^2, 1) and columns (k, 1, |k|^2) the product is the squared distance itself.
    """

    def __init__(self, a: NodeCosts, b: NodeCosts) -> None:
        h = np.ascontiguousarray(a.embedding.numpy())
        middle = _mean(h)  # see between
        self.left, self.right = _rows(h, middle)
        if b.embedding is not a.embedding:
            self.right = _rows(np.ascontiguousarray(b.embedding.numpy()), middle)[1]
        self.lost, self.won = (np.ascontiguousarray(t.numpy()) for t in (a.deletion, b.insertion))
        # What is not a number is so in the sum of all, too; sums may overflow where no number does.
        values = [self.left[:, -2], self.lost]
        if b is not a or b.insertion is not a.deletion:
            values += [self.right[:, -1], self.won]
        if not all(math.isfinite(v.sum()) for v in values):
            a.finite(), b.finite()

    def __call__(self, source: slice, target: slice) -> np.ndarray:
        left, right = self.left[source], self.right[target].T
        if _small(left.shape[0], left.shape[1], right.shape[1]) and left.dtype in PRODUCTS:
            block = PRODUCTS[left.dtype](1.0, right, left.T, trans_a=True).T
        else:
            block = left @ right
        np.maximum(block, 0.0, out=block)
        np.sqrt(block, out=block)
        block -= self.lost[source, None]
        block -= self.won[target]
        return block

    def matched(self, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray, first: int = 0) -> np.ndarray:
        solve, dtype = compiled("_kernels.assignment", "solve_euclidean"), self.left.dtype
        if solve is None or dtype not in PRODUCTS or {self.lost.dtype, self.won.dtype} != {dtype}:
            return super().matched(u, n, v, m, first)
        top, small = offsets(n), _small(n, self.left.shape[1], m)
        partner = np.empty(top[-1], dtype=np.int64)
        bad = solve(self.left, self.right, self.lost, self.won, u, n, v, m, small, partner)
        for p in (~small).nonzero()[0].tolist():
            if bad < 0 or p < bad:
                one = slice(p, p + 1)
                partner[top[p] : top[p + 1]] = super().matched(u[one], n[one], v[one], m[one], first + p)
        if bad >= 0:
            refuse(first + bad)
        return partner


def _small(n: Any, width: int, m: Any) -> Any:
    """Whether n rows and m columns are multiplied by scipy's BLAS, which compiled code can call too, and not by
    numpy's: the two round alike as long as neither shares the work among threads nor takes one for a vector.
    """
    return (n > 1) & (m > 1) & (n * width * m <= 2**19)


def _mean(vectors: np.ndarray) -> np.ndarray:
    if not vectors.shape[0]:
        return np.zeros(vectors.shape[1], vectors.dtype)
    plain = vectors.dtype in PRODUCTS and vectors.shape[1] > 1  # numpy adds up a single column in another order
    quick = compiled("_kernels.assignment", "mean") if plain else None
    return vectors.mean(0) if quick is None else quick(vectors)


def _rows(vectors: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows (-2k, |k|^2, 1) and (k, 1, |k|^2) of the vectors k seen from the middle, filled in place: such passes are
    bound by memory.
    """
    right = np.empty((vectors.shape[0], vectors.shape[1] + 2), dtype=vectors.dtype)
    left = np.empty_like(right)
    k, centre = right[:, :-2], compiled("_kernels.assignment", "centre")
    if centre is not None and vectors.dtype == middle.dtype and vectors.dtype in PRODUCTS:
        centre(vectors, middle, left, right)
    else:
        np.subtract(vectors, middle, out=k)
        np.multiply(k, -2, out=left[:, :-2])
        left[:, -1] = right[:, -2] = 1
    np.einsum("nd,nd->n", k, k, out=right[:, -1])
    left[:, -2] = right[:, -1]
    return left, right
