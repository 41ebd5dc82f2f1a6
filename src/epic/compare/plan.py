"""Experiments as data: which runs a table or figure is made of, tuning included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import chain, product
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from epic.augment import METHODS
from epic.compare.store import Store
from epic.compare.task import Task
from epic.compare.tuning import PLAIN, candidates, spread
from epic.errors import InputError, choose, need_some
from epic.train.config import RESULTS_VERSION

SMALL = ("BZR", "COX2", "ENZYMES", "IMDB-BINARY", "ogbg-molbace", "ogbg-molbbbp")
"""Datasets for a quick look, the smallest first."""
TUNING_SEED = 1000
"""Training seed of runs that only choose settings; those that are reported count from 0."""


class Entry(BaseModel):
    """One row of a table: a method with what is fixed about it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    method: str
    settings: dict[str, Any] = {}
    cost: dict[str, Any] = {}

    @field_validator("method")
    @classmethod
    def _known(cls, value: str) -> str:
        return choose(value, METHODS, "method")


class Plan(BaseModel):
    """A table or figure of training runs, or of tasks of another kind.

    ``tune`` is the number of settings that every method may try on validation (0: defaults); ``plain`` says which
    choices plain training spends its share on. ``options`` go into every config. ``axes`` of other kinds are gone
    through in all combinations.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    kind: Literal["train", "distance", "blur", "curves", "lollipop"] = "train"
    datasets: tuple[str, ...] = ()
    backbones: tuple[str, ...] = ("gin",)
    entries: tuple[Entry, ...] = ()
    noise: tuple[float, ...] = (0.0,)
    splits: int = Field(1, ge=1)
    seeds: int = Field(5, ge=1)
    repeated: Literal["seeds", "splits"] = "seeds"
    """What ``--seeds`` counts: runs with other seeds, or on other splits."""
    tune: int = Field(0, ge=0)
    plain: tuple[str, ...] = ("pool",)
    options: dict[str, Any] = {}
    axes: dict[str, tuple[Any, ...]] = {}
    parts: tuple[str, ...] = ()
    """Other plans that belong to the same table or figure."""
    checksums: dict[str, str] = {}
    """Of datasets that are files: one may change under the same name, and runs of its old contents are not runs of its
    new ones.
    """

    @field_validator("entries", mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return [{"label": v, "method": v} if isinstance(v, str) else v for v in value]

    def narrowed(self, **only: Any) -> Plan:
        """The same with fewer datasets, methods, backbones, seeds, or other options; None leaves as it is."""
        given = {k: v for k, v in only.items() if v is not None}
        for what in ("datasets", "methods", "backbones"):
            if what in given:  # what is named twice is no more evidence than what is named once
                given[what] = tuple(dict.fromkeys(need_some(given[what], what)))
        if "seeds" in given:
            given[self.repeated] = given.pop("seeds")
        if "methods" in given:
            by_label = {e.label: e for e in self.entries}
            names = given.pop("methods")
            given["entries"] = tuple(
                by_label.get(n) or Entry(label=n, method=choose(n, {**by_label, **METHODS}, "method")) for n in names
            )
        if "epochs" in given:
            epochs = given.pop("epochs")
            learning = {**self.options.get("learning", {}), "epochs": epochs}
            changed = {"learning": learning} if self.kind == "distance" else {"epochs": epochs}
            given["options"] = {**self.options, **changed}
        return self.model_copy(update=given)

    def quick(self) -> Plan:
        """The same in small: two small datasets, two seeds, few epochs, no tuning; of classifiers of molecules, whose
        epochs take half a minute, one dataset, one seed and one epoch.
        """
        molecules = bool(self.datasets) and all(d.startswith("ogbg") for d in self.datasets)
        small = sorted(self.datasets, key=lambda d: (SMALL.index(d) if d in SMALL else len(SMALL), d))[:2]
        if molecules:
            small = ["ogbg-molbace"]
        large = molecules and self.kind == "train"
        epochs = {"epochs": 1 if large else 5} if "epochs" in self.options or self.kind == "train" else {}
        options = {**self.options, **epochs}
        times = min(1 if large else 2, getattr(self, self.repeated))
        if self.kind == "train":
            options |= {"cost": {"epochs": 3}, "fit_epochs": 2}
        if self.kind == "distance":
            options["learning"] = {"epochs": 3}
        if self.kind == "blur":
            options |= {"epochs": 3, "pairs": 100}
        noise = self.noise[len(self.noise) // 2 :][:1]
        changes = {"datasets": tuple(small), "noise": noise, self.repeated: times, "tune": 0, "options": options}
        return self.model_copy(update=changes)

    def groups(self) -> list[Group]:
        """Settings of the table in which methods are compared with each other."""
        return [
            Group(dataset, backbone, noise, split)
            for dataset in self.datasets
            for backbone in self.backbones
            for noise in self.noise
            for split in range(self.splits)
        ]

    def count(self) -> int:
        """How many tasks there are in all, tuning included."""
        if self.kind != "train":
            return len(list(self._others()))
        per_group = sum(self.seeds + (len(self._tries(e)) if self._tuned(e) else 0) for e in self.entries)
        shared = len(self._vanilla_tries()) if self._needs_vanilla() else 0
        return len(self.groups()) * (per_group + shared)

    def ready(self, store: Store) -> list[Task]:
        """Tasks that can be done now and are not done: settings are chosen before what depends on them is listed.

        Tasks that failed are left out.
        """
        return [t for t in self.tasks(store) if store.get(t) is None and store.failed(t) is None]

    def tasks(self, store: Store) -> list[Task]:
        """All tasks that are known by now, done or not, one group of the table after the other."""
        known = self._others() if self.kind != "train" else chain(*(self._of_group(g, store) for g in self.groups()))
        return list({t.key: t for t in known}.values())

    def final(self, group: Group, entry: Entry, store: Store) -> list[Task] | None:
        """The runs that are reported, one a seed; None while their settings are not chosen."""
        plain = self.plain_choice(group, store)
        settings = None if plain is None else self.choice(group, entry, store)
        if plain is None or settings is None:
            return None
        return [self._task(group, entry, settings, plain, seed) for seed in range(self.seeds)]

    def plain_choice(self, group: Group, store: Store) -> dict[str, Any] | None:
        """What plain training chose on validation; every method uses it."""
        if not self._needs_vanilla():
            return {}
        vanilla = Entry(label="vanilla", method="vanilla")
        tries = self._vanilla_tries()
        return _best(tries, [self._task(group, vanilla, {}, t, TUNING_SEED) for t in tries], store)

    def choice(self, group: Group, entry: Entry, store: Store) -> dict[str, Any] | None:
        """The settings that a method chose on validation."""
        if not self._tuned(entry):
            return {}
        plain = self.plain_choice(group, store)
        if plain is None:
            return None
        tries = self._tries(entry)
        return _best(tries, [self._task(group, entry, t, plain, TUNING_SEED) for t in tries], store)

    def _of_group(self, group: Group, store: Store) -> Iterator[Task]:
        if self._needs_vanilla():
            vanilla = Entry(label="vanilla", method="vanilla")
            for t in self._vanilla_tries():
                yield self._task(group, vanilla, {}, t, TUNING_SEED)
        plain = self.plain_choice(group, store)
        if plain is None:
            return
        for entry in self.entries:
            if self._tuned(entry):
                for t in self._tries(entry):
                    yield self._task(group, entry, t, plain, TUNING_SEED)
            yield from self.final(group, entry, store) or []

    def _task(self, group: Group, entry: Entry, settings: dict[str, Any], plain: dict[str, Any], seed: int) -> Task:
        model = {k: v for k, v in plain.items() if k in ("pool", "dropout")}
        rest = {k: v for k, v in plain.items() if k not in model}
        values = {
            "dataset": group.dataset,
            "method": entry.method,
            "settings": {**entry.settings, **settings},
            "backbone": group.backbone,
            "noise": group.noise,
            "split_seed": group.split,
            "seed": seed,
            "checksum": self.checksums.get(group.dataset),
            **self.options,
            **rest,
            "cost": {**self.options.get("cost", {}), **entry.cost},
            "model": {**self.options.get("model", {}), **model},
        }
        return _checked(json.dumps(values, sort_keys=True))

    def _tuned(self, entry: Entry) -> bool:
        return self.tune > 1 and entry.method != "vanilla"

    def _needs_vanilla(self) -> bool:
        return self.tune > 1 and bool(self.plain)

    def _tries(self, entry: Entry) -> list[dict[str, Any]]:
        return candidates(entry.method, self.tune, entry.settings)

    def _vanilla_tries(self) -> list[dict[str, Any]]:
        return spread({k: PLAIN[k] for k in self.plain}, self.tune, "vanilla")

    def _others(self) -> Iterator[Task]:
        axes = {**({"dataset": self.datasets} if self.datasets else {}), **self.axes}
        for values in product(*axes.values()):
            for seed in range(self.seeds):
                config = {
                    **self.options,
                    **dict(zip(axes, values, strict=True)),
                    "seed": seed,
                    "results_version": RESULTS_VERSION,
                }
                if config.get("dataset") in self.checksums:
                    config["checksum"] = self.checksums[config["dataset"]]
                yield Task(self.kind, config)


@dataclass(frozen=True)
class Group:
    """Where methods are compared with each other."""

    dataset: str
    backbone: str
    noise: float
    split: int


@lru_cache(100_000)
def _checked(values: str) -> Task:
    """The task of a training run, every value spelled out. Kept: a plan is gone through many times while it runs."""
    from epic.train.config import run_config

    return Task("train", run_config(**json.loads(values)).model_dump())


def _best(tries: list[dict[str, Any]], tasks: list[Task], store: Store) -> dict[str, Any] | None:
    """The try with the highest validation score, the first of equals; failed ones are out; None while any is open."""
    scores = []
    for task in tasks:
        record = store.get(task)
        if record is None and store.failed(task) is None:
            return None
        scores.append(-float("inf") if record is None else record["validation"])
    return tries[scores.index(max(scores))]


def names() -> list[str]:
    """Plans that come with the package."""
    folder = resources.files("epic.paper") / "plans"
    return sorted(p.name.removesuffix(".yaml") for p in folder.iterdir() if p.name.endswith(".yaml"))


def load_plan(name: str) -> Plan:
    """A plan by name."""
    choose(name, names(), "plan")
    text = (resources.files("epic.paper") / "plans" / f"{name}.yaml").read_text()
    try:
        return Plan(name=name, **yaml.safe_load(text))
    except ValidationError as error:
        raise InputError(f"the plan {name} is wrong: {error}") from error
