"""Which runs a comparison is made of, tuning included."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from epic.augment import METHODS
from epic.compare.store import Store
from epic.compare.task import Task
from epic.compare.tuning import PLAIN, candidates, spread
from epic.errors import choose
from epic.train.config import run_config

TUNING_SEED = 1000
"""Training seed of runs that only choose settings; those that are reported count from 0."""
BACKBONE_SETTINGS = ("pool", "dropout")
"""Choices of plain training that belong to the backbone; the others are options of the run."""


class Entry(BaseModel):
    """One row of a table: a method with what is fixed about it.

    Attributes:
        label: Its name in the table.
        method: Any augmentation.
        settings: Settings of the method that are not tuned.
        cost: How its cost is learned.
        mix: Two other labels of the plan (or one twice: two seeds of it) whose stored outputs are mixed, instead of
            runs of its own; calibration and weight are fitted on validation graphs.
        options: What differs in the config of its runs, for example another ``backbone`` (a classifier without a
            network) or number of ``updates``.
        only: Datasets that it is run on; all of the plan, if empty.
        reason: Why it is not run on the others, in words that end a sentence.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    method: str = "vanilla"
    settings: dict[str, Any] = {}
    cost: dict[str, Any] = {}
    options: dict[str, Any] = {}
    mix: tuple[str, str] | None = None
    only: tuple[str, ...] = ()
    reason: str = ""

    def runs_on(self, dataset: str) -> bool:
        """Tell whether it has runs of its own on a dataset."""
        return self.mix is None and (not self.only or dataset in self.only)

    @property
    def is_baseline(self) -> bool:
        """Whether it classifies without the network that methods are compared with."""
        return "backbone" in self.options or self.mix is not None

    @field_validator("method")
    @classmethod
    def _known(cls, value: str) -> str:
        return choose(value, METHODS, "method")


