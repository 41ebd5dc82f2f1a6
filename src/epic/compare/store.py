"""Results of runs: one JSON line for each finished task, in a file that only grows."""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from epic.compare.task import Task
from epic.errors import InputError
from epic.labels import TASKS

log = logging.getLogger(__name__)

Fits = Callable[[Any], bool]
MOST_ASKED = 1000
"""Seeds, splits or settings that a call may ask for: each of them makes its plan longer."""
RECORD = b'{"key"'
"""How a line begins."""
NAMED = 3
"""Lines that are left out are named, up to this many."""


class Store:
    """Records by task.

    A line is ``{"key", "kind", "config", ...}``; a failed task has ``error`` instead of scores. The last record of a
    task wins, except that an error never replaces a success. So files of two machines merge with ``cat``. A line that
    is no record, such as one torn by a kill, is skipped and named.

    Attributes:
        skipped: File, line and reason of each line that was skipped.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._records: dict[str, dict[str, Any]] = {}
        self.skipped: dict[tuple[Path, int], str] = {}
        self._told: dict[Path, int] = {}
        self._size = 0
        if self.path.exists():
            self._read(self.path)

    @classmethod
    def merged(cls, paths: Sequence[str | Path]) -> Store:
        """Read several files as one.

        Raises:
            InputError: A file does not exist, or there are no results in any.
        """
        for path in map(Path, paths):
            if not path.exists():
                raise InputError(f"there is no file {path}: run `epic reproduce` first, or name its results")
        store = cls(paths[0])
        for path in map(Path, paths[1:]):
            store._read(path)
        if not store._records:
            raise InputError(f"{', '.join(map(str, paths))}: no results there yet")
        return store

    def _read(self, path: Path) -> None:
        if path.is_dir():
            raise InputError(f"{path} is a folder: name a .jsonl file for results")
        try:
            self._size = path.stat().st_size
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"cannot read results from {path}: {error.strerror}") from error
        for number, line in enumerate(text.split("\n"), 1):
            try:
                record = _record_of(line) if line.strip() else None
            except (ValueError, RecursionError) as error:
                self.skipped.setdefault((path, number), str(error))
                continue
            if record is not None and ("error" not in record or "error" in self._records.get(record["key"], record)):
                self._records[record["key"]] = record
        new = {line: reason for (file, line), reason in self.skipped.items() if file == path}
        if new and self._told.get(path) != len(new):
            self._told[path] = len(new)
            named = "; ".join(f"line {line}: {reason}" for line, reason in list(new.items())[:NAMED])
            more = f"; and {len(new) - NAMED} more" if len(new) > NAMED else ""
            log.warning(f"{path}: {len(new)} lines are not results and are skipped ({named}{more})")

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._records.values())

    def get(self, task: Task) -> dict[str, Any] | None:
        """Return the record of a task that was done with success."""
        record = self._records.get(task.key)
        return None if record is None or "error" in record else record

    def failed(self, task: Task) -> str | None:
        """Return the error of a task that failed and was not done since."""
        return self._records.get(task.key, {}).get("error")

    @contextmanager
    def writer(self) -> Iterator[Writer]:
        """Open the file for appending; a second writer is refused while the first is at work."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("ab+", buffering=0)
        except OSError as error:
            raise InputError(f"cannot write results to {self.path}: {error.strerror}; name another file") from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InputError(
                    f"{self.path} is being written by another run: wait for it, or name another"
                ) from error
            end = file.seek(0, os.SEEK_END)
            changed = end != self._size
            if changed:
                self._read(self.path)
            file.seek(0)
            if not self._records and not RECORD.startswith(file.read(len(RECORD))):  # a torn record begins like others
                raise InputError(f"{self.path} holds something else than results: name another file")
            if end:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # torn by a kill: what comes next must begin a line of its own
                    file.write(b"\n")
            yield Writer(self, file, changed)
            self._size = file.tell()


