"""Graphs with what is known about them: their source, what their labels mean, their official split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import torch
from torch import Tensor
from torch_geometric.data import Data

from epic.data.splits import Split
from epic.errors import InputError, nearest
from epic.graphs.packed import PackedGraphs, matrix
from epic.labels import class_columns, known_task


@dataclass(frozen=True)
class Dataset:
    """Graphs and what is known about them, a sequence.

    ``dataset[3]`` is a ``Data``; ``dataset[:9]`` and ``dataset[split.train]`` are packed graphs.

    Args:
        name: Where the graphs come from.
        graphs: The graphs.
        task: What their labels are, one of :data:`epic.labels.TASKS`; empty if they have none.
        split: The official split, if there is one.
        notes: What a reader had to leave out or change.
        degree_features: Whether ``x`` was made from node degrees.
        atoms: The element of each node label, where the files of the set say so.
        bonds: The bond of each edge label, likewise.
    """

    name: str
    graphs: PackedGraphs
    task: str
    split: Split | None = None
    notes: tuple[str, ...] = ()
    degree_features: bool = False
    atoms: tuple[str, ...] = ()
    bonds: tuple[str, ...] = ()

    @property
    def y(self) -> Tensor:
        """The labels, as the graphs carry them."""
        if self.graphs.y is None:
            raise InputError(
                f"{self.name} has no labels: give each graph a y, or a table a column that --target names (target= in "
                "Python)"
            )
        return self.graphs.y

    @property
    def outputs(self) -> int:
        """Numbers that a model must return for each graph."""
        rows = matrix(self.y)
        return int(rows.max()) + 1 if self.task == "classes" and rows.shape[1] == 1 else rows.shape[1]

    @property
    def num_classes(self) -> int | None:
        """Number of classes; None if labels are something else."""
        return self.outputs if self.task == "classes" else None

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes by number; empty if they have none."""
        return self.graphs.class_names

    @property
    def class_counts(self) -> dict[str, int]:
        """How many graphs each class has, by its name; empty if classes have none."""
        label = matrix(self.y)[:, 0] if self.class_names else torch.zeros(0)
        return {name: int((label == number).sum()) for number, name in enumerate(self.class_names)}

    def find(self, which: int | str) -> int:
        """Return the number of a graph in this dataset.

        Args:
            which: The row of its file, from 0 with the header not counted, or its name. Graphs that come from no rows
                are counted from 0.

        Raises:
            InputError: There is no such graph, the row was left out, or several graphs have the name.
        """
        rows = list(self.graphs.per_graph.get("row", range(len(self))))
        names = list(self.graphs.per_graph.get("name", ()))
        if str(which).isdecimal() and int(which) in rows:
            return rows.index(int(which))
        found = [i for i, name in enumerate(names) if name == str(which)]
        if len(found) > 1:
            raise InputError(
                f"{len(found)} graphs of {self.name} are called {which!r}: give a row, such as {rows[found[0]]}"
            )
        if found:
            return found[0]
        if str(which).isdecimal() and int(which) < rows[-1]:
            raise InputError(f"row {which} of {self.name} was left out: its molecule could not be read")
        near = nearest(str(which), [name for name in names if name])
        hint = f", but {' and '.join(map(repr, near))}" if near else ""
        what = "rows run, without the header," if "row" in self.graphs.per_graph else "graphs run"
        raise InputError(f"there is no graph {which} in {self.name}{hint}: {what} from {rows[0]} to {rows[-1]}")

    def __len__(self) -> int:
        return len(self.graphs)

    def __iter__(self) -> Iterator[Data]:
        return iter(self.graphs)

    @overload
    def __getitem__(self, at: int) -> Data: ...
    @overload
    def __getitem__(self, at: slice | Tensor | Sequence) -> PackedGraphs: ...
    def __getitem__(self, at: int | slice | Tensor | Sequence) -> Data | PackedGraphs:
        return self.graphs[at]

    def __repr__(self) -> str:
        return f"Dataset({self.name}: {self.graphs.contents}; {self.task})"


def task_of(y: Tensor, name: str, task: str | None = None) -> str:
    """Return what labels are: ``task``, or inferred from the labels.

    Raises:
        InputError: A label is infinite, or there is one class only.
    """
    task = known_task(y, task)
    if y.is_floating_point() and bool(torch.isinf(y).any()):
        raise InputError(f"{name}: the label of graph {int(torch.isinf(matrix(y)).any(1).nonzero()[0])} is infinite")
    known = matrix(y)[~torch.isnan(matrix(y))] if y.is_floating_point() else y
    if not known.numel() and len(y):
        raise InputError(f"{name} has no label: all are missing or nan")
    if task == "values" and known.numel() and bool((known == known[0]).all()):
        raise InputError(f"{name} has one target only ({float(known[0]):g}): there is nothing to tell apart")
    if task != "values":
        classes = class_columns(y, task)
        found = classes[classes >= 0].unique().tolist()
        if len(found) < 2:
            only = f" ({found[0]})" if found else ""
            raise InputError(f"{name} has one class only{only}: there is nothing to tell apart")
    return task
