"""Graphs with what is known about them: where they come from, what their labels mean, how they are officially split."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from epic.data.splits import Split
from epic.errors import InputError
from epic.pack import Pack, matrix


@dataclass(frozen=True)
class Dataset:
    """``task`` is ``classes`` (``y`` holds class indices), ``binary`` (0/1 tasks, NaN where missing) or ``values``
    (real targets).

    ``notes`` tell what a reader had to leave out or change.
    """

    name: str
    graphs: Pack
    task: str
    split: Split | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def y(self) -> Tensor:
        if self.graphs.y is None:
            raise InputError(f"{self.name} has no labels")
        return self.graphs.y

    @property
    def outputs(self) -> int:
        """Numbers that a model has to give for each graph."""
        return int(self.y.max()) + 1 if self.task == "classes" else matrix(self.y).shape[1]

    def __len__(self) -> int:
        return len(self.graphs)


def task_of(y: Tensor, name: str) -> str:
    """What labels are, by their look; refuse those that leave nothing to learn."""
    rows = matrix(y)
    if not y.is_floating_point():
        if y.dim() == 1 and y.unique().numel() < 2:
            raise InputError(f"{name} has one class only ({int(y[0])}): there is nothing to tell apart")
        return "classes" if y.dim() == 1 else "binary"
    known = rows[~torch.isnan(rows)]
    if bool(((known == 0) | (known == 1)).all()):
        if known.unique().numel() < 2:
            raise InputError(f"{name} has one class only ({float(known[0]):g}): there is nothing to tell apart")
        return "binary"
    return "values"
