"""Carry out a plan: do what is missing, and put every result on the disk before the next."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from epic.compare.budget import Budget, probes
from epic.compare.plan import TUNING_SEED
from epic.compare.progress import moving
from epic.compare.runs import Runs
from epic.compare.task import Task
from epic.compare.times import Times, duration, like
from epic.parallel import execute
from epic.train.run import versions


@dataclass(frozen=True)
class Outlook:
    """How much of a plan is done, and about how long the rest takes.

    Attributes:
        seconds: None if there is no finished run to learn it from.
        rough: The estimate comes from other datasets only.
    """

    total: int
    done: int
    failed: int
    seconds: float | None
    rough: bool = False

    def __str__(self) -> str:
        left = self.total - self.done - self.failed
        text = f"{self.total} runs, {self.done} done, {left} to do"
        if self.failed:
            text += f", {self.failed} failed (--retry does them again)"
        if not left:
            return text
        if self.seconds is None:
            return f"{text}; how long it takes is known after the first"
        return f"{text}, about {duration(self.seconds)}" + (" (guessed from other datasets)" if self.rough else "")


def outlook(runs: Runs, workers: int = 1, times: Times | None = None) -> Outlook:
    """Look before starting.

    Estimated times come from finished runs of the same kind, alike in dataset and method, or from ``times``. The costs
    of an update, of an epoch of learning before it, and of all else scale separately.
    """
    known, open_, failed = list(runs), runs.open, len(runs.failed)
    total = max(runs.plan.count(), len(known))
    done = len(known) - len(open_) - failed
    times = times or Times.of(runs.store, runs.plan.kind)
    if not times:
        return Outlook(total, done, failed, None)
    rough = any(not times.know(t) for t in open_)
    return Outlook(total, done, failed, times.total(runs.todo) / max(1, workers), rough)


def probe(runs: Runs, perform: Callable[[Task], dict[str, Any]], *, progress: bool = True) -> Times:
    """Time a short run of each method on each dataset of a plan, in this process. Nothing is kept.

    A probe that fails is left out: the run itself will fail, too, and say why.

    Args:
        runs: The plan and its store. What its finished runs tell is not timed again.
        perform: Does one task and returns its record.
        progress: Whether to show a progress bar.
    """
    times = Times.of(runs.store, runs.plan.kind)
    plans = [runs.plan.model_copy(update={"datasets": (name,)}) for name in runs.plan.datasets]
    tasks = [task for plan in plans for task in probes(plan, times)] if runs.plan.kind == "train" else []
    for task in tqdm(tasks, desc="timing", unit="run", disable=not progress or not tasks):
        begun = time.perf_counter()
        with suppress(Exception):
            value = perform(task)
            seconds = time.perf_counter() - begun
            times.add({"kind": task.kind, "config": task.config, **value, "seconds_in_all": seconds}, probe=True)
    return times


def carry_out(
    runs: Runs,
    perform: Callable[[Task], dict[str, Any]],
    *,
    call: dict[str, Any] | None = None,
    workers: int = 1,
    ray: str | None = None,
    retry: bool = False,
    budget: float | None = None,
    progress: bool = True,
    say: Callable[[str], None] | None = None,
    tell: Callable[[str], None] | None = None,
    standing: Callable[[], str] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Do all that is missing, or as much as fits in a budget.

    Args:
        runs: The plan and its store. With a budget, the plan is replaced by one that fits.
        perform: Does one task and returns its record.
        call: The command and options that asked for the runs; kept with every record.
        workers: Processes, one thread each; 0 works in this process.
        ray: Address of a Ray cluster, or ``"local"``.
        retry: Whether failed tasks are done again.
        budget: Seconds. Short probes come first; then the plan is cut to what fits. No split begins that would not be
            whole by the end, and no task begins after the end; those that have begun are finished.
        progress: Whether to show a progress bar.
        say: Called with a sentence for each task that fails.
        tell: Called with a sentence on what fits in the budget.
        standing: Returns what is found by now; shown whenever a seed of a split is done by all methods.
        clock: Tells the time in seconds.

    Returns:
        Whether nothing is left to do of what was asked for.
    """
    asked = runs.plan
    if not runs.open and not (retry and runs.failed):
        return True  # another run may be writing its results: nothing is written here
    with runs.store.writer() as writer, ExitStack() as stack:
        if writer.changed:
            runs.refresh()
        above_bars = tqdm.external_write_mode(file=sys.stderr)  # as a decorator
        say, tell = (f and above_bars(f) for f in (say, tell))
        limit = None if budget is None else Budget(runs, budget, workers=workers, clock=clock, say=tell)
        feed = Feed(runs, runs.failed if retry else [], limit)
        bar = stack.enter_context(tqdm(desc=runs.plan.name, unit="run", disable=not progress))
        line = stack.enter_context(tqdm(bar_format="{desc}", position=1, disable=not (progress and standing)))
        perform, moved = stack.enter_context(moving(perform, bar))
        whole = len(runs.whole) if runs.paired else 0

        def advance(task: Task | None = None) -> None:
            done, known = sum(runs.store.get(t) is not None for t in runs), len(list(runs))
            moved(task, done, max(runs.plan.count(), known))

        advance()
        for outcome in execute(perform, feed, workers=workers, ray=ray, ahead=budget is None):
            task = outcome.task
            more = {"seconds_in_all": round(outcome.seconds, 2), **({} if call is None else {"call": call})}
            if task.kind == "probe":  # it is kept nowhere; where it fails, the run itself will fail too and say so
                pass
            elif outcome.error is None:
                writer.add(task, {**outcome.value, "versions": versions(), **more})
            else:
                writer.add(task, {"error": outcome.error, **more})
                if say is not None:
                    what = " ".join(str(task.config[k]) for k in ("dataset", "method", "seed") if k in task.config)
                    say(f"failed: {what}: {outcome.error.splitlines()[0]}")
            record = {"kind": task.kind, "config": task.config, **(outcome.value or {}), **more}
            feed.done(task, None if outcome.error else record)
            advance(task)
            bar.set_postfix_str(" ".join(p for p in like(task.config) if p), refresh=False)
            if standing is not None and runs.paired and len(runs.whole) > whole:
                whole = len(runs.whole)
                line.set_description_str(standing())
    return not runs.open and runs.plan == asked


