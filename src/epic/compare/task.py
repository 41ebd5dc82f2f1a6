"""One unit of work of a plan, and how it is done."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from epic.errors import choose
from epic.nn.fit_loop import Reporter, reporting
from epic.train.config import run_config
from epic.train.network import Network
from epic.train.run import run

TaskRunner = Callable[[dict[str, Any], Path, str | None], dict[str, Any]]
"""Does one kind of task: config, folder of learned costs, data folder -> a record that JSON can hold."""


@dataclass(frozen=True)
class Task:
    """A unit of work.

    Attributes:
        kind: Which task runner does it.
        config: Its arguments, JSON values only. Kind and config decide the outcome.
    """

    kind: str
    config: dict[str, Any]

    @cached_property
    def key(self) -> str:
        """The name of the task: equal keys, equal outcome (on the same data)."""
        text = json.dumps([self.kind, self.config], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def train_task(config: dict[str, Any], costs: Path, data: str | None, network: Network | None = None) -> dict[str, Any]:
    """Train and evaluate one classifier; ``network`` is what the config names, if it names one."""
    record = run(run_config(**config), costs, data=data, progress=False, network=network)
    return {name: value for name, value in record.items() if name not in ("key", "config")}


def probe_task(config: dict[str, Any], costs: Path, data: str | None, network: Network | None = None) -> dict[str, Any]:
    """Do a short run to see how long a whole one takes. What it learns is thrown away."""
    ends: list[float] = []

    def note(what: str, done: int, total: int) -> None:
        if what != TRAINING:
            ends.append(time.perf_counter())

    with TemporaryDirectory() as folder, reporting(note):
        record = train_task(config, Path(folder), data, network)
    epoch = (ends[-1] - ends[0]) / (len(ends) - 1) if len(ends) > 1 else 0.0
    return {**record, "learning_epoch": epoch}


TRAINING = "training"
"""What the fit loop calls the training of a classifier; all else is learned before it."""


def task_runners(network: Network | None = None) -> dict[str, TaskRunner]:
    """Return what trains, with our backbones or with a network of the user's own."""
    return {"train": partial(train_task, network=network), "probe": partial(probe_task, network=network)}


@dataclass(frozen=True)
class Performer:
    """Does tasks, in whichever process it is sent to.

    Attributes:
        costs: Folder for learned costs, shared by all tasks that need them.
        data: Folder to look for data in.
        runners: The function for each kind of task. ``paper/`` adds its experiments.
        told: Folder in which a file with the name of a task tells how far it is; None tells nothing.
    """

    costs: Path
    data: str | None = None
    runners: Mapping[str, TaskRunner] = field(default_factory=task_runners)
    told: Path | None = None

    def __call__(self, task: Task) -> dict[str, Any]:
        runner = self.runners[choose(task.kind, self.runners, "kind of task")]
        if self.told is None or task.kind == "probe":
            return runner(task.config, self.costs, self.data)
        with reporting(self._teller(self.told / task.key)):
            return runner(task.config, self.costs, self.data)

    @staticmethod
    def _teller(file: Path) -> Reporter:
        before = 0.0  # what is learned before training counts as the first half

        def tell(what: str, done: int, total: int) -> None:
            nonlocal before
            if what != TRAINING:
                share, before = 0.5 * done / total, 0.5
            else:
                share = before + (1 - before) * done / total
            with suppress(OSError):  # a worker on another machine does not see the folder
                file.write_text(f"{share:.4f}")

        return tell
