"""The seam between what is to be done and where: in this process, in a pool of processes, or on a Ray cluster."""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

RETRIES = 2
"""How often a task is tried again after the process that did it died."""


@dataclass(frozen=True)
class Outcome:
    """What became of a task: its value, or the error that it ended with. ``seconds`` is the time it took."""

    task: int
    value: Any
    error: str | None
    seconds: float


def execute(
    function: Callable[[Any], Any], tasks: Sequence[Any], *, workers: int = 1, ray: str | None = None
) -> Iterator[Outcome]:
    """Call ``function`` on every task, each in one thread, and yield outcomes as they come.

    ``workers`` processes work side by side (0: this very process, one task after the other). ``ray`` is the address of
    a cluster, or ``local`` to start one here. The function must be importable, and tasks and values picklable; its
    value may not depend on where it runs. An error in a task is an outcome; the death of a process is not, its task is
    done again.
    """
    if ray is not None:
        from epic.scale.ray import on_ray

        return on_ray(function, tasks, ray)
    return _here(function, tasks) if workers == 0 else _pool(function, tasks, workers)


_installed: Callable[[Any], Any] | None = None


def _install(function: Callable[[Any], Any]) -> None:
    """Keep the function in a worker: what it carries (graphs, a model) is then sent once, not with every task."""
    global _installed
    _installed = function


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


def _here(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome]:
    for index, task in enumerate(tasks):
        yield Outcome(index, *attempt(function, task))


def _pool(function: Callable[[Any], Any], tasks: Sequence[Any], workers: int) -> Iterator[Outcome]:
    waiting: deque[int] = deque(range(len(tasks)))
    tries = [0] * len(tasks)
    while waiting:
        # A fresh interpreter for each worker: forking a process in which torch has run threads may hang.
        pool = ProcessPoolExecutor(
            min(workers, len(waiting)), multiprocessing.get_context("spawn"), _install, (function,)
        )
        running: dict[Future, int] = {}
        try:
            while waiting or running:
                # A short queue: what has not been handed out is not lost when the pool breaks.
                while waiting and len(running) < workers + 1:
                    index = waiting.popleft()
                    running[pool.submit(_attempt_installed, tasks[index])] = index
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    yield Outcome(running.pop(future), *result)
        except BrokenProcessPool:
            for index in sorted(running.values()):
                tries[index] += 1
                if tries[index] > RETRIES:
                    yield Outcome(index, None, f"its process died {tries[index]} times", 0.0)
                else:
                    waiting.appendleft(index)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
