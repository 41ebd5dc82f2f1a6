"""Carrying out a plan: what is missing is done, and every result is on the disk before the next."""

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
from epic.compare.plan import TUNING_SEED, Plan
from epic.compare.store import Store
from epic.compare.task import Performer, Task
from epic.costs.learning import Learning
from epic.parallel import execute
from epic.train.run import versions


@dataclass(frozen=True)
class Outlook:
    """How much of a plan is done, and about how long the rest takes (None: nothing to learn it from; ``rough``: from
    other datasets only).
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


def outlook(plan: Plan, store: Store, workers: int = 1) -> Outlook:
    """Look before starting. Times are learned from finished runs of the same kind, alike in dataset and method: what
    grows with the epochs, what with those of learning before it, and what is there once.
    """
    known = plan.tasks(store)
    done = [t for t in known if store.get(t) is not None]
    failed = sum(store.failed(t) is not None for t in known)
    open_ = [t for t in known if store.get(t) is None and store.failed(t) is None]
    total = max(plan.count(), len(known))
    times: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for record in store:
        if "seconds_in_all" in record and "error" not in record and record.get("kind") == plan.kind:
            for key in _alike(record["config"]):
                times.setdefault(key, []).append(_spent(record))
    if not times:
        return Outlook(total, len(done), failed, None)

    def guess(task: Task) -> float:
        found = next(times[key] for key in _alike(task.config) if key in times)
        epoch, learning, once = (mean(part) for part in zip(*found, strict=True))
        epochs, learned = _epochs(task.kind, task.config)
        return epochs * epoch + learned * learning + once

    later = total - len(known)  # runs whose settings are not chosen yet
    usual = mean(map(guess, known)) if known else 0.0
    seconds = sum(map(guess, open_)) + later * usual
    rough = any(not any(key in times for key in _alike(t.config)[:2]) for t in open_)
    return Outlook(total, len(done), failed, seconds / max(1, workers), rough)


def carry_out(
    plan: Plan,
    store: Store,
    perform: Performer,
    *,
    workers: int = 1,
    ray: str | None = None,
    retry: bool = False,
    budget: float | None = None,
    progress: bool = True,
    say: Callable[[str], None] | None = None,
) -> bool:
    """Do all that is missing; True if nothing is left.

    ``budget`` (seconds): no task begins after it is spent; those that have begun are finished.
    """
    end = None if budget is None else time.monotonic() + budget
    if not plan.ready(store) and not (retry and any(store.failed(t) is not None for t in plan.tasks(store))):
        return True  # another run may be writing its results: nothing is written here
    look = outlook(plan, store, workers)
    with (
        store.writer() as writer,
        tqdm(total=look.total, initial=look.done, desc=plan.name, unit="run", disable=not progress) as bar,
    ):
        feed = Feed(plan, store, [t for t in plan.tasks(store) if store.failed(t) is not None] if retry else [], end)
        for outcome in execute(perform, feed, workers=workers, ray=ray, ahead=budget is None):
            task = outcome.task
            seconds = {"seconds_in_all": round(outcome.seconds, 2)}
            if outcome.error is None:
                writer.add(task, {**outcome.value, "versions": versions(), **seconds})
                bar.update()
            else:
                writer.add(task, {"error": outcome.error, **seconds})
                if say is not None:
                    what = " ".join(str(task.config[k]) for k in ("dataset", "method", "seed") if k in task.config)
                    say(f"failed: {what}: {outcome.error.splitlines()[0]}")
            feed.done(task)
            bar.set_postfix_str(" ".join(p for p in _like(task.config) if p), refresh=False)
    return not plan.ready(store)


class Feed:
    """Hands out what can be done now, one group of a table after the other: settings are chosen, then used."""

    def __init__(self, plan: Plan, store: Store, first: list[Task], end: float | None) -> None:
        self.plan, self.store, self.end = plan, store, end
        self.retry = first
        self.handed: set[str] = set()
        self.in_hand = 0
        self.queue: deque[Task] = deque()
        self._refill()

    def __iter__(self) -> Feed:
        return self

    def __next__(self) -> Task | None:
        if self.end is not None and time.monotonic() > self.end:
            raise StopIteration
        while self.queue:
            task = self.queue.popleft()
            if task.key not in self.handed:
                self.handed.add(task.key)
                self.in_hand += 1
                return task
        if self.in_hand == 0:
            raise StopIteration
        return None

    def done(self, task: Task) -> None:
        """After a run that chooses settings, those that use them come next, before other groups begin."""
        self.in_hand -= 1
        if task.config.get("seed") == TUNING_SEED or not self.queue:
            self._refill()

    def _refill(self) -> None:
        self.queue = deque(t for t in [*self.retry, *self.plan.ready(self.store)] if t.key not in self.handed)


def _alike(config: dict[str, Any]) -> list[tuple[str, str]]:
    """Where to look for runs that take about as long, the likest first."""
    return [_like(config), (config.get("dataset", ""), ""), ("", "")]


def _epochs(kind: str, config: dict[str, Any]) -> tuple[int, int]:
    """Of the run itself, and of what it learns before."""
    if kind == "train":
        learned = config.get("cost", {}).get("epochs", 1)
        if find_method(config["method"]).cls.learns:  # not a cost, but something of its own
            learned = config.get("fit_epochs") or Matching().epochs
        return config.get("epochs", 1), learned
    usual = Learning().epochs
    return 0, config.get("learning", {}).get("epochs", config.get("epochs", usual))


def _spent(record: dict[str, Any]) -> tuple[float, float, float]:
    """Seconds of an epoch, of an epoch of learning before it, and the rest."""
    whole, (epochs, learned) = record["seconds_in_all"], _epochs(record["kind"], record["config"])
    if record["kind"] == "train":
        training = min(whole, record.get("seconds") or whole)
        learning = record.get("prepared") or 0.0
        if learning > whole - training:  # a cost that another run had learned: it took no time here
            learning = 0.0
        return training / epochs, learning / learned, whole - training - learning
    # What is not told apart (blur, lollipop) is nearly all learning.
    learning = min(whole, record.get("fit_seconds", record.get("seconds", whole)))
    return 0.0, learning / learned, whole - learning


def _like(config: dict) -> tuple[str, str]:
    """Runs that take about as long as each other."""
    return config.get("dataset", ""), str(config.get("method", config.get("cost", "")))


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(50), duration(150), duration(9000)
    ('50 s', '2 min', '2 h 30 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
