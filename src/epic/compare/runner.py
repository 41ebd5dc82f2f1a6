"""Carry out a plan: do what is missing, and put every result on the disk before the next."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean
from typing import Any

from tqdm import tqdm

from epic.augment import find_method
from epic.augment.learn_matching import Matching
from epic.compare.plan import TUNING_SEED
from epic.compare.runs import Runs
from epic.compare.task import Task
from epic.costs.learning import Learning
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


def outlook(runs: Runs, workers: int = 1) -> Outlook:
    """Look before starting.

    Estimated times come from finished runs of the same kind, alike in dataset and method. The costs of an
    update, of an epoch of learning before it, and of all else scale separately.
    """
    known, open_, failed = list(runs), runs.open, len(runs.failed)
    total = max(runs.plan.count(), len(known))
    done = len(known) - len(open_) - failed
    times: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for record in runs.store:
        if "seconds_in_all" in record and "error" not in record and record.get("kind") == runs.plan.kind:
            for key in _alike(record["config"]):
                times.setdefault(key, []).append(_spent(record))
    if not times:
        return Outlook(total, done, failed, None)

    def estimate(task: Task) -> float:
        found = next(times[key] for key in _alike(task.config) if key in times)
        update, per_epoch, learning, once = (mean(part) for part in zip(*found, strict=True))
        epochs = task.config.get("epochs")
        updates = epochs * per_epoch if epochs else task.config.get("updates", 0)
        return updates * update + _learning_epochs(task.kind, task.config) * learning + once

    later = total - len(known)  # runs whose settings are not chosen yet
    usual = mean(map(estimate, known)) if later else 0.0
    seconds = sum(map(estimate, open_)) + later * usual
    rough = any(not any(key in times for key in _alike(t.config)[:2]) for t in open_)
    return Outlook(total, done, failed, seconds / max(1, workers), rough)


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
) -> bool:
    """Do all that is missing.

    Args:
        runs: The plan and its store.
        perform: Does one task and returns its record.
        call: The command and options that asked for the runs; kept with every record.
        workers: Processes, one thread each; 0 works in this process.
        ray: Address of a Ray cluster, or ``"local"``.
        retry: Whether failed tasks are done again.
        budget: Seconds. No task begins after they are spent; those that have begun are finished.
        progress: Whether to show a progress bar.
        say: Called with a sentence for each task that fails.

    Returns:
        Whether nothing is left to do.
    """
    end = None if budget is None else time.monotonic() + budget
    if not runs.open and not (retry and runs.failed):
        return True  # another run may be writing its results: nothing is written here
    total = max(runs.plan.count(), len(list(runs)))
    with runs.store.writer() as writer:
        if writer.changed:
            runs.refresh()
        feed = Feed(runs, runs.failed if retry else [], end)
        done = sum(runs.store.get(t) is not None for t in runs)
        with tqdm(total=total, initial=done, desc=runs.plan.name, unit="run", disable=not progress) as bar:
            for outcome in execute(perform, feed, workers=workers, ray=ray, ahead=budget is None):
                task = outcome.task
                more = {"seconds_in_all": round(outcome.seconds, 2), **({} if call is None else {"call": call})}
                if outcome.error is None:
                    writer.add(task, {**outcome.value, "versions": versions(), **more})
                    bar.update()
                else:
                    writer.add(task, {"error": outcome.error, **more})
                    if say is not None:
                        what = " ".join(str(task.config[k]) for k in ("dataset", "method", "seed") if k in task.config)
                        say(f"failed: {what}: {outcome.error.splitlines()[0]}")
                feed.done(task)
                bar.set_postfix_str(" ".join(p for p in _like(task.config) if p), refresh=False)
    return not runs.open


class Feed:
    """Hands out what can be done now, one group of a table after the other: settings are chosen, then used."""

    def __init__(self, runs: Runs, first: list[Task], end: float | None) -> None:
        self.runs, self.retry, self.end = runs, first, end
        self.handed: set[str] = set()
        self.in_hand = 0
        self.queue: deque[Task] = deque()
        self._refill()

    def __iter__(self) -> Feed:
        return self

    def __next__(self) -> Task | None:
        if self.end is not None and time.monotonic() > self.end:
            raise StopIteration
        if self.queue:
            task = self.queue.popleft()
            self.handed.add(task.key)
            self.in_hand += 1
            return task
        if self.in_hand == 0:
            raise StopIteration
        return None

    def done(self, task: Task) -> None:
        """After a run that chooses settings, those that use them come next, before other groups begin."""
        self.in_hand -= 1
        self.runs.finished(task)
        if task.config.get("seed") == TUNING_SEED or not self.queue:
            self._refill()

    def _refill(self) -> None:
        waiting = {t.key: t for t in [*self.retry, *self.runs.open] if t.key not in self.handed}
        self.queue = deque(waiting.values())


def _like(config: dict[str, Any]) -> tuple[str, str]:
    """Runs with the same answer take about as long as each other."""
    return config.get("dataset", ""), f"{config.get('method', config.get('cost', ''))} {config.get('backbone', '')}"


def _alike(config: dict[str, Any]) -> list[tuple[str, str]]:
    """Where to look for runs that take about as long, the most similar first."""
    return [_like(config), (config.get("dataset", ""), ""), ("", "")]


def _learning_epochs(kind: str, config: dict[str, Any]) -> int:
    """Epochs of what a run learns before it trains, or of the run itself if it is nothing but learning."""
    if kind != "train":
        return config.get("learning", {}).get("epochs", config.get("epochs", Learning().epochs))
    if find_method(config["method"]).cls.learns:  # not a cost, but something of its own
        return config.get("fit_epochs") or Matching().epochs
    return config.get("cost", {}).get("epochs", 1)


def _spent(record: dict[str, Any]) -> tuple[float, float, float, float]:
    """Seconds of an update, updates of an epoch, seconds of an epoch of learning before it, and other seconds."""
    whole, learned = record["seconds_in_all"], _learning_epochs(record["kind"], record["config"])
    if record["kind"] == "train":
        training = min(whole, record.get("seconds") or whole)
        learning = record.get("prepared") or 0.0
        if learning > whole - training:  # a cost that another run had learned: it took no time here
            learning = 0.0
        if "updates" not in record:  # not a network
            return 0.0, 0.0, learning / learned, whole - learning
        updates = record["updates"]
        return training / updates, updates / record["epochs"], learning / learned, whole - training - learning
    # What is not told apart (blur, lollipop) is nearly all learning.
    learning = min(whole, record.get("fit_seconds", record.get("seconds", whole)))
    return 0.0, 0.0, learning / learned, whole - learning


def duration(seconds: float) -> str:
    """Write a time for people.

    >>> duration(50), duration(150), duration(9000)
    ('50 s', '2 min', '2 h 30 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
