"""The seam between what is to be done and where: in this process, in a pool of processes, or on a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

RETRIES = 2
"""How often a task is tried again after the process that did it died."""


@dataclass(frozen=True)
class Outcome:
    """What became of a task: its value, or the error that it ended with. ``seconds`` is the time it took."""

    task: Any
    value: Any
    error: str | None
    seconds: float


def execute(
    function: Callable[[Any], Any],
    tasks: Iterable[Any],
    *,
    workers: int = 1,
    ray: str | None = None,
    ahead: bool = True,
) -> Iterator[Outcome]:
    """Call ``function`` on every task, each in one thread, and yield outcomes as they come.

    ``workers`` processes work side by side (0: this very process, one task after the other). ``ray`` is the address of
    a cluster, or ``local`` to start one here. The function must be importable, and tasks and values picklable; its
    value may not depend on where it runs. An error in a task is an outcome; the death of a process is not, its task is
    done again.

    ``tasks`` are asked for one by one as room is free: also some that wait for a worker, so that none is ever idle;
    ``ahead=False`` asks for those alone that begin at once. A generator of them may yield None to say that there is
    nothing to do before some task in hand is done; it is asked again after that.
    """
    if ray is not None:
        from epic.parallel.ray import on_ray

        return on_ray(function, iter(tasks), ray, ahead)
    return _here(function, iter(tasks)) if workers == 0 else _pool(function, iter(tasks), workers, ahead)


_installed: Callable[[Any], Any] | None = None


def _install(function: Callable[[Any], Any]) -> None:
    """Keep the function in a worker: what it carries (graphs, a model) is then sent once, not with every task."""
    global _installed
    _installed = function
    parent = multiprocessing.parent_process()

    def watch() -> None:
        # A killed harness cannot end its workers: they notice, and go too.
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _attempt_installed(task: Any) -> tuple[Any, str | None, float]:
    assert _installed is not None
    return attempt(_installed, task)


def attempt(function: Callable[[Any], Any], task: Any) -> tuple[Any, str | None, float]:
    """Value, error and time of one task, in a single thread."""
    import torch

    torch.set_num_threads(1)
    start = time.perf_counter()
    try:
        return function(task), None, time.perf_counter() - start
    except Exception as error:
        # The last line of the traceback alone would hide where a bug in a method lies.
        where = traceback.format_exc(limit=-3)
        return None, f"{type(error).__name__}: {error}\n{where}", time.perf_counter() - start


def _here(function: Callable[[Any], Any], tasks: Iterator[Any]) -> Iterator[Outcome]:
    for task in tasks:
        if task is None:
            raise RuntimeError("there is nothing to do and nothing to wait for")
        yield Outcome(task, *attempt(function, task))


def _pool(function: Callable[[Any], Any], tasks: Iterator[Any], workers: int, ahead: bool) -> Iterator[Outcome]:
    again: deque[tuple[Any, int]] = deque()  # tasks whose process died, and how often
    while True:
        # A fresh interpreter for each worker: forking a process in which torch has run threads may hang.
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _install, (function,))
        running: dict[Future, tuple[Any, int]] = {}
        try:
            while True:
                # A short queue: what has not been handed out is not lost when the pool breaks. After that, suspects go
                # alone, so that none is blamed for another's death.
                suspects = any(deaths for _, deaths in [*again, *running.values()])
                while len(running) < (1 if suspects else workers + ahead):
                    item = again.popleft() if again else following(tasks, bool(running))
                    if item is None:
                        break
                    again.appendleft(item)  # submitting to a pool that has just broken fails: the task must not be lost
                    future = pool.submit(_attempt_installed, item[0])
                    running[future] = again.popleft()
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    yield Outcome(running.pop(future)[0], *result)
        except BrokenProcessPool:
            for future, (task, deaths) in running.items():
                if future.done() and future.exception() is None:
                    yield Outcome(task, *future.result())
                elif deaths == RETRIES:
                    yield Outcome(task, None, f"its process died {deaths + 1} times", 0.0)
                else:
                    again.append((task, deaths + 1))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def following(tasks: Iterator[Any], busy: bool) -> tuple[Any, int] | None:
    """The next task, or None if there is none now."""
    task = next(tasks, _END)
    if task is None and not busy:
        raise RuntimeError("there is nothing to do and nothing to wait for")
    return None if task is None or task is _END else (task, 0)


_END = object()