class Claim(BaseModel):
    """A comparison that a plan names before its first run.

    Attributes:
        method: Label of an entry.
        against: Label of the entry that it is compared with, on the same splits.
        aim: The difference in points that was hoped for.
        main: Whether it is the claim of the study; all others are extra.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: str
    against: str = "vanilla"
    aim: float | None = None
    main: bool = False


VANILLA = Entry(label="vanilla", method="vanilla")
QUICK = "A quick look (--quick): few epochs and runs. It shows that everything works, and is no result."
QUICK_TRAINING: dict[str, Any] = {"epochs": 5, "cost": {"epochs": 3}, "fit_epochs": 2}
"""Values for every config of a quick look."""


def baseline_entry(name: str) -> Entry:
    """Return the row of a classifier by its name, such as ``counts``."""
    return Entry(label=name, options={"backbone": name})


@dataclass(frozen=True)
class Group:
    """Where methods are compared with each other."""

    dataset: str = ""
    backbone: str = ""
    noise: float = 0.0
    split: int = 0
    size: int | None = None


@dataclass(frozen=True)
class GroupTasks:
    """The tasks of a group that are known by now.

    Attributes:
        tuning: Runs that only choose settings.
        reported: For each entry, the runs that are reported, one a seed; None while their settings are not chosen.
        settings: For each entry, the settings chosen on validation, those of plain training included.
        later: For tasks whose settings are not chosen yet, as many with default settings: they take about as long.
    """

    tuning: list[Task] = field(default_factory=list)
    reported: list[list[Task] | None] = field(default_factory=list)
    settings: list[dict[str, Any]] = field(default_factory=list)
    later: list[Task] = field(default_factory=list)

    def all(self) -> list[Task]:
        """Every task once."""
        found = [*self.tuning, *(t for tasks in self.reported for t in tasks or ())]
        return list({t.key: t for t in found}.values())


class Plan(BaseModel):
    """Training runs: all entries on all datasets, backbones, noise levels, sizes, splits and seeds.

    Attributes:
        sizes: Numbers of labelled graphs to draw; None for the whole split.
        first_split: Number of the first split. Those from 100 on are for development: what is chosen there is
            confirmed on others.
        tune: Number of settings that every method may try on validation (0: defaults).
        plain: Choices that plain training spends its tries on. Every method then uses what it chose.
        options: Values that go into every config.
        per_dataset: Values that go into the configs of one dataset, such as the dropout that plain training needs.
        checksums: Of datasets that are files. A file may change under the same name, and runs of its old contents are
            not runs of its new ones.
        claims: Comparisons over all datasets and backbones that are named before the first run.
        quick: Whether it is a quick look, of which nothing is judged.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    kind: str = "train"
    datasets: tuple[str, ...] = ()
    backbones: tuple[str, ...] = ("gin",)
    entries: tuple[Entry, ...] = ()
    noise: tuple[float, ...] = (0.0,)
    sizes: tuple[int | None, ...] = (None,)
    splits: int = Field(1, ge=1)
    first_split: int = 0
    seeds: int = Field(5, ge=1)
    tune: int = Field(0, ge=0)
    plain: tuple[str, ...] = ("pool", "lr")
    options: dict[str, Any] = {}
    per_dataset: dict[str, dict[str, Any]] = {}
    checksums: dict[str, str] = {}
    claims: tuple[Claim, ...] = ()
    quick: bool = False

    @field_validator("entries", mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return [{"label": v, "method": v} if isinstance(v, str) else v for v in value]

    def groups(self) -> list[Group]:
        """Return the places of the table in which methods are compared with each other."""
        return [
            Group(dataset, backbone, noise, split, size)
            for dataset in self.datasets
            for backbone in self.backbones
            for noise in self.noise
            for size in self.sizes
            for split in self.split_numbers
        ]

    @property
    def split_numbers(self) -> range:
        return range(self.first_split, self.first_split + self.splits)

    def place(self, label: str) -> int:
        """Return the place of an entry, by its label."""
        labels = [e.label for e in self.entries]
        return labels.index(choose(label, labels, "entry of the plan"))

    def example(self, entry: Entry) -> Task:
        """Return a run of an entry with its default settings, on the first split of the largest size."""
        size = None if None in self.sizes else max(s or 0 for s in self.sizes)
        dataset = next((d for d in self.datasets if entry.runs_on(d)), self.datasets[0])
        group = Group(dataset, self.backbones[0], self.noise[0], self.first_split, size)
        return self._task(group, entry, {}, {}, TUNING_SEED)

    def count(self) -> int:
        """Return the number of tasks in all, tuning included."""
        runs = [(e, self.seeds + len(self._tries(e))) for e in self.entries]
        plain = len(self._plain_tries())
        return sum(plain + sum(n for e, n in runs if e.runs_on(group.dataset)) for group in self.groups())

    def expand(self, group: Group, store: Store) -> GroupTasks:
        """List the tasks of a group. Settings are chosen before the runs that use them are listed.

        Plain training chooses first, then each method among its own settings, then the reported runs follow.
        """
        choices = self._plain_tries()
        found = GroupTasks([self._task(group, VANILLA, {}, t, TUNING_SEED) for t in choices])
        best = _best(choices, found.tuning, store)
        plain = best or {}
        for entry in self.entries:
            own: dict[str, Any] | None = {}
            runs: list[Task] = []
            if entry.runs_on(group.dataset):
                choices = self._tries(entry)
                tries = [self._task(group, entry, t, plain, TUNING_SEED) for t in choices]
                (found.later if best is None else found.tuning).extend(tries)
                own = None if best is None else _best(choices, tries, store)
                runs = [self._task(group, entry, own or {}, plain, seed) for seed in range(self.seeds)]
                found.later.extend(runs if own is None else ())
            found.reported.append(None if own is None else runs)
            found.settings.append({**plain, **(own or {})})
        return found

    def _task(self, group: Group, entry: Entry, settings: dict[str, Any], plain: dict[str, Any], seed: int) -> Task:
        """Return one training run, every value spelled out."""
        if entry.is_baseline:  # what plain training chose is for its own network
            plain = {}
        model = {k: v for k, v in plain.items() if k in BACKBONE_SETTINGS}
        options = {**self.options, **({} if entry.is_baseline else self.per_dataset.get(group.dataset, {}))}
        values = {
            "dataset": group.dataset,
            "method": entry.method,
            "settings": {**entry.settings, **settings},
            "backbone": group.backbone,
            "noise": group.noise,
            "split_seed": group.split,
            "size": group.size,
            "seed": seed,
            "checksum": self.checksums.get(group.dataset),
            **options,
            **{k: v for k, v in plain.items() if k not in model},
            "cost": {**options.get("cost", {}), **entry.cost},
            "model": {**options.get("model", {}), **model},
            **entry.options,
        }
        if entry.is_baseline:
            values.pop("network", None)
        return Task("train", run_config(**values).model_dump())

    def _tries(self, entry: Entry) -> list[dict[str, Any]]:
        tuned = self.tune > 1 and entry.method != "vanilla"
        return candidates(entry.method, self.tune, entry.settings) if tuned else []

    def _plain_tries(self) -> list[dict[str, Any]]:
        return spread({k: PLAIN[k] for k in self.plain}, self.tune, "vanilla") if self.tune > 1 and self.plain else []


def _best(tries: list[dict[str, Any]], tasks: list[Task], store: Store) -> dict[str, Any] | None:
    """Return the try with the highest validation score, the first of equals; None while any is open.

    Failed tries are out. Without tries, the defaults are best.
    """
    scores = []
    for task in tasks:
        record = store.get(task)
        if record is None and store.failed(task) is None:
            return None
        scores.append(-float("inf") if record is None else record["validation"])
    return tries[scores.index(max(scores))] if tries else {}
