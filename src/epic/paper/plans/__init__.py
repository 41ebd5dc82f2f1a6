"""The plans of the paper's tables and figures, one YAML file each, and how they were called."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any, Literal

import yaml
from pydantic import ValidationError

from epic.augment import METHODS
from epic.compare.plan import QUICK_TRAINING, Entry, Group, GroupTasks, Plan
from epic.compare.store import Store
from epic.compare.task import Task
from epic.errors import InputError, choose, need_some
from epic.train.config import RESULTS_VERSION

ALL = ("main", "lollipop", "distance", "costs", "noise", "order", "sinkhorn", "molecules", "curves")
"""Plans of everything that the paper prints, in the order in which they are run."""
SMALL = ("BZR", "COX2", "ENZYMES", "IMDB-BINARY", "ogbg-molbace", "ogbg-molbbbp")
"""Datasets for a quick look, the smallest first."""
TUNED = {
    name: {"model": {"between": True, "dropout": 0.5}}
    for name in ("BZR", "COX2", "PROTEINS", "IMDB-BINARY", "IMDB-MULTI")
}
"""What plain training needs on single datasets, chosen on development splits (docs/research.md). All methods get it."""


@dataclass(frozen=True)
class Call:
    """How `epic reproduce` was called. It is kept with every record, and read back for the report.

    Attributes:
        plan: The name of a plan.
        quick: A few minutes: two small datasets, two seeds, few epochs, no tuning.
        datasets: Only these; None for all of the plan. ``methods``, ``backbones``, ``seeds``, ``epochs`` and ``tune``
            likewise.
        checksums: Of datasets that are files.
        classes: Of datasets that are files and name their classes: how many graphs each class has.
    """

    plan: str
    quick: bool = False
    datasets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    backbones: tuple[str, ...] | None = None
    seeds: int | None = None
    epochs: int | None = None
    tune: int | None = None
    checksums: dict[str, str] = field(default_factory=dict)
    classes: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        choose(self.plan, names(), "plan")
        for what in ("datasets", "methods", "backbones"):
            if (given := getattr(self, what)) is not None:  # what is named twice is no more evidence than once
                object.__setattr__(self, what, tuple(dict.fromkeys(need_some(given, what))))

    @property
    def command(self) -> str:
        """The command line."""
        words = ["epic reproduce", self.plan, *(["--quick"] if self.quick else [])]
        for option in ("datasets", "backbones", "methods", "seeds", "tune", "epochs"):
            value = getattr(self, option)
            if value is not None:
                words += [f"--{option}", shlex.quote(",".join(value) if isinstance(value, tuple) else str(value))]
        return " ".join(words)

    def record(self) -> dict[str, Any]:
        """Return what is kept with every run: the command, and the options that were given."""
        given = {k: v for k, v in asdict(self).items() if v is not None and v is not False and v != {}}
        return {"command": self.command, **given}

    @classmethod
    def read(cls, record: dict[str, Any]) -> Call:
        """Read what :meth:`record` wrote."""
        lists = ("datasets", "methods", "backbones")
        values: dict[str, Any] = {k: tuple(v) if k in lists else v for k, v in record.items() if k != "command"}
        return cls(**values)

    def plans(self) -> list[PaperPlan]:
        """Build the plan and those that belong to the same table.

        Raises:
            InputError: An option does not apply to the plan.
        """
        first = _read(self.plan)
        parts = [first, *map(_read, first.parts)]
        if self.methods is not None and not first.entries:
            raise InputError(f"{self.plan} does not compare methods: leave out --methods")
        if self.datasets is not None and not first.datasets:
            raise InputError(f"{self.plan} is on graphs of its own: leave out --datasets")
        if self.backbones is not None and all(p.kind != "train" for p in parts):
            raise InputError(f"{self.plan} trains no classifier: leave out --backbones")
        for entry in self.build(self.plan).entries if self.methods and self.datasets else ():
            if entry.only and not set(entry.only) & set(self.datasets or ()):
                raise InputError(
                    f"{self.plan} has {entry.label} on {', '.join(entry.only)} alone, {entry.reason}: epic compare "
                    "takes any dataset"
                )
        return [self.build(p.name) for p in parts]

    def build(self, name: str) -> PaperPlan:
        """Build one plan with these options, as far as they apply to it."""
        plan = _read(name)
        changes: dict[str, Any] = {"call": self, "checksums": self.checksums, "quick": self.quick}
        if self.quick:
            changes |= _quick(plan)
        if self.datasets is not None and plan.datasets:
            changes["datasets"] = self.datasets
        if self.methods is not None and plan.entries:
            rows = {e.label: e for e in plan.entries}
            known = {**rows, **METHODS}
            changes["entries"] = tuple(
                rows.get(n) or Entry(label=n, method=choose(n, known, "method")) for n in self.methods
            )
        for option, value in (("backbones", self.backbones), (plan.repeated, self.seeds), ("tune", self.tune)):
            if value is not None:
                changes[option] = value
        if self.epochs is not None:
            options = changes.get("options", plan.options)
            learning = {**options.get("learning", {}), "epochs": self.epochs}
            more = {"learning": learning} if plan.kind == "distance" else {"epochs": self.epochs}
            changes["options"] = {**options, **more}
        return plan.model_copy(update=changes)


class PaperPlan(Plan):
    """A table or figure of the paper: training runs, or tasks of another kind.

    Attributes:
        repeated: What ``--seeds`` counts: runs with other seeds, or on other splits.
        axes: Arguments of tasks of another kind, which are gone through in all combinations.
        parts: Other plans that belong to the same table or figure.
        call: The options that it was built with.
    """

    kind: Literal["train", "distance", "blur", "curves", "lollipop"] = "train"
    repeated: Literal["seeds", "splits"] = "seeds"
    axes: dict[str, tuple[Any, ...]] = {}
    parts: tuple[str, ...] = ()
    per_dataset: dict[str, dict[str, Any]] = TUNED
    call: Call | None = None

    def groups(self) -> list[Group]:
        return super().groups() if self.kind == "train" else [Group()]

    def count(self) -> int:
        return super().count() if self.kind == "train" else len(list(self._tasks()))

    def expand(self, group: Group, store: Store) -> GroupTasks:
        if self.kind == "train":
            return super().expand(group, store)
        return GroupTasks(reported=[list(self._tasks())], settings=[{}])

    def _tasks(self) -> Iterator[Task]:
        axes = {**({"dataset": self.datasets} if self.datasets else {}), **self.axes}
        for values in product(*axes.values()):
            at = dict(zip(axes, values, strict=True))
            if at.get("dataset") in self.checksums:
                at["checksum"] = self.checksums[at["dataset"]]
            for seed in range(self.seeds):
                yield Task(self.kind, {**self.options, **at, "seed": seed, "results_version": RESULTS_VERSION})


def names() -> list[str]:
    """List the plans that come with the package."""
    return sorted(p.name.removesuffix(".yaml") for p in files(__name__).iterdir() if p.name.endswith(".yaml"))


def load_plan(name: str, **options: Any) -> PaperPlan:
    """Build a plan by name, with the options of :class:`Call`."""
    return Call(name, **options).build(name)


def merged(calls: Iterable[Call]) -> list[Call]:
    """Join calls that asked for the same kind of runs on other datasets, methods, backbones or seeds.

    Mixtures of what they asked for come with it.
    """
    alike: dict[tuple[Any, ...], list[Call]] = {}
    for call in calls:
        alike.setdefault((call.plan, call.quick, call.epochs, call.tune), []).append(call)
    found = []
    for same in alike.values():
        usual = Call(same[0].plan, quick=same[0].quick).build(same[0].plan)
        rows = tuple(e.label for e in usual.entries)
        times = getattr(usual, usual.repeated)
        files_of = ("checksums", "classes")
        changes: dict[str, Any] = {f: {k: v for c in same for k, v in getattr(c, f).items()} for f in files_of}
        seeds = max(c.seeds or times for c in same)
        for option, every in (("datasets", usual.datasets), ("methods", rows), ("backbones", usual.backbones)):
            asked = dict.fromkeys(v for c in same for v in (getattr(c, option) or every))
            if option == "methods":  # a mixture needs no runs of its own
                mixed = (e for e in usual.entries if e.mix is not None and asked.keys() >= set(e.mix))
                asked |= dict.fromkeys(e.label for e in mixed if seeds > 1 or len(set(e.mix or ())) > 1)
            changes[option] = None if set(asked) == set(every) else tuple(asked)
        found.append(replace(same[0], **changes, seeds=None if seeds == times else seeds))
    return found


@cache
def _read(name: str) -> PaperPlan:
    text = files(__name__).joinpath(f"{choose(name, names(), 'plan')}.yaml").read_text(encoding="utf-8")
    try:
        return PaperPlan(name=name, **yaml.safe_load(text))
    except ValidationError as error:
        raise InputError(f"the plan {name} is wrong: {error}") from error


def _quick(plan: PaperPlan) -> dict[str, Any]:
    """Choose two small datasets, two splits or seeds, few epochs, no tuning.

    An epoch of a classifier of molecules takes half a minute: one dataset, one seed and one epoch of these.
    """
    molecules = bool(plan.datasets) and all(d.startswith("ogbg") for d in plan.datasets)
    small = sorted(plan.datasets, key=lambda d: (SMALL.index(d) if d in SMALL else len(SMALL), d))[:2]
    large = molecules and plan.kind == "train"
    less: dict[str, dict[str, Any]] = {
        "train": {**QUICK_TRAINING, **({"epochs": 1} if large else {})},
        "distance": {"learning": {"epochs": 3}},
        "blur": {"epochs": 3, "pairs": 100},
        "curves": {"epochs": 5},
        "lollipop": {"epochs": 5},
    }
    return {
        "datasets": ("ogbg-molbace",) if molecules else tuple(small),
        "noise": plan.noise[len(plan.noise) // 2 :][:1],
        "splits": min(2, plan.splits),
        "seeds": min(1 if large or plan.splits > 1 else 2, plan.seeds),
        "tune": 0,
        "options": {**plan.options, **less[plan.kind]},
    }
