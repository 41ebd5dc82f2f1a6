"""What does each kind of task of the paper's plans."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from epic.compare.task import TaskRunner, task_runners
from epic.paper.experiments.blur import blur_run
from epic.paper.experiments.curves import curves_run
from epic.paper.experiments.distance import distance_run
from epic.paper.experiments.lollipop import lollipop_run


def split_run(*, seed: int, **options: Any) -> dict[str, Any]:
    """Classify by nearest neighbours, on the split that the seed names.

    The paper prints a deviation for unit cost, in which nothing is random but the split.
    """
    return distance_run(seed=seed, split_seed=seed, **options)


def experiment_task(
    run: Callable[..., dict[str, Any]], needs: tuple[str, ...], config: dict[str, Any], costs: Path, data: str | None
) -> dict[str, Any]:
    """Do an experiment; ``needs`` names which folders it takes."""
    folders = {"costs": costs, "data": data}
    # The rest only tells runs of other code, or of other contents of a file, apart.
    arguments = {k: v for k, v in config.items() if k not in ("results_version", "checksum")}
    return run(**arguments, **{name: folders[name] for name in needs})


TASK_RUNNERS: dict[str, TaskRunner] = {
    **task_runners(),
    "distance": partial(experiment_task, split_run, ("data",)),
    "blur": partial(experiment_task, blur_run, ("costs", "data")),
    "curves": partial(experiment_task, curves_run, ("data",)),
    "lollipop": partial(experiment_task, lollipop_run, ()),
}
