"""How a plan was carried out: command, runs, time, versions, failures; and which plans a store has something of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from epic.compare.plan import TUNING_SEED
from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.errors import InputError, choose
from epic.paper.plans import Call, PaperPlan, merged, names
from epic.train.config import default_settings

ORDER = (
    *("main", "molecules", "noise", "costs", "distance", "splits", "distance_exact"),
    *("order", "sinkhorn", "blur", "curves", "lollipop"),
)
"""Plans as they follow each other in a report."""


@dataclass(frozen=True)
class Failure:
    """What failed, and why."""

    what: str
    error: str


@dataclass(frozen=True)
class RunSummary:
    """How a plan was carried out.

    Attributes:
        command: The command that asked for the runs; empty if it is not known.
        done: Number of runs that succeeded out of ``total``, those that choose settings included; ``failed`` likewise.
        versions: Versions of the software, with the number of runs made with each.
        warnings: Inconsistencies between runs.
    """

    command: str
    total: int
    done: int
    failed: int
    seconds: float
    versions: tuple[tuple[str, int], ...]
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]


def run_summary(runs: Runs) -> RunSummary:
    """Summarize what the store knows about the tasks of a plan."""
    plan, store = runs.plan, runs.store
    found, known, _ = runs.records()
    failures = [Failure(_description(t.config), store.failed(t) or "") for t in runs.failed]
    tried = {t.key for t in runs}
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
        plan.call.command if isinstance(plan, PaperPlan) and plan.call is not None else "",
        max(plan.count(), known),
        len(found),
        len(failures),
        sum(r.get("seconds_in_all", r.get("seconds", 0.0)) for r in store if r["key"] in tried),
        tuple(versions.most_common()),
        tuple(failures),
        tuple(f"Runs on {d} saw different data: their checksums differ." for d in odd),
    )


def _description(config: dict[str, Any]) -> str:
    known = ("dataset", "backbone", "method", "assignment", "cost", "noise", "split_seed", "seed", "settings")
    if "settings" in config:  # only those that differ from the defaults
        usual = default_settings(config["method"])
        own = {k: v for k, v in config["settings"].items() if k not in usual or usual[k] != v}
        config = {**config, "settings": own}
    shown = {k: config[k] for k in known if config.get(k) not in (None, {}, 0.0) or k == "seed"}
    if not isinstance(shown.get("cost", ""), str):
        del shown["cost"]
    named = ("seed", "split_seed", "noise", "settings")
    return ", ".join(f"{k} {v}" if k in named else str(v) for k, v in shown.items())


def called_plans(store: Store, asked: Sequence[str] = (), **only: Any) -> list[Runs]:
    """Find the plans that a store has results of, as they were called, in the order of a report.

    Args:
        store: Finished runs. The calls that asked for them are kept with them.
        asked: Names of plans; none for all. One that was never called is taken as it comes with the package: it may
            share runs with others.
        **only: Options of :class:`~epic.paper.plans.Call` to replace; None leaves an option as it was.

    Raises:
        InputError: The store has nothing of these plans.
    """
    for name in asked:
        choose(name, names(), "plan")
    calls = merged(_calls(store))
    known = {p.name for c in calls for p in c.plans()}
    calls += [Call(name) for name in asked if name not in known]
    given = {k: v for k, v in only.items() if v is not None}
    plans = [(call, plan) for call in calls for plan in _applicable(call, given)]
    wanted = [Runs(plan, store) for call, plan in plans if not asked or {plan.name, call.plan} & set(asked)]
    found = [runs for runs in wanted if runs.shown]
    # The same plan may have been called by itself and as a part of another.
    kept = {
        (r.plan.name, frozenset(r.shown)): r
        for r in found
        if not any(r.plan.name == o.plan.name and r.shown < o.shown for o in found)
    }
    if not kept:
        raise InputError(
            f"none of the {len(store)} results is a reported run of {' or '.join(asked) or 'any plan'}: run "
            f"`epic reproduce {asked[0] if asked else 'main'}`, or name other results"
        )
    place = {name: i for i, name in enumerate(ORDER)}
    return sorted(kept.values(), key=lambda r: (place.get(r.plan.name, len(place)), r.plan.name))


def _calls(store: Store) -> list[Call]:
    """Read the calls that are kept with the records. Calls that no plan accepts are ignored."""
    found = []
    for call in {str(r["call"]): r["call"] for r in store if "plan" in r.get("call", {})}.values():
        with suppress(InputError, TypeError):
            read = Call.read(call)
            read.plans()  # refuses options that do not apply
            found.append(read)
    return found


def _applicable(call: Call, given: dict[str, Any]) -> list[PaperPlan]:
    """Build the plans of a call, with the rows that a plan has of the methods that are given."""
    found = []
    for plan in call.plans():
        here = dict(given)
        if "methods" in given:
            here["methods"] = tuple(m for m in given["methods"] if m in {e.label for e in plan.entries})
            if not here["methods"]:
                continue
        found.append(replace(call, **here).build(plan.name))
    return found


def unshown(shown: Sequence[Runs], store: Store) -> int:
    """Count the results that no table of these plans shows."""
    seen = set().union(*(r.shown for r in shown))
    return sum(r["key"] not in seen and (r.get("config") or {}).get("seed") != TUNING_SEED for r in store)
