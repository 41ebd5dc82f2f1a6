"""Splits into training, validation and test graphs, and the share of graphs that is held out in fitting."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import torch
from torch import Tensor

from epic.errors import InputError, choose
from epic.labels import class_columns, infer_task
from epic.random import Seed, base_seed, derived

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Split:
    """Indices of the training, validation and test graphs.

    Attributes:
        train: Indices of graphs to learn from.
        validation: Indices of graphs to choose settings and epochs with.
        test: Indices of graphs to report scores of.
    """

    train: Tensor
    validation: Tensor
    test: Tensor


def stratified_split(y: Tensor, *, train: float = 0.7, validation: float = 0.1, seed: Seed = 0) -> Split:
    """Split each class alike after a seeded shuffle; what is left is test.

    The cuts are ``int(share * n)`` of each class, as the paper's printed accuracies show: the default leaves 823 test
    graphs of NCI1's 4110.

    Args:
        y: Class indices ``[graphs]``.
        train: Share of training graphs.
        validation: Share of validation graphs.
        seed: Another seed gives another split.

    Returns:
        The three parts, each in rising order.

    Raises:
        InputError: The shares leave nothing to test, or labels are not class indices.
    """
    if not (0 < train < 1 and 0 <= validation < 1 and train + validation < 1):
        raise InputError(f"shares train={train}, validation={validation} must be positive and leave something to test")
    parts: list[list[Tensor]] = [[], [], []]
    for index in _shuffled_classes(y, seed, "split"):
        # Rounded before int(): 0.7 + 0.1 is 0.7999... in binary.
        cut, stop = int(round(train * index.numel(), 9)), int(round((train + validation) * index.numel(), 9))
        for part, piece in zip(parts, (index[:cut], index[cut:stop], index[stop:]), strict=True):
            part.append(piece)
    return Split(*(torch.cat(part).sort().values for part in parts))


def stratified_folds(y: Tensor, *, folds: int = 10, seed: Seed = 0) -> list[Split]:
    """Return K-fold splits, each class dealt out in turn: fold f tests, fold f + 1 validates, the others train.

    Args:
        y: Class indices ``[graphs]``.
        folds: Number of folds, at least 3.
        seed: Another seed gives other folds.

    Raises:
        InputError: There are fewer than 3 folds, or more folds than graphs.

    >>> y = torch.tensor([0, 0, 0, 1, 1, 1])
    >>> [sorted(y[s.test].tolist()) for s in stratified_folds(y, folds=3)]
    [[0, 1], [0, 1], [0, 1]]
    """
    if not 3 <= folds <= y.numel():
        raise InputError(f"folds must lie between 3 and the number of graphs ({y.numel()}), got {folds}")
    fold = torch.empty_like(y)
    dealt = 0
    for index in _shuffled_classes(y, seed, "split"):
        # Go on dealing where the last class stopped, so that fold sizes differ by one at most.
        fold[index] = (torch.arange(index.numel()) + dealt) % folds
        dealt += index.numel()
    masks = [(fold == f, fold == (f + 1) % folds) for f in range(folds)]
    return [Split(*(m.nonzero()[:, 0] for m in (~(test | val), val, test))) for test, val in masks]


def check_draw(size: int, graphs: int) -> None:
    """Refuse a number of labelled graphs that leaves nothing to test, or nothing to validate with."""
    if not 8 <= size < graphs:
        raise InputError(f"size must lie between 8 and the number of graphs less one ({graphs - 1}), got {size}")


def stratified_draw(y: Tensor, *, size: int, most: int = 2000, seed: Seed = 0) -> Split:
    """Draw labelled graphs for a learning curve; the rest of the data is test.

    Of ``size`` labelled graphs, one in eight validates, as in a 70/10/20 split. A larger draw with the same seed holds
    all graphs of a smaller one.

    Args:
        y: Class indices ``[graphs]``.
        size: Labelled graphs to draw, as nearly as equal shares of all classes allow.
        most: Test graphs at most.
        seed: Another seed gives another draw.

    Raises:
        InputError: ``size`` leaves nothing to test, or nothing to validate with.

    >>> split = stratified_draw(torch.tensor([0] * 50 + [1] * 50), size=40)
    >>> [part.numel() for part in (split.train, split.validation, split.test)]
    [36, 4, 60]
    """
    check_draw(size, y.numel())
    # Classes take turns by their share: the first graphs of this order are a stratified draw of any size.
    rank, place = torch.empty_like(y), torch.empty(y.numel(), dtype=torch.double)
    for index in _shuffled_classes(y, seed, "draw"):
        rank[index] = torch.arange(index.numel())
        place[index] = (rank[index].double() + 0.5) / index.numel()
    order = place.argsort(stable=True)
    labelled, rest = order[:size], order[size : size + most]
    validates = rank[labelled] % 8 == 7
    return Split(*(part.sort().values for part in (labelled[~validates], labelled[validates], rest)))


SPLITS = ("official", "stratified", "folds")


def split_of(
    y: Tensor, *, kind: str = "official", official: Split | None = None, size: int | None = None, seed: int = 0
) -> Split:
    """Return a split by its name and number; classes are those of :func:`strata`.

    Args:
        y: Labels of any kind.
        kind: ``official``: the given one where there is one; ``stratified``: 70/10/20; ``folds``: 80/10/10, numbers 0
            to 9 being the ten folds of one shuffle, 10 to 19 those of the next.
        official: The official split.
        size: Labelled graphs to draw (:func:`stratified_draw`); None takes the whole split.
        seed: Number of the split.
    """
    choose(kind, SPLITS, "split")
    if size is not None:
        return stratified_draw(strata(y), size=size, seed=seed)
    if kind == "official" and official is not None:
        if seed:
            log.warning(f"split {seed} is the same as split 0: this split is given. Take the split stratified or folds")
        return official
    if kind == "folds":
        return stratified_folds(strata(y), seed=seed // 10)[seed % 10]
    return stratified_split(strata(y), seed=seed)


def need_parts(split: Split, *names: str) -> Split:
    """Return the split if the parts of these names have graphs (default: all parts)."""
    sizes = {name: part.numel() for name, part in vars(split).items()}
    total = sum(sizes.values())
    if not all(sizes[name] for name in names or sizes):
        remedy = "take the split folds (--split folds)" if total >= 10 else "give 10 graphs at least"
        raise InputError(
            f"this split of {total} graphs leaves {sizes['train']} to train, {sizes['validation']} to validate and "
            f"{sizes['test']} to test: {remedy}"
        )
    return split


def hold_out(y: Tensor, *, share: float = 0.1, least: int = 1, seed: Seed = 0) -> tuple[Tensor, Tensor]:
    """Set aside a share of the graphs of each class.

    Args:
        y: Labels of any kind; the classes are those of :func:`strata`.
        share: Share of each class to set aside, in [0, 1).
        least: Graphs of a class to set aside at least. A class of fewer than ``5 * least`` graphs is not touched.
        seed: Another seed holds out other graphs.

    Returns:
        Sorted indices of the graphs that stay, and of those held out (there may be none).

    Raises:
        InputError: ``share`` is not in [0, 1).

    >>> stays, held = hold_out(torch.tensor([0] * 20 + [1] * 10 + [2] * 3), share=0.2)
    >>> len(stays), len(held)
    (27, 6)
    """
    if not 0 <= share < 1:
        raise InputError(f"the share of graphs to hold out must lie in [0, 1), got {share}")
    held = torch.zeros(y.shape[0], dtype=torch.bool)
    for index in _shuffled_classes(strata(y), seed, "hold out"):
        if share and index.numel() >= 5 * least:
            held[index[: max(least, round(share * index.numel()))]] = True
    return (~held).nonzero()[:, 0], held.nonzero()[:, 0]


def strata(y: Tensor) -> Tensor:
    """Return the class of each graph where labels are classes or one 0/1 task; the same for all where they are not."""
    if not y.is_floating_point() and y.numel() == y.shape[0]:
        return y.reshape(-1).cpu()  # in any numbering
    task = infer_task(y)
    if task != "values" and (columns := class_columns(y.cpu(), task)).shape[1] == 1:
        return columns[:, 0]
    return torch.zeros(y.shape[0], dtype=torch.long)


def _shuffled_classes(y: Tensor, seed: Seed, purpose: str) -> list[Tensor]:
    if y.dim() != 1 or y.is_floating_point():
        raise InputError(f"a stratified split needs class indices [graphs], got {y.dtype} {list(y.shape)}")
    start, found = base_seed(seed), []
    for c in y.unique():
        index = (y == c).nonzero()[:, 0]
        found.append(index[torch.randperm(index.numel(), generator=derived(start, purpose, int(c)))])
    return found
