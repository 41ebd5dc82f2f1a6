"""A progress bar that moves inside runs, wherever they are done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from epic.compare.task import Performer, Task
from epic.parallel.workers import without_ctrl_c

EVERY = 0.5
"""Seconds between two looks."""

Moved = Callable[[Task | None, int, int], None]
"""Called with a task that has ended, the number of runs that are done, and of all."""


@contextmanager
def moving(perform: Any, bar: Any) -> Iterator[tuple[Any, Moved]]:
    """Let a bar of tqdm show runs that are done and the done shares of those in hand.

    A worker writes how far its run is to a file, and a thread here reads the files.

    Args:
        perform: Does tasks. What is not a :class:`Performer` tells nothing of what is inside.
        bar: The bar.

    Yields:
        What does tasks and tells how far they are, and a function to call after each run.
    """
    if bar.disable:
        yield perform, lambda task, done, total: None
        return
    bar.bar_format = "{desc}: {percentage:3.0f}%|{bar}| {n:.1f}/{total} [{elapsed}{postfix}]"
    done, over = 0, threading.Event()
    with TemporaryDirectory() as name:
        folder = Path(name)

        def refresh() -> None:
            # tqdm's own refresh keeps its lock if drawing fails, and the next to draw then waits for ever.
            with bar.get_lock():
                now = done + sum(_share(file) for file in folder.iterdir())
                bar.n = now if bar.total is None else min(now, bar.total)
                bar.refresh(nolock=True)

        def look() -> None:
            while not over.wait(EVERY):
                with suppress(OSError, ValueError):  # of a closed stream: the next look may succeed
                    refresh()

        def moved(task: Task | None, now: int, total: int) -> None:
            nonlocal done
            if task is not None:
                (folder / task.key).unlink(missing_ok=True)
            done, bar.total = now, total
            refresh()

        thread = threading.Thread(target=look, daemon=True)
        with without_ctrl_c():
            thread.start()
        try:
            yield (replace(perform, told=folder) if isinstance(perform, Performer) else perform), moved
        finally:
            over.set()
            thread.join()


def _share(file: Path) -> float:
    """Read how far a run is; 0 while it is being written."""
    try:
        return float(file.read_text())
    except (OSError, ValueError):
        return 0.0
