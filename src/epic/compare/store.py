"""Results of runs: one JSON line for each finished task, in a file that only grows."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from epic.compare.task import Task
from epic.errors import InputError


class Store:
    """Records by task.

    A line is ``{"key", "kind", "config", ...}``; a failed task has ``error`` instead of scores. The last record of a
    task wins, except that an error never replaces a success. So files of two machines merge with ``cat``. A line torn
    by a kill is skipped.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._records: dict[str, dict[str, Any]] = {}
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
        for record in filter(None, map(_record_of, text.split("\n"))):
            old = self._records.get(record["key"])
            if "error" not in record or old is None or "error" in old:
                self._records[record["key"]] = record

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
            end = file.seek(0, os.SEEK_END)
            changed = end != self._size
            if changed:
                self._read(self.path)
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
        self._file.write(json.dumps(record).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._store._records[task.key] = record


def _record_of(line: str) -> dict[str, Any] | None:
    """Read one line; None if it is torn or no record. A torn line may have another file appended to it."""
    try:
        record = json.loads(line[max(0, line.rfind('{"key": ')) :])
    except ValueError:
        return None
    return record if isinstance(record, dict) and "key" in record else None
