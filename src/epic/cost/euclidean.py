"""Euclidean distances between node vectors, with a gradient everywhere."""

from __future__ import annotations

from torch import Tensor


def between(source: Tensor, target: Tensor) -> Tensor:
    """Distances ``[..., n, m]`` by inner products: tens of times faster than ``torch.cdist`` on small matrices, and on its gradient."""
    square = (
        source.square().sum(-1)[..., :, None]
        + target.square().sum(-1)[..., None, :]
        - 2 * source @ target.transpose(-1, -2)
    )
    return _root(square)


def one_to_one(source: Tensor, target: Tensor) -> Tensor:
    """Distances ``[...]`` of vectors side by side."""
    return _root((source - target).square().sum(-1))


def _root(square: Tensor) -> Tensor:
    """Square root with gradient 0, not infinity, at 0."""
    positive = square > 0
    return square.where(positive, 1.0).sqrt() * positive
