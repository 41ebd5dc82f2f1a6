"""Graphs with what is known about them: where they come from, what their labels mean, how they are officially split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import overload

import torch
from torch import Tensor
from torch_geometric.data import Data

from epic.data.splits import Split
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix
from epic.labels import check_classes, task_by_look


@dataclass(frozen=True)
class Dataset:
    """``task`` is ``classes`` (``y`` holds class indices, or rows of shares), ``binary`` (0/1 tasks, NaN where missing)
    or ``values`` (real targets).

    ``notes`` tell what a reader had to leave out or change. It is a sequence of its graphs, too: ``dataset[3]`` is a
    ``Data``, ``dataset[:9]`` a ``PackedGraphs``.
    """

    name: str
    graphs: PackedGraphs
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
        rows = matrix(self.y)
        return int(rows.max()) + 1 if self.task == "classes" and rows.shape[1] == 1 else rows.shape[1]

    @property
    def num_classes(self) -> int | None:
        """How many classes there are; None where labels are something else."""
        return self.outputs if self.task == "classes" else None

    def __len__(self) -> int:
        return len(self.graphs)

    def __iter__(self) -> Iterator[Data]:
        return iter(self.graphs)

    @overload
    def __getitem__(self, at: int) -> Data: ...
    @overload
    def __getitem__(self, at: slice) -> PackedGraphs: ...
    def __getitem__(self, at: int | slice) -> Data | PackedGraphs:
        return self.graphs[at]

    def __repr__(self) -> str:
        return f"Dataset({self.name}: {self.graphs.contents}; {self.task})"


def task_of(y: Tensor, name: str, task: str | None = None) -> str:
    """What labels are, by their look unless told; refuse those that cannot be learned or leave nothing to learn."""
    task = task or task_by_look(y)
    check_classes(y)
    rows = matrix(y)
    if rows.is_floating_point() and bool(torch.isinf(rows).any()):
        raise InputError(f"{name}: the label of graph {int(torch.isinf(rows).any(1).nonzero()[0])} is infinite")
    known = rows[~torch.isnan(rows)] if rows.is_floating_point() else rows
    if task == "classes" and rows.shape[1] > 1:
        known = rows.argmax(1)
    if task != "values" and known.unique().numel() < 2:
        only = f" ({float(known.flatten()[0]):g})" if known.numel() else ""
        raise InputError(f"{name} has one class only{only}: there is nothing to tell apart")
    return task
