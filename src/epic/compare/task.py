"""One unit of work of a plan, and how it is done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from epic.errors import choose
from epic.train.config import run_config
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


def train_task(config: dict[str, Any], costs: Path, data: str | None) -> dict[str, Any]:
    """Train and evaluate one classifier."""
    record = run(run_config(**config), costs, data=data, progress=False)
    return {name: value for name, value in record.items() if name not in ("key", "config")}


@dataclass(frozen=True)
class Performer:
    """Does tasks, in whichever process it is sent to.

    Attributes:
        costs: Folder for learned costs, shared by all tasks that need them.
        data: Folder to look for data in.
        runners: What does each kind of task. The paper's experiments add theirs.
    """

    costs: Path
    data: str | None = None
    runners: Mapping[str, TaskRunner] = field(default_factory=lambda: {"train": train_task})

    def __call__(self, task: Task) -> dict[str, Any]:
        return self.runners[choose(task.kind, self.runners, "kind of task")](task.config, self.costs, self.data)
