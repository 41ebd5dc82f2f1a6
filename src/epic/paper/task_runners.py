"""What does each kind of task of the paper's plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from epic.compare.task import TaskRunner, task_runners
from epic.paper.experiments.blur import blur_run
from epic.paper.experiments.curves import curves_run
from epic.paper.experiments.distance import distance_run
from epic.paper.experiments.lollipop import lollipop_run


def distance_task(config: dict[str, Any], costs: Path, data: str | None) -> dict[str, Any]:
    """Classify by nearest neighbours, on the split that the seed names.

    The paper prints a deviation for unit cost, in which nothing is random but the split.
    """
    return distance_run(**_arguments(config), split_seed=config["seed"], data=data)


def blur_task(config: dict[str, Any], costs: Path, data: str | None) -> dict[str, Any]:
    """Measure how far the soft assignment is from the exact one, by the number of Sinkhorn iterations."""
    return blur_run(**_arguments(config), costs=costs, data=data)


def curves_task(config: dict[str, Any], costs: Path, data: str | None) -> dict[str, Any]:
    """Record loss curves of learning costs."""
    return curves_run(**_arguments(config), data=data)


def lollipop_task(config: dict[str, Any], costs: Path, data: str | None) -> dict[str, Any]:
    """Measure learned substitution costs by head and tail."""
    return lollipop_run(**_arguments(config))


def _arguments(config: dict[str, Any]) -> dict[str, Any]:
    """Drop what only tells runs of other code, or of other contents of a file, apart."""
    return {k: v for k, v in config.items() if k not in ("results_version", "checksum")}


TASK_RUNNERS: dict[str, TaskRunner] = {
    **task_runners(),
    "distance": distance_task,
    "blur": blur_task,
    "curves": curves_task,
    "lollipop": lollipop_task,
}
