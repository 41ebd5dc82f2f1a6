"""Which graphs to compare in learning: an anchor, one that should be near it, one that should be far."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor

from epic.data.splits import hold_out
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs
from epic.labels import class_columns, infer_task
from epic.random import GroupSampler, derived, uniform


class Triplets:
    """Draw triplets from labels.

    Classes: the positive shares the anchor's class (of soft rows, the largest share). 0/1 tasks: one task is drawn for
    each anchor among those where it has a label and both sides exist. Real values: of two random graphs, the one nearer
    in value is the positive.

    Args:
        y: Labels, one row for each graph.
        task: One of :data:`epic.labels.TASKS`; inferred from the labels if None.

    Raises:
        InputError: The labels leave nothing to tell apart.
    """

    def __init__(self, y: Tensor, task: str | None = None) -> None:
        task = task or infer_task(y)
        self.count = y.shape[0]
        self.ordinal = task == "values"
        if self.ordinal:
            self.value = y.reshape(self.count, -1)
            if not bool(torch.isfinite(self.value).all()):
                raise InputError("real-valued labels hold NaN or infinity: drop those graphs")
            if float(self.value.max()) == float(self.value.min()):
                raise InputError(
                    f"all graphs have the same target {float(self.value[0, 0])}: there is nothing to tell apart"
                )
            self.anchors = torch.arange(self.count)
            return
        classes = class_columns(y, task)
        self.tasks = [GroupSampler(column) for column in classes.T]
        self.usable = torch.stack([t.has_same & t.has_other for t in self.tasks], dim=1)
        self.anchors = self.usable.any(1).nonzero()[:, 0]
        if self.anchors.numel() == 0:
            seen = classes[classes >= 0].unique().tolist()
            raise InputError(
                f"the labels have {len(seen)} class(es) {seen[:5]}, none with two graphs next to another class: "
                "learning costs needs at least two classes and two graphs in one of them"
            )

    def draw(self, anchor: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return a positive and a negative for each anchor."""
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
        gap_one, gap_two = ((self.value[other] - self.value[anchor]).abs().sum(1) for other in (one, two))
        swap = gap_two < gap_one
        return torch.where(swap, two, one), torch.where(swap, one, two)


def split_graphs(graphs: PackedGraphs, *, share: float, seed: int) -> tuple[PackedGraphs, PackedGraphs | None]:
    """Hold out a stratified share of graphs for validation, two of a class at least (else there is no triplet)."""
    stays, out = hold_out(graphs.labels, share=share, least=2, seed=seed)
    return (graphs.select(stays), graphs.select(out)) if out.numel() else (graphs, None)


def judge_triplets(gaps: Iterable[Tensor], margin: float) -> dict[str, float]:
    """Return the mean loss of validation triplets, and the share whose positive is nearer (a gap below 0)."""
    gap = torch.cat(list(gaps))
    loss, ordered = F.relu(gap + margin).mean(), (gap < 0).double().mean()
    return {"validation": float(loss), "ordered": float(ordered)}


def fixed_triplets(graphs: PackedGraphs, task: str | None, seed: int) -> tuple[Tensor, Tensor, Tensor] | None:
    """Return validation triplets: about 512, several for each graph if there are few, so that the loss is not mostly
    noise.

    Warns and returns None if the labels leave nothing to tell apart.
    """
    y = graphs.labels.cpu()
    try:
        triplets = Triplets(y, task)
    except InputError as error:
        warnings.warn(
            f"the validation graphs are not used, and the training loss chooses the epoch: {error}", stacklevel=5
        )
        return None
    anchor = triplets.anchors.repeat(math.ceil(512 / triplets.anchors.numel()))
    return anchor, *triplets.draw(anchor, derived(seed, "validation"))
