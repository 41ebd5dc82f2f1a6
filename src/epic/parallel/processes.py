"""Run tasks in this process, in a pool of processes, or on a Ray cluster, behind one function."""

from __future__ import annotations

import logging
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
from multiprocessing.synchronize import Event
from numbers import Integral
from typing import Any

from epic.errors import InputError
from epic.parallel.workers import Workers, without_ctrl_c

log = logging.getLogger(__name__)

RETRIES = 2
"""How often a task is tried again after the process that did it died."""


@dataclass(frozen=True)
class Outcome:
    """The value of a task, or the error that it ended with.

    Attributes:
        task: The task.
        value: What the function returned; None after an error.
        error: The error as text; None after a success.
        seconds: The time that the task took.
    """

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

    An error in a task is an outcome. The death of a process is not: its task is done again.

    Args:
        function: An importable function whose value does not depend on where it runs.
        tasks: Picklable tasks. They are asked for one by one as workers become free. An iterator may yield None to
            say that nothing can be done before a running task ends; it is asked again after that.
        workers: Number of processes (0: this very process, one task after the other).
        ray: Address of a Ray cluster to use instead, or ``local`` to start one here.
        ahead: Also ask for tasks that wait for a worker, so that none is ever idle. With False, only tasks that begin
            at once are asked for.

    Yields:
        One outcome for each task, in the order in which they end.

    Raises:
        InputError: If there are too many workers, they cannot start, or the cluster cannot be reached.
    """
    if ray is not None:
        from epic.parallel.ray import on_ray

        return on_ray(function, iter(tasks), ray, ahead)
    need_workers(workers, "workers")
    return _here(function, iter(tasks)) if workers == 0 else _pool(function, iter(tasks), workers, ahead)


def need_workers(workers: int, name: str) -> None:
    """Refuse a number of processes that would only get in each other's way, or fill the memory.

    Args:
        workers: The number of processes.
        name: What the caller calls it.

    Raises:
        InputError: It is no whole number, or more than four for each processor (at least 16).
    """
    most = max(16, 4 * (os.cpu_count() or 1))
    if isinstance(workers, bool) or not isinstance(workers, Integral) or not 0 <= workers <= most:
        raise InputError(f"{name} must be a whole number from 0 to {most} on this machine, got {workers!r}")


_installed: Callable[[Any], Any] | None = None


def _install(function: Callable[[Any], Any], started: Event) -> None:
    """Keep the function in a worker: what it carries (graphs, a model) is then sent once, not with every task."""
    from tqdm import tqdm

    global _installed
    _installed = function
    tqdm.set_lock(threading.RLock())  # its own one is a semaphore, which a worker that is killed leaves behind
    started.set()


def _attempt_installed(task: Any) -> tuple[Any, str | None, float]:
    assert _installed is not None
    return attempt(_installed, task)


def attempt(function: Callable[[Any], Any], task: Any) -> tuple[Any, str | None, float]:
    """Return value, error and time of one task, done in a single thread."""
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
    while (item := following(tasks, busy=False)) is not None:
        yield Outcome(item[0], *attempt(function, item[0]))


def _pool(function: Callable[[Any], Any], tasks: Iterator[Any], workers: int, ahead: bool) -> Iterator[Outcome]:
    again: deque[tuple[Any, int]] = deque()  # tasks whose process died, and how often
    with without_ctrl_c():
        started = multiprocessing.get_context("spawn").Event()
    while True:
        with without_ctrl_c():
            spawned = Workers()
            # A fresh interpreter for each worker: forking a process in which torch has run threads may hang.
            pool = ProcessPoolExecutor(workers, spawned.context, _install, (function, started))
        running: dict[Future, tuple[Any, int]] = {}
        try:
            while True:
                # A short queue: what has not been handed out is not lost when the pool breaks. After that, suspects
                # run alone, so that none is blamed for another's death.
                suspects = any(deaths for _, deaths in [*again, *running.values()])
                while len(running) < (1 if suspects else workers + ahead):
                    item = again.popleft() if again else following(tasks, busy=bool(running))
                    if item is None:
                        break
                    again.appendleft(item)  # submitting to a pool that has just broken fails: keep the task
                    with without_ctrl_c():
                        future = pool.submit(_attempt_installed, item[0])
                    running[future] = again.popleft()
                if not running:
                    return
                done: set[Future] = set()
                while not done:  # in turns: a Ctrl-C that another thread got would not end a wait without limit
                    done = wait(running, timeout=1, return_when=FIRST_COMPLETED).done
                for future in done:
                    result = future.result()
                    yield Outcome(running.pop(future)[0], *result)
        except BrokenProcessPool:
            last = spawned.error()
            if not started.is_set():
                raise InputError(
                    "worker processes cannot start. Each of them imports the script that starts them: put the call "
                    'under `if __name__ == "__main__":`, or use workers=0. '
                    + (f"A worker ended with {last}" if last else "No worker said why it ended")
                ) from None
            for future, (task, deaths) in running.items():
                if future.done() and future.exception() is None:
                    yield Outcome(task, *future.result())
                elif deaths == RETRIES:
                    yield Outcome(task, None, f"its process died {deaths + 1} times" + (last and f": {last}"), 0.0)
                else:
                    log.debug("a worker process died; its task is done again")
                    again.append((task, deaths + 1))
        except BaseException:  # Ctrl-C, or an error of the caller: what the workers have in hand is not waited for
            with without_ctrl_c():
                spawned.kill()
            raise
        finally:
            with without_ctrl_c():
                pool.shutdown(wait=False, cancel_futures=True)
                spawned.close()


def following(tasks: Iterator[Any], *, busy: bool) -> tuple[Any, int] | None:
    """Return the next task and the number of its deaths so far, or None if there is no task now."""
    task = next(tasks, _END)
    if task is None and not busy:
        raise RuntimeError("there is nothing to do and nothing to wait for")
    return None if task is None or task is _END else (task, 0)


_END = object()
