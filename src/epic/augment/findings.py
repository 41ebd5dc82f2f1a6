"""What graphs show about themselves: what their labels are, and whether ``x`` holds node degrees."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

from epic.data.dataset import Dataset
from epic.errors import InputError, choose
from epic.graphs.degrees import DegreeFeatures, demanded, detect, informative
from epic.graphs.packed import Graphs, PackedGraphs
from epic.labels import TASKS, count_classes, infer_task, known_task

MOST_CLASSES_OF_A_FILE = 1_000_000
"""A file that claims more is refused: labels of one class each would fill the memory."""


@dataclass(frozen=True)
class Findings:
    """What was found out about graphs.

    Attributes:
        num_classes: Number of classes, None where labels are no classes or nothing is known.
        task: What labels are.
        degrees: The degree features that ``x`` holds, if it does.
        decided: Whether the question of degrees is settled.
    """

    num_classes: int | None = None
    task: str | None = None
    degrees: DegreeFeatures | None = None
    decided: bool = False

    @staticmethod
    def of_labels(dataset: Graphs, packed: PackedGraphs, task: str | None = None) -> Findings:
        """Return what the labels of a dataset are; ``task`` is what the user says."""
        y = packed.labels
        if isinstance(dataset, Dataset):
            return Findings(dataset.num_classes, dataset.task)
        task = known_task(y, task)
        return Findings(None if task == "values" else count_classes(y), task)

    def with_graphs(self, graphs: PackedGraphs, degree_features: bool | None, decide: bool) -> Findings:
        """Return the findings after a look at further graphs.

        ``degree_features`` is what the user says about ``x``; None looks. ``decide`` settles the question of degrees
        even if these graphs cannot tell.
        """
        task = infer_task(graphs.y) if self.task is None and graphs.y is not None else self.task
        found = replace(self, task=task)
        if degree_features is not None:
            return replace(found, degrees=demanded(graphs) if degree_features else None, decided=True)
        degrees = detect(graphs)
        if degrees is not None:
            warnings.warn(
                "x holds node degrees: they are computed again after each change. Pass degree_features=True to "
                "confirm or degree_features=False to leave x as it is",
                stacklevel=4,
            )
        return replace(found, degrees=degrees, decided=decide or informative(graphs))

    @staticmethod
    def from_json(values: dict[str, Any]) -> Findings:
        """Return the findings that ``asdict`` gave the values of."""
        degrees = values["degrees"]
        found = Findings(**{**values, "degrees": None if degrees is None else DegreeFeatures(**degrees)})
        if found.task is not None:
            choose(found.task, TASKS, "task")
        if found.num_classes is not None and not 1 <= found.num_classes <= MOST_CLASSES_OF_A_FILE:
            raise InputError(f"{found.num_classes} classes")
        return found
