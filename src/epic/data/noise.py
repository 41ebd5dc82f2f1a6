"""Wrong labels, to see what they do."""

from __future__ import annotations

import torch
from torch import Tensor

from epic.errors import InputError
from epic.random import derived, uniform


def corrupt(y: Tensor, share: float, index: Tensor, seed: int, num_classes: int | None = None) -> Tensor:
    """A copy of class indices in which ``share`` of the graphs in ``index`` have another class, all other classes
    alike.

    A corrupted label always changes, as in the paper (60 % noise on two classes leaves 44 % accuracy there).

    >>> y = torch.zeros(10, dtype=torch.long)
    >>> int(corrupt(y, 0.4, torch.arange(10), seed=0, num_classes=2).sum())
    4
    """
    if not 0 <= share <= 1:
        raise InputError(f"the share of corrupted labels must lie in [0, 1], got {share}")
    if y.dim() != 1 or y.is_floating_point():
        raise InputError(f"label noise needs class indices [graphs], got {y.dtype} {list(y.shape)}")
    num_classes = int(y.max()) + 1 if num_classes is None else num_classes
    if num_classes < 2:
        raise InputError("label noise needs at least two classes")
    generator = derived(seed, "noise", share)
    hit = index[torch.randperm(index.numel(), generator=generator)[: round(share * index.numel())]]
    step = 1 + (uniform(hit.numel(), generator) * (num_classes - 1)).long()
    noisy = y.clone()
    noisy[hit] = (y[hit] + step) % num_classes
    return noisy
