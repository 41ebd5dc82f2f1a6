"""How long runs take, learned from finished ones and from probes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from epic.augment import find_method
from epic.augment.learn_matching import Matching
from epic.compare.task import Task
from epic.costs.learning import Learning
from epic.errors import InputError

Place = tuple[str, str]


@dataclass
class Times:
    """Seconds of an update, of an epoch of learning before it, and of all else, by dataset and method.

    Attributes:
        found: What finished runs took: seconds of an update, updates of an epoch, seconds of an epoch of learning, and
            other seconds.
        probed: The same of short runs, for as long as there is no finished one alike.
    """

    found: dict[Place, list[tuple[float, ...]]] = field(default_factory=dict)
    probed: dict[Place, list[tuple[float, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[dict[str, Any]], kind: str) -> Times:
        """Learn from the records of a kind."""
        times = cls()
        for record in records:
            if "seconds_in_all" in record and "error" not in record and record.get("kind") == kind:
                times.add(record)
        return times

    def add(self, record: dict[str, Any], *, probe: bool = False) -> None:
        """Learn from one more run, or from a probe."""
        for place in _alike(record["config"]):
            (self.probed if probe else self.found).setdefault(place, []).append(_spent(record))

    def __bool__(self) -> bool:
        return bool(self.found or self.probed)

    def know(self, task: Task) -> bool:
        """Tell whether runs on the same dataset are known, of the same method or of another."""
        return any(place in known for known in (self.found, self.probed) for place in _alike(task.config)[:2])

    def know_method(self, task: Task) -> bool:
        """Tell whether a finished run of the same method on the same dataset is known."""
        return _alike(task.config)[0] in self.found

    def total(self, tasks: Iterable[Task]) -> float:
        """Return the seconds of work in tasks. What several of them learn alike is learned once."""
        learned: set[str] = set()
        seconds = 0.0
        for task in tasks:
            training, learning = self._parts(task)
            seconds += training
            if learning and (what := _learns(task)) not in learned:
                seconds += learning
                learned.add(what)
        return seconds

    def longest(self, tasks: Iterable[Task]) -> float:
        """Return the seconds of the longest task."""
        return max((sum(self._parts(task)) for task in tasks), default=0.0)

    def spread(self, tasks: list[Task], workers: int) -> float:
        """Return the seconds until workers have done the tasks; at the end, one of them waits for the longest."""
        return self.total(tasks) / workers + self.longest(tasks) * (1 - 1 / workers)

    def _parts(self, task: Task) -> tuple[float, float]:
        """Estimate training and all else, and learning before it."""
        places = _alike(task.config)
        spent = next((k[p] for p in places for k in (self.found, self.probed) if p in k), [(0.0,) * 4])
        update, per_epoch, learning, once = (mean(part) for part in zip(*spent, strict=True))
        epochs = task.config.get("epochs")
        updates = epochs * per_epoch if epochs else task.config.get("updates", 0)
        return updates * update + once, learning_epochs(task.kind, task.config) * learning


def like(config: dict[str, Any]) -> Place:
    """Return the key under which run times are pooled."""
    network = config.get("network") or config.get("backbone", "")
    return config.get("dataset", ""), f"{config.get('method', config.get('cost', ''))} {network}"


def _alike(config: dict[str, Any]) -> list[Place]:
    """Return where to look for runs that take about as long, the most similar first."""
    return [like(config), (config.get("dataset", ""), ""), ("", "")]


def _learns(task: Task) -> str:
    """Return the key of what a run learns before it trains: runs with equal keys share it."""
    names = ("dataset", "split_seed", "size", "noise", "seed", "cost", "fit_epochs")
    learns = find_method(task.config["method"]).cls.learns if task.kind == "train" else False
    name = task.config["method"] if learns else task.key if task.kind != "train" else ""
    return json.dumps([name, *(task.config.get(n) for n in names)], sort_keys=True)


def learning_epochs(kind: str, config: dict[str, Any]) -> int:
    """Epochs of what a run learns before it trains, or of the run itself if it is nothing but learning."""
    if kind not in ("train", "probe"):
        return config.get("learning", {}).get("epochs", config.get("epochs", Learning().epochs))
    if find_method(config["method"]).cls.learns:  # not a cost, but something of its own
        return config.get("fit_epochs") or Matching().epochs
    return config.get("cost", {}).get("epochs", 1)


def _spent(record: dict[str, Any]) -> tuple[float, float, float, float]:
    """Seconds of an update, updates of an epoch, seconds of an epoch of learning before it, and other seconds."""
    whole, learned = record["seconds_in_all"], learning_epochs(record["kind"], record["config"])
    if record["kind"] in ("train", "probe"):
        training = min(whole, record.get("seconds") or whole)
        learning = record.get("prepared") or 0.0
        if learning > whole - training:  # a cost that another run had learned: it took no time here
            learning = 0.0
        # A probe times the epochs themselves: what comes before and after them would weigh too much in a few.
        learning = record.get("learning_epoch", learning / learned) * learned
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


def seconds_of(text: str) -> float:
    """Read a time such as 45s, 30m or 2h.

    >>> seconds_of("30m")
    1800.0
    """
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    try:
        value = float(text[:-1]) if unit else float(text)
    except ValueError as error:
        raise InputError(f"a time is written 45s, 30m or 2h, got {text!r}") from error
    if not 0 <= value < math.inf:
        raise InputError(f"a time is a number from 0 up with s, m or h behind it, got {text!r}")
    return value * (unit or 1)
