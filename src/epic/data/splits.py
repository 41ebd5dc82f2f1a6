"""Splits into training, validation and test graphs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from epic.errors import InputError
from epic.graphs.packed import matrix
from epic.labels import task_by_look
from epic.random import derived


@dataclass(frozen=True)
class Split:
    """Indices of the three parts."""

    train: Tensor
    validation: Tensor
    test: Tensor


def stratified_split(y: Tensor, train: float = 0.7, validation: float = 0.1, seed: int = 0) -> Split:
    """Split each class alike after a seeded shuffle; what is left is test. Repeated splits take other seeds.

    The cuts are ``int(share * n)`` of each class, as the paper's printed accuracies show: the default leaves 823 test
    graphs of NCI1's 4110.
    """
    if not (0 < train < 1 and 0 <= validation < 1 and train + validation < 1):
        raise InputError(f"shares train={train}, validation={validation} must be positive and leave something to test")
    parts: list[list[Tensor]] = [[], [], []]
    for index in _shuffled_classes(y, seed):
        # Rounded before int(): 0.7 + 0.1 is 0.7999... in binary.
        cut, stop = int(round(train * index.numel(), 9)), int(round((train + validation) * index.numel(), 9))
        for part, piece in zip(parts, (index[:cut], index[cut:stop], index[stop:]), strict=True):
            part.append(piece)
    return Split(*(torch.cat(part).sort().values for part in parts))


def split_of(y: Tensor, official: Split | None, seed: int = 0) -> Split:
    """The official split where there is one, else 70/10/20, stratified where labels are classes or one 0/1 task."""
    if official is not None:
        return official
    if y.is_floating_point():
        flat = matrix(y)
        if task_by_look(y) == "classes":
            return stratified_split(flat.argmax(1), seed=seed)
        single = flat.shape[1] == 1 and bool(((flat == 0) | (flat == 1)).all())
        y = flat[:, 0].long() if single else torch.zeros(len(flat), dtype=torch.long)
    return stratified_split(y if y.dim() == 1 else y[:, 0], seed=seed)


def stratified_folds(y: Tensor, folds: int = 10, seed: int = 0) -> list[Split]:
    """K-fold cross-validation, each class dealt out in turn: fold f tests, fold f + 1 validates, the others train.

    >>> y = torch.tensor([0, 0, 0, 1, 1, 1])
    >>> [sorted(y[s.test].tolist()) for s in stratified_folds(y, 3)]
    [[0, 1], [0, 1], [0, 1]]
    """
    if not 3 <= folds <= y.numel():
        raise InputError(f"folds must lie between 3 and the number of graphs ({y.numel()}), got {folds}")
    fold = torch.empty_like(y)
    dealt = 0
    for index in _shuffled_classes(y, seed):
        # Go on dealing where the last class stopped, so that fold sizes differ by one at most.
        fold[index] = (torch.arange(index.numel()) + dealt) % folds
        dealt += index.numel()
    result = []
    for f in range(folds):
        test, validation = fold == f, fold == (f + 1) % folds
        result.append(Split(*(m.nonzero()[:, 0] for m in (~test & ~validation, validation, test))))
    return result


def _shuffled_classes(y: Tensor, seed: int) -> list[Tensor]:
    if y.dim() != 1 or y.is_floating_point():
        raise InputError(f"a stratified split needs class indices [graphs], got {y.dtype} {list(y.shape)}")
    found = []
    for c in y.unique():
        index = (y == c).nonzero()[:, 0]
        found.append(index[torch.randperm(index.numel(), generator=derived(seed, "split", int(c)))])
    return found
