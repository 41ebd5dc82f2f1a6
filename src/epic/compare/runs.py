"""The runs of a plan: which are known by now, which are done, and what the reported ones found."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from epic.compare.mixtures import mix_records
from epic.compare.plan import TUNING_SEED, Group, GroupTasks, Plan
from epic.compare.statistics import Comparison, crossed, paired
from epic.compare.store import Store
from epic.compare.task import Task

METRICS = {"classes": "accuracy in percent", "binary": "ROC-AUC in percent", "values": "minus the mean absolute error"}
UNITS = {"classes": "points", "binary": "points", "values": "units"}
"""What differences of scores are measured in."""


class Runs:
    """A plan and the store of its results.

    The plan is expanded once; after a run that chooses settings, only its group is expanded again.

    Args:
        plan: The plan.
        store: Its results.
        paired: Whether methods go together: all of them run on a split before the next one, with the first seed on all
            splits before the second, and a split is shown only if every method has it.
    """

    def __init__(self, plan: Plan, store: Store, *, paired: bool = False) -> None:
        self.store, self.paired = store, paired
        self.replan(plan)

    def replan(self, plan: Plan) -> None:
        """Take another plan; the results stay."""
        self.plan = plan
        self._groups: dict[Group, GroupTasks] = {}
        self._group_of: dict[str, Group] = {}
        self.refresh()

    def refresh(self) -> None:
        """Expand the plan again, after the store was changed by someone else."""
        for group in self.plan.groups():
            self._expand(group)

    def finished(self, task: Task) -> None:
        """Take note of a result that was added to the store."""
        group = self._group_of[task.key]
        if task in self._groups[group].tuning:
            self._expand(group)

    def _expand(self, group: Group) -> None:
        self._groups[group] = found = self.plan.expand(group, self.store)
        self._group_of |= {t.key: group for t in found.all()}

    def __iter__(self) -> Iterator[Task]:
        """Iterate over all tasks that are known by now, group by group, or cell by cell if paired."""
        tasks = [t for found in self._groups.values() for t in found.all()]
        if self.paired:
            place = {size: number for number, size in enumerate(self.plan.sizes)}
            tasks.sort(key=lambda t: (*self.cell(t), place[t.config["size"]]))
        yield from tasks

    @staticmethod
    def cell(task: Task) -> tuple[int, int]:
        """Name what belongs together: a seed on a split. The first seed includes the choice of settings."""
        seed = task.config["seed"]
        return (0 if seed == TUNING_SEED else seed), task.config["split_seed"]

    @property
    def todo(self) -> list[Task]:
        """Tasks that are open, and stand-ins for those whose settings are not chosen yet."""
        return [*self.open, *(t for found in self._groups.values() for t in found.later)]

    @property
    def whole(self) -> set[tuple[int, int]]:
        """Cells in which nothing is missing."""
        left = {self.cell(t) for t in self.todo}
        return {(seed, split) for seed in range(self.plan.seeds) for split in self.plan.split_numbers} - left

    @property
    def open(self) -> list[Task]:
        """Tasks that can be done now and have neither succeeded nor failed."""
        return [t for t in self if self.store.get(t) is None and self.store.failed(t) is None]

    @property
    def failed(self) -> list[Task]:
        """Tasks that failed and were not done since."""
        return [t for t in self if self.store.failed(t) is not None]

    @property
    def shown(self) -> set[str]:
        """Keys of reported runs, done or failed."""
        tasks = (t for g in self._groups.values() for row in g.reported for t in row or ())
        return {t.key for t in tasks if self.store.get(t) is not None or self.store.failed(t) is not None}

    def records(self, **where: Any) -> tuple[list[dict[str, Any]], int, int]:
        """Return records of tasks whose config has these values, how many there should be, and how many failed."""
        tasks = [t for t in self if all(t.config.get(k) == v for k, v in where.items())]
        found = [r for t in tasks if (r := self.store.get(t)) is not None]
        return found, len(tasks), sum(self.store.failed(t) is not None for t in tasks)

    @property
    def task(self) -> str:
        """What the labels of the first run are."""
        return next((r["task"] for r in self.records()[0] if "task" in r), "classes")

    def reported(
        self,
        entry: int,
        dataset: str | None = None,
        backbone: str | None = None,
        noise: float | None = None,
        size: int | None = None,
    ) -> ReportedRuns:
        """Return all splits and seeds of an entry (by its place in the plan) in one place of the table.

        What is not named stands for the first of the plan, and so does a ``size`` that the plan does not have.
        """
        plan = self.plan
        dataset = plan.datasets[0] if dataset is None else dataset
        backbone = plan.backbones[0] if backbone is None else backbone
        noise = plan.noise[0] if noise is None else noise
        size = size if size in plan.sizes else plan.sizes[0]
        if (mixed := plan.entries[entry].mix) is not None:
            places = [plan.place(label) for label in mixed]
            one, other = (self.reported(i, dataset, backbone, noise, size) for i in places)
            return mix_runs(one, other, same=mixed[0] == mixed[1])
        records: list[tuple[dict[str, Any] | None, ...]] = []
        errors: list[str] = []
        chosen: list[str] = []
        whole = self.whole if self.paired else None
        for split in plan.split_numbers:
            group = self._groups.get(Group(dataset, backbone, noise, split, size))
            tasks = None if group is None else group.reported[entry]
            row = tuple(map(self.store.get, tasks)) if tasks else (None,) * plan.seeds
            records.append(tuple(r if whole is None or (k, split) in whole else None for k, r in enumerate(row)))
            errors += [e for t in tasks or () if (e := self.store.failed(t)) is not None]
            if group is not None and any(records[-1]):
                chosen.append(_settings_text(group.settings[entry]))
        return ReportedRuns(tuple(records), tuple(errors), tuple(chosen))


@dataclass(frozen=True)
class ReportedRuns:
    """The runs that are reported of one entry in one place of a table.

    Attributes:
        records: ``records[split][seed]``, None where a run is missing or failed.
        errors: Of runs that failed.
        chosen: The settings chosen in each split that has runs.
    """

    records: tuple[tuple[dict[str, Any] | None, ...], ...]
    errors: tuple[str, ...]
    chosen: tuple[str, ...]

    @property
    def done(self) -> list[dict[str, Any]]:
        return [r for split in self.records for r in split if r is not None]

    @property
    def task(self) -> str:
        return next((r.get("task", "classes") for r in self.done), "classes")

    @property
    def scale(self) -> float:
        return 1.0 if self.task == "values" else 100.0

    @property
    def unit(self) -> str:
        return UNITS[self.task]

    @property
    def scores(self) -> np.ndarray:
        """Test scores ``[splits, seeds]``, NaN where there is no run."""
        rows = [[math.nan if r is None else r["test"] for r in split] for split in self.records]
        return self.scale * np.array(rows, dtype=float)

    @property
    def values(self) -> list[float]:
        """Test scores of the runs that are done."""
        return [self.scale * r["test"] for r in self.done]

    @property
    def sizes(self) -> tuple[int, int] | None:
        """Numbers of training and test graphs of a split."""
        return next(((r["sizes"][0], r["sizes"][2]) for r in self.done if "sizes" in r), None)

    def against(self, other: ReportedRuns) -> Comparison:
        """Compare with other runs, paired by split and seed.

        The test is :func:`crossed` for draws of few training graphs, of which runs keep the outputs, else
        :func:`paired`.
        """
        gains = self._gains(other)
        if gains is not None:
            return crossed(self.scores, other.scores, gains)
        train, test = self.sizes or (1, 0)
        return paired(self.scores, other.scores, train, test)

    def _gains(self, other: ReportedRuns) -> np.ndarray | None:
        """Return the gain on each test graph in each draw, in points ``[draws, graphs]``; None if that is not kept."""
        found = []
        for mine, theirs in zip(self.records, other.records, strict=True):
            pairs = [(a, b) for a, b in zip(mine, theirs, strict=True) if a is not None and b is not None]
            if not all(_is_draw(r) for pair in pairs for r in pair):
                return None
            graphs = [np.array(a["graphs"]["test"]) for a, _ in pairs]
            rights = [100.0 * (_right(a) - _right(b)) for a, b in pairs]
            found.append((np.concatenate(graphs or [np.zeros(0, int)]), np.concatenate(rights or [np.zeros(0)])))
        width = max((int(g.max()) + 1 for g, _ in found if g.size), default=0)
        if not width:
            return None
        total = np.array([np.bincount(g, r, minlength=width) for g, r in found])
        count = np.array([np.bincount(g, minlength=width) for g, _ in found])
        return np.divide(total, count, out=np.full(total.shape, math.nan), where=count > 0)

    @property
    def epoch_seconds(self) -> list[float]:
        return [r["seconds"] / r["epochs"] for r in self.done if r.get("epochs") and "seconds" in r]


def _is_draw(record: dict[str, Any]) -> bool:
    """Return whether a run classified graphs after training on a draw of some, and kept what it said of each."""
    drawn = record.get("config", {}).get("size") is not None
    return drawn and record["task"] == "classes" and "graphs" in record and "outputs" in record


def _right(record: dict[str, Any]) -> np.ndarray:
    """Return which test graphs were classified rightly, as 1.0 and 0.0."""
    said = np.array(record["outputs"]["test"]).argmax(1)
    return (said == np.array(record["labels"]["test"]).reshape(-1)).astype(float)


def mix_runs(one: ReportedRuns, other: ReportedRuns, *, same: bool) -> ReportedRuns:
    """Mix runs of two entries seed by seed; of ``same`` entries, each seed with the next."""
    records = []
    for mine, theirs in zip(one.records, other.records, strict=True):
        if same:
            theirs = (*theirs[1:], None) if len(theirs) < 3 else (*theirs[1:], theirs[0])
        records.append(tuple(mix_records(a, b) for a, b in zip(mine, theirs, strict=True)))
    return ReportedRuns(tuple(records), (*one.errors, *other.errors), ())


def _settings_text(settings: dict[str, Any]) -> str:
    texts = (v if isinstance(v, str) else json.dumps(v) for v in settings.values())
    return ", ".join(f"{k} {v}" for k, v in zip(settings, texts, strict=True)) or "defaults"
