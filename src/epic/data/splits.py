"""Splits into training, validation and test graphs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from epic.errors import InputError
from epic.randomness import derived


@dataclass(frozen=True)
class Split:
    """Indices of the three parts."""

    train: Tensor
    validation: Tensor
    test: Tensor


def stratified_split(y: Tensor, train: float = 0.7, validation: float = 0.1, seed: int = 0) -> Split:
    """Split each class alike after a seeded shuffle; what is left is test.

    The cuts are ``int(share * n)`` of each class, as the paper's printed accuracies show: the default leaves 823 test
    graphs of NCI1's 4110.
    """
    if not (0 < train < 1 and 0 <= validation < 1 and train + validation < 1):
        raise InputError(f"shares train={train}, validation={validation} must be positive and leave something to test")
    if y.dim() != 1 or y.is_floating_point():
        raise InputError(f"a stratified split needs class indices [graphs], got {y.dtype} {list(y.shape)}")
    parts: list[list[Tensor]] = [[], [], []]
    for c in y.unique():
        index = (y == c).nonzero()[:, 0]
        index = index[torch.randperm(index.numel(), generator=derived(seed, "split", int(c)))]
        # Rounded before int(): 0.7 + 0.1 is 0.7999... in binary.
        cut, stop = int(round(train * index.numel(), 9)), int(round((train + validation) * index.numel(), 9))
        for part, piece in zip(parts, (index[:cut], index[cut:stop], index[stop:]), strict=True):
            part.append(piece)
    return Split(*(torch.cat(part).sort().values for part in parts))
