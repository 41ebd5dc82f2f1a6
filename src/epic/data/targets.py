"""Labels from the cells of a table: numbers, or names of classes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from epic.data.dataset import task_of
from epic.errors import InputError, choose
from epic.labels import MOST_CLASSES, TASKS, infer_task

MISSING = ("", "nan", "na", "n/a", "null", "none")


@dataclass(frozen=True)
class Cell:
    """A label as written in the file, and where."""

    where: str
    text: str

    @property
    def missing(self) -> bool:
        """Whether it says that there is no label."""
        return self.text.lower() in MISSING

    @property
    def is_number(self) -> bool:
        """Whether it is one, finite or not."""
        try:
            float(self.text)
            return True
        except ValueError:
            return False

    @property
    def number(self) -> float:
        """Its value; NaN if it is missing."""
        if self.missing:
            return math.nan
        if not self.is_number:
            comma = ": write decimals with a point" if re.fullmatch(r"[-+]?\d+,\d+", self.text) else ""
            raise InputError(f"{self.where} is {self.text!r}, not a number{comma}")
        if not abs(value := float(self.text)) <= torch.finfo(torch.float).max:
            raise InputError(f"{self.where} is {self.text!r}, not a finite number: correct it, or leave it empty")
        return value

    @property
    def index(self) -> int:
        """Its value as a class index."""
        self.need()
        if not self.number.is_integer():
            raise InputError(f"{self.where} is {self.text!r}, not a class index: classes are 0, 1, 2, ...")
        return int(self.number)

    def need(self) -> None:
        """Refuse a missing class."""
        if self.missing:
            raise InputError(
                f"{self.where} is missing, and a class must not be: leave out the row, or say --task values "
                "(task= in Python)"
            )


@dataclass(frozen=True)
class Labels:
    """Labels of a table.

    Attributes:
        y: One row for each molecule; None if there are no labels.
        task: What they are.
        note: What may be unexpected; empty if nothing is.
        class_names: What the file calls the classes, by number; empty if it numbers them.
    """

    y: Tensor | None
    task: str
    note: str = ""
    class_names: tuple[str, ...] = ()


def read_labels(path: Path, cells: list[list[Cell]], task: str | None) -> Labels:
    """Return labels, and what they are: as given, or as they look.

    Raises:
        InputError: A cell does not fit. The message names it.
    """
    if task is not None:
        choose(task, TASKS, "task")
    known = [cell for row in cells for cell in row if not cell.missing]
    if task != "values" and known and not any(cell.is_number for cell in known):
        return _named(path, cells, known, task)
    y, note = torch.tensor([[cell.number for cell in row] for row in cells]), ""
    single = y.shape[1] == 1
    if task is None:
        if set(y[~torch.isnan(y)].tolist()) == {-1.0, 1.0}:
            raise InputError(
                f"{path}: the labels are -1 and 1. Write 0 and 1 for two classes, or say --task values (task= in "
                "Python) if they are numbers"
            )
        if single and (classes := _classes({cell.text for cell in known})):
            task, note = "classes", f"labels 0 to {classes - 1} are taken for classes (--task values: for numbers)"
    if task == "classes" and single:
        y = torch.tensor([row[0].index for row in cells])
    elif task == "classes" and infer_task(y) != task:
        raise InputError(f"{path}: classes are one column of 0, 1, 2, ..., or columns that sum to 1 in every row")
    elif task == "binary" and bool((odd := (y != 0) & (y != 1) & ~torch.isnan(y)).any()):
        row, column = odd.nonzero()[0].tolist()
        cell = cells[row][column]
        raise InputError(f"{cell.where} is {cell.text!r}, but binary labels are 0 or 1")
    return Labels(y, task_of(y, str(path), task), note)


def _named(path: Path, cells: list[list[Cell]], known: list[Cell], task: str | None) -> Labels:
    """Return labels that are names of classes. Two names are a 0/1 task, as 0 and 1 are; more are classes."""
    names = class_order({cell.text for cell in known})
    single = len(cells[0]) == 1
    if len(names) > MOST_CLASSES and task is None:
        raise InputError(
            f"{known[0].where} is {known[0].text!r}, not a number, and {len(names)} different texts are many for names "
            "of classes: choose another column with --target (target= in Python), or say --task classes"
        )
    if len(names) > 2 and (task == "binary" or not single):
        raise InputError(f"{path}: the labels {', '.join(names[:5])} are {len(names)} names, but 0/1 tasks have two")
    note = ", ".join(f"{name} is class {number}" for number, name in enumerate(names))
    if len(names) == 2 and task != "classes":
        y = torch.tensor([[math.nan if c.missing else float(names.index(c.text)) for c in row] for row in cells])
    elif single:
        for row in cells:
            row[0].need()
        y = torch.tensor([names.index(row[0].text) for row in cells])
    else:
        raise InputError(f"{path}: names of classes are one column, not {len(cells[0])}")
    if len(names) == 1:
        raise InputError(f"{path} has one class only ({names[0]}): there is nothing to tell apart")
    task = "binary" if y.is_floating_point() else "classes"
    return Labels(y, task_of(y, str(path), task), note, tuple(names))


def class_order(names: set[str]) -> list[str]:
    """Sort names of classes; of two, the one that negates the other comes first, so that class 1 is the positive one.

    >>> class_order({"active", "inactive"}), class_order({"yes", "no"})
    (['inactive', 'active'], ['no', 'yes'])
    """
    found = sorted(names)
    return found[::-1] if len(found) == 2 and found[0].lower() in found[1].lower() else found


def _classes(texts: set[str]) -> int:
    """Return the number of classes if labels look like at most ``MOST_CLASSES`` indices with none left out, else 0.

    >>> _classes({"0", "2", "1"}), _classes({"0", "1"}), _classes({"0", "1.0", "2"}), _classes({"1", "2", "3"})
    (3, 0, 0, 0)
    """
    if not all(re.fullmatch(r"\d+", text) for text in texts):
        return 0
    values = set(map(int, texts))
    return len(values) if 3 <= len(values) <= MOST_CLASSES and max(values) == len(values) - 1 else 0
