"""How a plan was carried out: command, runs, time, versions, failures; and which plans a store has something of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epic.compare.plan import TUNING_SEED, Plan, load_plan, names
from epic.compare.store import Store
from epic.errors import InputError
from epic.train.config import default_settings

ORDER = (
    *("main", "molecules", "noise", "costs", "distance", "splits", "distance_exact"),
    *("order", "sinkhorn", "blur", "curves", "lollipop"),
)
"""Plans as they follow each other in a report; others come after."""


@dataclass(frozen=True)
class Failure:
    """What failed, and why."""

    what: str
    error: str


@dataclass(frozen=True)
class RunSummary:
    """``done`` and ``failed`` count runs that choose settings too, out of ``total``; ``versions`` come with the number
    of runs made with each; ``warnings`` are things that should not be.
    """

    command: str
    total: int
    done: int
    failed: int
    seconds: float
    versions: tuple[tuple[str, int], ...]
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]


def run_summary(plan: Plan, store: Store) -> RunSummary:
    """Everything about the tasks of a plan that the store knows."""
    tasks, ran = plan.tasks(store), begun(plan, store)
    found = [r for t in tasks if (r := store.get(t)) is not None]
    failures = [Failure(_what(t.config), e) for t in tasks if (e := store.failed(t)) is not None]
    tried = {t.key for t in tasks}
    versions: Counter[str] = Counter()
    data: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for record in found:
        if "versions" in record:
            versions[", ".join(f"{k} {v}" for k, v in record["versions"].items())] += 1
        if "data" in record:
            config = record["config"]
            data[config["dataset"], config.get("noise"), config.get("split_seed")].add(record["data"])
    odd = sorted({place[0] for place, sums in data.items() if len(sums) > 1})
    return RunSummary(
        command_of(ran),
        max(ran.count(), len(ran.tasks(store))),
        len(found),
        len(failures),
        sum(r.get("seconds_in_all", r.get("seconds", 0.0)) for r in store if r["key"] in tried),
        tuple(versions.most_common()),
        tuple(failures),
        tuple(f"Runs on {d} saw different data: their checksums differ." for d in odd),
    )


def begun(plan: Plan, store: Store) -> Plan:
    """The plan without datasets, backbones and methods of which nothing was run (all of it, if nothing was)."""

    def tried(part: Plan) -> list[dict[str, Any]]:
        return [t.config for t in part.tasks(store) if store.get(t) is not None or store.failed(t) is not None]

    configs = tried(plan)
    changes: dict[str, Any] = {}
    for option in ("dataset", "backbone") if plan.kind == "train" else ("dataset",):
        there = {c.get(option) for c in configs}
        changes[f"{option}s"] = tuple(v for v in getattr(plan, f"{option}s") if v in there)
    if len(plan.entries) > 1:  # runs that choose for plain training are there with every method
        alone = ((e, plan.model_copy(update={"entries": (e,)})) for e in plan.entries)
        changes["entries"] = tuple(e for e, part in alone if any(c["method"] == e.method for c in tried(part)))
    return plan.model_copy(update={k: v for k, v in changes.items() if v})


def command_of(plan: Plan) -> str:
    """The command that carries out a plan: the name, and what was left out or changed."""
    if plan.name not in names():
        return ""
    full = load_plan(plan.name)
    words = ["epic", "reproduce", next((n for n in names() if plan.name in load_plan(n).parts), plan.name)]
    if is_quick(plan):
        words, full = [*words, "--quick"], full.quick()
    for option in ("datasets", "backbones"):
        if getattr(plan, option) != getattr(full, option):
            words += [f"--{option}", ",".join(getattr(plan, option))]
    if [e.label for e in plan.entries] != [e.label for e in full.entries]:
        words += ["--methods", ",".join(e.label for e in plan.entries)]
    for option, field in (("seeds", plan.repeated), ("tune", "tune")):
        if getattr(plan, field) != getattr(full, field):
            words += [f"--{option}", str(getattr(plan, field))]
    if _epochs(plan) != _epochs(full):
        words += ["--epochs", str(_epochs(plan))]
    return " ".join(words)


def is_quick(plan: Plan) -> bool:
    """Whether it is the small form of a plan, which no other options give (the cost's epochs are changed, too)."""
    if plan.name not in names():
        return False
    full = load_plan(plan.name)
    small = full.quick()
    if _essence(full) != _essence(small):
        return _essence(plan) == _essence(small)
    # It differs in epochs and repetitions only, which may have been asked for.
    same = getattr(plan, plan.repeated) == getattr(small, plan.repeated)
    return same and plan.options == small.options != full.options


def _epochs(plan: Plan) -> Any:
    """What ``--epochs`` says."""
    return (plan.options.get("learning", {}) if plan.kind == "distance" else plan.options).get("epochs")


def _essence(plan: Plan) -> dict[str, Any]:
    """What ``--epochs`` does not say."""
    options = {k: v for k, v in plan.options.items() if k != "epochs"}
    learning = {k: v for k, v in options.pop("learning", {}).items() if k != "epochs"}
    return {**options, "learning": learning, "noise": plan.noise}


def _what(config: dict[str, Any]) -> str:
    known = ("dataset", "backbone", "method", "assignment", "cost", "noise", "split_seed", "seed", "settings")
    if "settings" in config:  # only what is not as usual
        usual = default_settings(config["method"])
        own = {k: v for k, v in config["settings"].items() if k not in usual or usual[k] != v}
        config = {**config, "settings": own}
    shown = {k: config[k] for k in known if config.get(k) not in (None, {}, 0.0) or k == "seed"}
    if not isinstance(shown.get("cost", ""), str):
        del shown["cost"]
    return ", ".join(
        f"{k} {v}" if k in ("seed", "split_seed", "noise", "settings") else str(v) for k, v in shown.items()
    )


class Merged(Store):
    """Several files as one, to read from. A run that was done somewhere is not hidden by its failure elsewhere."""

    def __init__(self, paths: Sequence[str | Path]) -> None:
        for path in map(Path, paths):
            if not path.exists():
                raise InputError(f"there is no file {path}: run `epic reproduce` first, or name its results")
        super().__init__(paths[0])
        for path in map(Path, paths[1:]):
            self._read(path)
        if not self._records:
            raise InputError(f"{', '.join(map(str, paths))}: no results there yet")


def present(
    store: Store, asked: Sequence[str] = (), narrow: Callable[[Plan], Plan | None] = lambda plan: plan
) -> list[Plan]:
    """Plans that the store has anything of, in the order of a report: those asked for, or all.

    A plan brings its parts. Among all, one that has nothing but runs shared with those that have more (plain training,
    say) is left out. A plan is shown in small (``--quick``) if only that was run. ``narrow`` gives what is wanted of a
    plan, None for nothing. Nothing at all is an error.
    """
    plans = [load_plan(n) for n in (asked or names())]
    named = {p.name: p for p in plans} | {part: load_plan(part) for p in plans for part in p.parts}
    place = {n: i for i, n in enumerate(ORDER)}
    ordered = sorted(named.values(), key=lambda p: (place.get(p.name, len(ORDER)), p.name))
    kept: dict[str, Plan] = {}
    seen: set[str] = set()
    for forms in ([narrow(p) for p in ordered], [narrow(_any_quick(p, store)) for p in ordered]):
        there = [(f, tried) for f in forms if f is not None and f.name not in kept and (tried := shown(f, store))]
        for form, tried in sorted(there, key=lambda f: -len(f[1])):
            if tried - seen or asked:
                kept[form.name] = form
                seen |= tried
    found = [kept[p.name] for p in ordered if p.name in kept]
    if not found:
        wanted = " or ".join(asked) if asked else "any plan"
        raise InputError(
            f"none of the {len(store)} results is a reported run of {wanted} as it comes with the package (with "
            f"the same epochs and options): give the options that they were made with, or "
            f"run `epic reproduce {asked[0] if asked else 'main'}`"
        )
    return found


def shown(plan: Plan, store: Store) -> set[str]:
    """Keys of runs, done or failed, that the table of a plan shows: not those that only choose settings."""
    tasks = (t for t in plan.tasks(store) if t.config.get("seed") != TUNING_SEED)
    return {t.key for t in tasks if store.get(t) is not None or store.failed(t) is not None}


def unshown(plans: Sequence[Plan], store: Store) -> int:
    """How many results no table of these plans shows."""
    seen = set().union(*(shown(p, store) for p in plans))
    return sum(r["key"] not in seen and (r.get("config") or {}).get("seed") != TUNING_SEED for r in store)


def _any_quick(plan: Plan, store: Store) -> Plan:
    """The plan in small, with the datasets on which it was run so, if that is any."""
    small = plan.quick()
    wide = small.model_copy(update={"datasets": tuple(dict.fromkeys((*small.datasets, *plan.datasets)))})
    there = {t.config.get("dataset") for t in wide.tasks(store) if store.get(t) or store.failed(t)}
    return small.model_copy(update={"datasets": tuple(d for d in wide.datasets if d in there) or small.datasets})
