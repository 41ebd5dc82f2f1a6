"""Fit a plan into a time budget: what is cut first, what a verdict needs, and which runs still start near the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from epic.augment import find_method
from epic.augment.learn_matching import Matching
from epic.compare.plan import Plan
from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.compare.task import Task
from epic.compare.times import Times, duration
from epic.compare.verdict import LEAST
from epic.train.config import CostConfig, RunConfig

SHARES = tuple(0.5**k for k in range(6))
"""How far training may be shortened. Few steps, so that a larger budget finds the runs of a smaller one."""
LEAST_UPDATES = 150
PROBE = {"updates": 24, "epochs": None, "fit_epochs": 2}
PROBE_EPOCHS = 2
"""Epochs of learning a cost in a probe; the first is not timed."""
SPARE = 0.1
"""Share of the time kept in reserve, because estimates are rough; the smallest plan may use it."""


@dataclass(frozen=True)
class Cut:
    """How much of a plan is done. The fields are in the order in which they are cut.

    Attributes:
        splits: Number of splits, or of draws of each size.
        seeds: Training seeds of each split.
        tune: Settings that every method may try.
        share: Share of the updates, and of the epochs that costs are learned for.
        sizes: Number of sizes of a learning curve.
    """

    splits: int
    seeds: int
    tune: int
    share: float
    sizes: int

    def of(self, asked: Plan) -> Plan:
        """Return what is left of the plan that was asked for."""
        kept = np.linspace(0, len(asked.sizes) - 1, self.sizes).round().astype(int)
        counts = {name: getattr(self, name) for name in ("splits", "seeds", "tune")}
        sizes = tuple(asked.sizes[i] for i in kept)
        return asked.model_copy(update={**counts, "sizes": sizes, **shortened(asked, self.share)})


def whole(asked: Plan) -> Cut:
    """Cut nothing."""
    return Cut(asked.splits, asked.seeds, asked.tune, 1.0, len(asked.sizes))


def least(asked: Plan) -> Cut:
    """Cut as much as leaves a verdict, with its interval."""
    return Cut(min(LEAST, asked.splits), 1, 0, SHARES[-1], 1)


def shortened(asked: Plan, share: float) -> dict[str, Any]:
    """Return options and entries of a plan with shorter training and learning; its runs are stored with them.

    Epochs of learning change only where something is learned: other runs are the same with and without.
    """
    if share == 1:
        return {}

    def part(value: int, floor: int) -> int:
        return max(min(value, floor), round(share * value))

    options = dict(asked.options)
    if options.get("epochs"):
        options["epochs"] = part(options["epochs"], 1)
    else:
        options["updates"] = part(updates_of(asked), LEAST_UPDATES)
    epochs = {
        "cost": part({"epochs": CostConfig().epochs, **options.get("cost", {})}["epochs"], 2),
        "matching": part(options.get("fit_epochs") or Matching().epochs, 2),
    }
    entries = []
    for entry in asked.entries:
        preset = find_method(entry.method)
        if preset.cls.learns:
            entry = entry.model_copy(update={"options": {**entry.options, "fit_epochs": epochs["matching"]}})
        elif "cost" in preset.params:
            entry = entry.model_copy(update={"cost": {**entry.cost, "epochs": epochs["cost"]}})
        entries.append(entry)
    return {"options": options, "entries": tuple(entries)}


def updates_of(plan: Plan) -> int:
    """Return the updates of each run, if epochs are not asked for."""
    return plan.options.get("updates", RunConfig.model_fields["updates"].default)


@dataclass(frozen=True)
class Sized:
    """A plan for the time given.

    Attributes:
        asked: What was asked for.
        cut: What is done of it.
        seconds: About how long that takes.
        fits: Whether that is no longer than the time given.
    """

    asked: Plan
    cut: Cut
    seconds: float
    fits: bool

    @property
    def plan(self) -> Plan:
        return self.cut.of(self.asked)

    def sentence(self, budget: float) -> str:
        """Say what is done in the time given, and what is not."""
        told = f"{what_is_done(self.asked, self.cut)}: about {duration(self.seconds)}"
        if not self.fits:
            return (
                f"{duration(budget)} is too little for a verdict. After timing, the smallest plan has {told}. As many "
                "whole splits as fit are done and kept; the same command with "
                f"--budget {-(-self.seconds * 1.5 // 60):.0f}m goes on."
            )
        if self.cut == whole(self.asked):
            return f"All that was asked for fits in {duration(budget)}: {told}."
        short = " Networks trained so briefly say little about networks trained to the end." * (self.cut.share < 1)
        return f"To fit in {duration(budget)}: {told}.{short}"


def what_is_done(asked: Plan, cut: Cut) -> str:
    """Name the parts of a plan, and how much of each was asked for.

    >>> plan = Plan(name="a", title="a", splits=5, seeds=3, tune=3)
    >>> what_is_done(plan, Cut(3, 1, 0, 0.25, 1))
    '3 of 5 splits, 1 of 3 seeds, no tuning, 1250 of 5000 updates'
    """
    plan, before = cut.of(asked), whole(asked)
    curve = len(asked.sizes) > 1

    def part(name: str, now: int, asked_for: int) -> str:
        plural = name + "s" * (asked_for > 1)
        return f"{now} {plural}" if now == asked_for else f"{now} of {asked_for} {plural}"

    length = "epoch" if asked.options.get("epochs") else "update"
    lengths = [p.options["epochs"] if length == "epoch" else updates_of(p) for p in (plan, asked)]
    parts = [
        part("draw" if curve else "split", cut.splits, before.splits),
        part("seed", cut.seeds, before.seeds),
        part("tried setting", cut.tune, before.tune) if cut.tune > 1 else "no tuning" if before.tune > 1 else "",
        part(length, *lengths),
        part("size", cut.sizes, before.sizes) if curve else "",
    ]
    return ", ".join(p for p in parts if p)


def sized(asked: Plan, store: Store, times: Times, *, seconds: float, workers: int) -> Sized:
    """Fit a plan to the time that is left.

    Start from the smallest plan that allows a verdict, then restore cuts in reverse order, each as far as it fits. What
    is in the store already takes no time.

    Args:
        asked: What was asked for.
        store: Finished runs.
        times: How long runs take.
        seconds: The time.
        workers: Processes that share the work.
    """

    def needed(cut: Cut) -> float:
        return times.spread(Runs(cut.of(asked), store).todo, workers)

    cut, before = least(asked), whole(asked)
    taken = needed(cut)
    if taken > seconds:
        return Sized(asked, cut, taken, fits=False)
    seconds *= 1 - SPARE
    for name in (f.name for f in reversed(fields(Cut))):
        last = 1 if name == "tune" else 0  # a single try is no tuning
        for value in SHARES if name == "share" else range(getattr(before, name), last, -1):
            if value <= getattr(cut, name):
                break
            more = replace(cut, **{name: value})  # type: ignore[arg-type]
            if (time := needed(more)) <= seconds:
                cut, taken = more, time
                break
    return Sized(asked, cut, taken, fits=True)


def probes(asked: Plan, times: Times) -> list[Task]:
    """List a short run of each entry whose time is not known yet.

    Classifiers without a network come first: the first task of a worker also loads what all need.
    """
    found = []
    for entry in sorted((e for e in asked.entries if e.mix is None), key=lambda e: not e.is_baseline):
        task = asked.example(entry)
        if not times.know_method(task):
            cost = {**task.config["cost"], "epochs": min(PROBE_EPOCHS, task.config["cost"]["epochs"])}
            found.append(Task("probe", {**task.config, **PROBE, "cost": cost}))
    return found


class Budget:
    """The time given: probes first, then a plan that fits, and no split that would not be whole by the end.

    Attributes:
        left: Seconds that are left.
        workers: Processes that share the work.
        probes: Short runs to do first.
        sized: The plan, once it is known.
    """

    def __init__(
        self, runs: Runs, seconds: float, *, workers: int, clock: Callable[[], float], say: Callable[[str], None] | None
    ) -> None:
        self.runs, self.seconds, self.workers, self.say = runs, seconds, max(1, workers), say
        self._clock, self._end = clock, clock() + seconds
        self.asked = runs.plan
        self.times = Times.of(runs.store, runs.plan.kind)
        self.probes = probes(self.asked, self.times)
        self.sized: Sized | None = None

    @property
    def left(self) -> float:
        return self._end - self._clock()

    def plan(self) -> None:
        """Replace the plan by one that fits in the time that is left."""
        left = max(0.0, self.left)
        self._take(sized(self.asked, self.runs.store, self.times, seconds=left, workers=self.workers))

    def _take(self, found: Sized) -> None:
        """Replace the plan, and say so."""
        self.sized = found
        self.runs.replan(found.plan)
        if self.say is not None:
            short = f"{duration(self.seconds)} is too little to time a run: give a larger budget."
            self.say(found.sentence(self.seconds) if self.times else short)

    def grow(self) -> bool:
        """Add a split if all is done and there is time for one more; return whether there was."""
        assert self.sized is not None
        cut = self.sized.cut
        if cut.splits == self.asked.splits:
            return False
        more = replace(cut, splits=cut.splits + 1)
        taken = self.times.spread(Runs(more.of(self.asked), self.runs.store).todo, self.workers)
        if taken > self.left:
            return False
        self._take(replace(self.sized, cut=more, seconds=self.seconds - self.left + taken))
        return True

    def allows(self, cell: list[Task]) -> bool:
        """Tell whether tasks that belong together can be done by the end, or one run later."""
        return self.times.total(cell) / self.workers <= self.left + self.times.longest(cell)
