"""Corrupt labels, to measure how much label noise a method tolerates."""

from __future__ import annotations

import torch
from torch import Tensor

from epic.errors import InputError
from epic.random import Seed, base_seed, derived, uniform


def corrupt(y: Tensor, *, share: float, index: Tensor, seed: Seed = 0, num_classes: int | None = None) -> Tensor:
    """Return a copy of class indices in which some have another class, each of the others equally likely.

    A corrupted label always changes, as in the paper (60 % noise on two classes leaves 44 % accuracy there).

    Args:
        y: Class indices.
        share: Share of the graphs in ``index`` to corrupt.
        index: The graphs that may be corrupted.
        seed: An int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed.
        num_classes: Number of classes (default: as many as there are in ``y``).

    >>> y = torch.zeros(10, dtype=torch.long)
    >>> int(corrupt(y, share=0.4, index=torch.arange(10), num_classes=2).sum())
    4
    """
    if not 0 <= share <= 1:
        raise InputError(f"the share of corrupted labels must lie in [0, 1], got {share}")
    if y.dim() != 1 or y.is_floating_point():
        raise InputError(f"label noise needs class indices [graphs], got {y.dtype} {list(y.shape)}")
    num_classes = int(y.max()) + 1 if num_classes is None else num_classes
    if num_classes < 2:
        raise InputError("label noise needs at least two classes")
    generator = derived(base_seed(seed), "noise", share)
    hit = index[torch.randperm(index.numel(), generator=generator)[: round(share * index.numel())]]
    step = 1 + (uniform(hit.numel(), generator) * (num_classes - 1)).long()
    noisy = y.clone()
    noisy[hit] = (y[hit] + step) % num_classes
    return noisy