class Feed:
    """Hands out what can be done now: one group is finished, from tuning on, before the next starts.

    Args:
        runs: The plan and its store.
        first: Tasks that failed and are done again.
        budget: The time given; None for as long as it takes.
    """

    def __init__(self, runs: Runs, first: list[Task], budget: Budget | None = None) -> None:
        self.runs, self.retry, self.budget = runs, first, budget
        self.handed: set[str] = set()
        self.begun: set[tuple[int, int]] = set()
        self.in_hand = 0
        self.queue: deque[Task] = deque()
        if budget is not None and budget.probes:
            self.queue.extend(budget.probes)
        else:
            self._start()

    def __iter__(self) -> Feed:
        return self

    def __next__(self) -> Task | None:
        if self.budget is not None and not self._allowed(self.budget):
            if self.budget.sized is None:  # the time went into probes: say what the rest would take
                self.budget.plan()
            raise StopIteration
        if self.queue:
            task = self.queue.popleft()
            self.handed.add(task.key)
            self.in_hand += 1
            return task
        if self.in_hand == 0:
            raise StopIteration
        return None

    def done(self, task: Task, record: dict[str, Any] | None = None) -> None:
        """After a run that chooses settings, those that use them come next, before other groups begin.

        Args:
            task: What was done.
            record: What it gave and how long it took; None if it failed.
        """
        self.in_hand -= 1
        if self.budget is not None and record is not None:
            self.budget.times.add(record, probe=task.kind == "probe")
        if task.kind == "probe":
            if not self.queue and self.in_hand == 0 and (self.budget is None or self.budget.sized is None):
                self._start()
            return
        self.runs.finished(task)
        if task.config.get("seed") == TUNING_SEED or not self.queue:
            self._refill()

    def _start(self) -> None:
        if self.budget is not None:
            self.budget.plan()
        self._refill()

    def _allowed(self, budget: Budget) -> bool:
        """Return whether the next task may begin: there is time left, and its cell would be whole."""
        if budget.left <= 0:
            return False
        if not self.queue and self.in_hand == 0 and budget.sized is not None and budget.grow():
            self._refill()
        if not self.queue or self.queue[0].kind == "probe":
            return True
        cell = self.runs.cell(self.queue[0])
        if cell not in self.begun:
            if not budget.allows([t for t in self.runs.todo if self.runs.cell(t) == cell]):
                return False
            self.begun.add(cell)
        return True

    def _refill(self) -> None:
        waiting = {t.key: t for t in [*self.retry, *self.runs.open] if t.key not in self.handed}
        self.queue = deque(waiting.values())
