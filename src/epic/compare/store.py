"""Results of experiments: one JSON line for each finished task, in a file that only grows."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from epic.compare.task import Task
from epic.errors import InputError


class Store:
    """Records by task. A line is ``{"key", "kind", "config", ...}``; a failed task has ``error`` instead of scores.

    Later lines go before earlier ones, so files of two machines merge with ``cat``; what is torn by a kill is skipped.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._records: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        """Take the records of a file: the last of a run goes, but a failure does not hide that it was done."""
        if path.is_dir():
            raise InputError(f"{path} is a folder: name a .jsonl file for results")
        try:
            records = read_lines(path)
        except OSError as error:
            raise InputError(f"cannot read results from {path}: {error.strerror}") from error
        for record in records:
            old = self._records.get(record["key"])
            if "error" not in record or old is None or "error" in old:
                self._records[record["key"]] = record

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._records.values())

    def get(self, task: Task) -> dict[str, Any] | None:
        """The record of a task that was done with success."""
        record = self._records.get(task.key)
        return None if record is None or "error" in record else record

    def failed(self, task: Task) -> str | None:
        """The error of a task that failed and was not done since."""
        return self._records.get(task.key, {}).get("error")

    @contextmanager
    def writer(self) -> Iterator[Writer]:
        """The one who may append; a second one is refused while the first is at work."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("ab+")
        except OSError as error:
            raise InputError(f"cannot write results to {self.path}: {error.strerror}; name another file") from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InputError(
                    f"{self.path} is being written by another run: wait for it, or name another"
                ) from error
            self._read(self.path)  # another may have written since
            file.seek(0, os.SEEK_END)
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # torn by a kill: what comes next must begin a line of its own
                    file.write(b"\n")
            yield Writer(self, file)


class Writer:
    """Appends records, each on the disk before the next."""

    def __init__(self, store: Store, file: Any) -> None:
        self._store, self._file = store, file

    def add(self, task: Task, outcome: dict[str, Any]) -> None:
        record = {"key": task.key, "kind": task.kind, "config": task.config, **outcome}
        self._file.write(json.dumps(record).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._store._records[task.key] = record


def read_lines(path: Path) -> Iterable[dict[str, Any]]:
    """Whole records of a file; a torn line is skipped, and so is what it was before another file was appended to it."""
    found = []
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            start = max(0, line.rfind('{"key": '))
            try:
                record = json.loads(line[start:])
            except ValueError:
                continue
            if isinstance(record, dict) and "key" in record:
                found.append(record)
    return found
