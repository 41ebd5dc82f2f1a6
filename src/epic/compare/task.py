"""One unit of work of an experiment: a kind and a config, which decide its outcome."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from epic.errors import InputError


@dataclass(frozen=True)
class Task:
    """``kind`` says which function does it, ``config`` with which arguments (JSON values only)."""

    kind: str
    config: dict[str, Any]

    @cached_property
    def key(self) -> str:
        """Names the task: equal keys, equal outcome (on the same data)."""
        text = json.dumps([self.kind, self.config], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


@dataclass(frozen=True)
class Performer:
    """Does tasks, wherever it is sent. ``costs`` is a folder for learned costs, shared by all that need them."""

    costs: Path
    data: str | None = None

    def __call__(self, task: Task) -> dict[str, Any]:
        from epic.compare import kinds

        if task.kind not in kinds.KINDS:
            raise InputError(f"unknown kind of task {task.kind!r}")
        return kinds.KINDS[task.kind](task.config, self.costs, self.data)