class Writer:
    """Appends records, each on the disk before the next.

    Attributes:
        changed: Whether another process had written since the store was read.
    """

    def __init__(self, store: Store, file: Any, changed: bool) -> None:
        self._store, self._file, self.changed = store, file, changed

    def add(self, task: Task, outcome: dict[str, Any]) -> None:
        """Append one record."""
        record = {"key": task.key, "kind": task.kind, "config": task.config, **outcome}
        line, start = json.dumps(record).encode() + b"\n", self._file.seek(0, os.SEEK_END)
        try:
            while line:
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(start)  # remove the partial line
            raise InputError(f"cannot write results to {self._store.path}: {error.strerror}") from error
        self._store._records[task.key] = record


def _record_of(line: str) -> dict[str, Any]:
    """Read one line. A torn line may have another file appended to it.

    Raises:
        ValueError: It is no record, and why.
    """
    try:
        record = json.loads(line[max(0, line.rfind('{"key": ')) :])
    except ValueError:
        raise ValueError("no JSON, or torn by a kill") from None
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise ValueError("no record of a task")
    if not isinstance(record.get("config"), dict):
        raise ValueError("its config is missing")
    if record.get("key") != Task(record["kind"], record["config"]).key:
        raise ValueError("its key is not that of its config")
    needed = ("error",) if "error" in record else NEEDED.get(record["kind"], ())
    if missing := [name for name in needed if name not in record]:
        raise ValueError(f"it lacks {', '.join(missing)}")
    for name, fits in FIELDS.items():
        if name in record and not fits(record[name]):
            raise ValueError(f"its {name} is {str(record[name])[:40]!r}")
    return record


def _number(value: Any, least: int | None = None) -> bool:
    """Return whether it is a number that can be one of a run; NaN is, unless there is a ``least`` one."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and not abs(value) >= 1e12
    return known and (least is None or value >= least)


def _is(kind: type) -> Fits:
    return lambda value: isinstance(value, kind)


def _each(kind: type[list | dict], fits: Fits) -> Fits:
    """Return whether it is a list or a dict, and all its values fit."""
    return lambda v: isinstance(v, kind) and all(map(fits, v.values() if isinstance(v, dict) else v))


OPTIONS: dict[str, Fits] = {
    "plan": _is(str),
    "quick": _is(bool),
    **dict.fromkeys(("datasets", "methods", "backbones"), _each(list, _is(str))),
    "epochs": partial(_number, least=1),
    **dict.fromkeys(("seeds", "tune"), lambda value: isinstance(value, int) and 0 <= value <= MOST_ASKED),
    "checksums": _is(dict),
    "classes": _each(dict, _each(dict, _is(int))),
}
"""What the options of a command must be; those that reports do not know may be anything."""
FIELDS: dict[str, Fits] = {
    **dict.fromkeys(("error", "data", "weights"), _is(str)),
    "task": lambda value: value in TASKS,
    **dict.fromkeys(("test", "validation", "accuracy", "voted_accuracy", "k_accuracy", "majority_accuracy"), _number),
    **dict.fromkeys(("seconds", "seconds_in_all", "fit_seconds", "nearest_seconds"), partial(_number, least=0)),
    **dict.fromkeys(("updates", "epochs", "k"), partial(_number, least=1)),
    "prepared": lambda value: value is None or _number(value, 0),
    "sizes": lambda value: _each(list, _number)(value) and len(value) == 3,
    "train_loss": lambda value: _each(list, _number)(value) and len(value) > 0,
    "validation_loss": _each(list, lambda value: value is None or _number(value)),
    "history": _each(dict, _each(list, _number)),
    "pattern": _each(dict, _number),
    "frobenius": lambda value: _each(dict, _number)(value) and all(map(str.isdecimal, value)),
    "versions": _is(dict),
    "call": lambda value: _is(dict)(value) and all(fits(value[k]) for k, fits in OPTIONS.items() if k in value),
}
"""What the values of a record must be, where it has them."""
NEEDED = {
    "train": ("test", "validation"),
    "curves": ("train_loss", "validation_loss"),
    "blur": ("frobenius",),
    "lollipop": ("pattern",),
    "distance": ("majority_accuracy",),
}
"""What a record of each kind must have, unless the task failed."""
