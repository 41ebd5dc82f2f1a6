"""Which graphs to compare in learning: an anchor, one that should be near it, one that should be far."""

from __future__ import annotations

import torch
from torch import Tensor

from epic.errors import InputError
from epic.graphs.packed import matrix
from epic.labels import check_classes
from epic.random import GroupSampler, uniform


class Triplets:
    """Draws triplets from labels.

    Class indices: the positive shares the anchor's class. One-hot or soft rows: the class is the largest entry. 0/1
    tasks with NaN for missing: one task is drawn for each anchor among those where it has a label and both sides exist.
    Real values: of two random graphs, the one nearer in value is the positive.
    """

    def __init__(self, y: Tensor) -> None:
        kind, value = _read(y)
        self.count = y.shape[0]
        self.value = value
        self.ordinal = kind == "real"
        if self.ordinal:
            if not bool(torch.isfinite(value).all()):
                raise InputError("real-valued labels hold NaN or infinity: drop those graphs")
            if float(value.max()) == float(value.min()):
                raise InputError(f"all graphs have the same target {float(value[0])}: there is nothing to tell apart")
            self.anchors = torch.arange(self.count)
            return
        self.tasks = [GroupSampler(column) for column in value.T]
        self.usable = torch.stack([t.has_same & t.has_other for t in self.tasks], dim=1)
        self.anchors = self.usable.any(1).nonzero()[:, 0]
        if self.anchors.numel() == 0:
            seen = value[value >= 0].unique().tolist()
            raise InputError(
                f"the labels have {len(seen)} class(es) {seen[:5]}, none with two graphs beside another class: "
                "learning costs needs at least two classes and two graphs in one of them"
            )

    def draw(self, anchor: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """A positive and a negative for each anchor."""
        return self._by_value(anchor, generator) if self.ordinal else self._by_class(anchor, generator)

    def _by_class(self, anchor: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        task = torch.multinomial(self.usable[anchor].double(), 1, generator=generator)[:, 0]
        near, far = uniform(anchor.numel(), generator), uniform(anchor.numel(), generator)
        positive, negative = torch.empty_like(anchor), torch.empty_like(anchor)
        for t, partners in enumerate(self.tasks):
            here = (task == t).nonzero()[:, 0]
            positive[here] = partners.same(anchor[here], near[here])
            negative[here] = partners.other(anchor[here], far[here])
        return positive, negative

    def _by_value(self, anchor: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        shift = uniform(2 * anchor.numel(), generator).view(2, -1) * (self.count - 1)
        one, two = (anchor + 1 + shift.long()) % self.count
        gap_one = (self.value[one] - self.value[anchor]).abs().sum(1)
        gap_two = (self.value[two] - self.value[anchor]).abs().sum(1)
        swap = gap_two < gap_one
        return torch.where(swap, two, one), torch.where(swap, one, two)


def _read(y: Tensor) -> tuple[str, Tensor]:
    """Kind of labels and a matrix ``[graphs, tasks]``: classes (-1 for missing), or real values."""
    rows = matrix(y)
    check_classes(rows)
    if not rows.is_floating_point():
        return "class", rows.long()
    filled = torch.where(torch.isnan(rows), 0.0, rows)
    binary = bool(((filled == 0) | (filled == 1)).all())
    missing = bool(torch.isnan(rows).any())
    if (
        rows.shape[1] > 1
        and not missing
        and bool((rows >= 0).all())
        and bool(((rows.double().sum(1) - 1).abs() < 1e-3).all())
    ):
        return "class", rows.argmax(1, keepdim=True)
    if binary:
        return "class", torch.where(torch.isnan(rows), -1.0, rows).long()
    return "real", rows
