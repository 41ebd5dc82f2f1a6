"""Euclidean distances between node vectors, with a gradient everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from epic.cost.gains import Gains
from epic.fast import compiled, constant, integers
from epic.ragged import offsets

if TYPE_CHECKING:
    from epic.cost.base import NodeCosts


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
    h, k = a.embedding, b.embedding
    squared, places = compiled("assignment.compiled", "squared_differences"), integers(u, v)
    same = h.dtype == k.dtype and h.shape[1:] == k.shape[1:]
    if squared is None or places is None or not same or not (constant(h) and constant(k)):
        return one_to_one(h.index_select(0, u), k.index_select(0, v))
    return torch.from_numpy(squared(h.numpy(), k.numpy(), *places)).sum(-1).sqrt_()


def _root(square: Tensor) -> Tensor:
    """Square root with gradient 0, not infinity, at 0."""
    positive = square > 0
    return square.where(positive, 1.0).sqrt() * positive


class EuclideanGains(Gains):
    """:meth:`epic.cost.Cost.gains` for Euclidean costs: one matrix product and four passes a pair, five times faster
    than in torch.

    With rows (-2h, |h|^2, 1) and columns (k, 1, |k|^2) the product is the squared distance itself.
    """

    def __init__(self, a: NodeCosts, b: NodeCosts) -> None:
        h = np.ascontiguousarray(a.embedding.numpy())
        middle = h.mean(0) if h.shape[0] else np.zeros(h.shape[1], h.dtype)  # see between
        self.left, self.right = _rows(h, middle)
        if b.embedding is not a.embedding:
            self.right = _rows(np.ascontiguousarray(b.embedding.numpy()), middle)[1]
        self.lost, self.won = (np.ascontiguousarray(t.numpy()) for t in (a.deletion, b.insertion))
        # What is not a number is so in the sum of all, too; sums may overflow where no number does.
        squares = (self.left[:, -2], self.right[:, -1])
        if not all(np.isfinite(t.sum()) for t in (*squares, self.lost, self.won)):
            a.finite(), b.finite()

    def __call__(self, source: slice, target: slice) -> np.ndarray:
        block = self.left[source] @ self.right[target].T
        np.maximum(block, 0.0, out=block)
        np.sqrt(block, out=block)
        block -= self.lost[source, None]
        block -= self.won[target]
        return block

    def stacked(self, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray) -> np.ndarray:
        finish = compiled("assignment.compiled", "gains_of_squares")
        types = {array.dtype for array in (self.left, self.lost, self.won)}
        if finish is None or types not in ({np.dtype(np.float32)}, {np.dtype(np.float64)}):
            return super().stacked(u, n, v, m)
        top = offsets(n)
        field = np.empty((top[-1], int(m.max())), dtype=self.left.dtype)  # beside the blocks nobody looks
        left, right = self.left, self.right.T
        places = (array.tolist() for array in (u, u + n, v, v + m, top[:-1], top[1:], m))
        for u0, u1, v0, v1, row, end, width in zip(*places, strict=True):
            np.matmul(left[u0:u1], right[:, v0:v1], field[row:end, :width])
        finish(field, top, n, m, self.lost, u, self.won, v)  # the four passes, over all pairs in one
        return field


def _rows(vectors: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows (-2k, |k|^2, 1) and (k, 1, |k|^2) of the vectors k seen from the middle, filled in place: such passes are
    bound by memory.
    """
    right = np.empty((vectors.shape[0], vectors.shape[1] + 2), dtype=vectors.dtype)
    left = np.empty_like(right)
    k, centre = right[:, :-2], compiled("assignment.compiled", "centre")
    if centre is not None and vectors.dtype == middle.dtype and vectors.dtype in (np.float32, np.float64):
        centre(vectors, middle, left, right)
    else:
        np.subtract(vectors, middle, out=k)
        np.multiply(k, -2, out=left[:, :-2])
        left[:, -1] = right[:, -2] = 1
    np.einsum("nd,nd->n", k, k, out=right[:, -1])
    left[:, -2] = right[:, -1]
    return left, right
