"""Does a method help on these graphs? Honest mode: paired splits and weights, equal budgets, and an interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from epic.compare.plan import Entry, Plan
from epic.compare.reported_runs import METRICS, ReportedRuns, reported_runs
from epic.compare.statistics import Comparison
from epic.compare.store import Store
from epic.compare.verdict import Difference, differences


def comparison(
    dataset: str,
    methods: list[str],
    *,
    backbone: str = "gin",
    splits: int = 5,
    seeds: int = 3,
    tune: int = 3,
    epochs: int = 100,
    checksum: str | None = None,
    **given: Any,
) -> Plan:
    """The plan of a comparison with plain training.

    Every split and seed gives all methods the same graphs and the same initial weights; every method tries ``tune``
    settings on the validation graphs of a split, plain training as many learning rates and dropouts, which the methods
    then use too; and all take the same number of gradient steps. Splits are stratified, also where a dataset has an
    official one: one split cannot tell chance from effect. ``checksum`` is that of a dataset that is a file. What else
    is ``given`` goes into every config: ``target`` and ``task`` of a CSV; None says nothing.
    """
    names = list(dict.fromkeys(["vanilla", *methods]))
    return Plan(
        name="compare",
        title=f"Methods compared on {dataset}",
        datasets=(dataset,),
        backbones=(backbone,),
        entries=tuple(Entry(label=n, method=n) for n in names),
        splits=splits,
        seeds=seeds,
        tune=tune,
        plain=("lr", "dropout"),
        options={"epochs": epochs, "split": "stratified", **{k: v for k, v in given.items() if v is not None}},
        checksums={} if checksum is None else {dataset: checksum},
    )


@dataclass(frozen=True)
class Line:
    """What is known of one method: mean score, difference to plain training, a sentence, and what it takes.

    Scores and differences are in percent, or in the units of the labels where these are values. ``difference`` is None
    for plain training itself, and without interval and p-value where there is one split only. ``epoch`` is the time of
    an epoch as a multiple of plain training's, ``seconds`` that time, ``graph`` the milliseconds that making one
    augmented graph takes; ``settings`` are those chosen most often.
    """

    method: str
    score: float | None
    difference: Comparison | None
    verdict: str
    runs: int
    epoch: float | None
    seconds: float | None
    graph: float | None
    settings: str


def lines(plan: Plan, store: Store) -> list[Line]:
    """One line a method, plain training first, from the runs that are done."""
    where = (plan.datasets[0], plan.backbones[0], plan.noise[0])
    found = {e.label: reported_runs(plan, store, e, *where) for e in plan.entries}
    base = found["vanilla"]
    parts = {a.label: a.parts[0] for a in differences(plan, store, "vanilla")}
    result = []
    for label, runs in found.items():
        gap = parts.get(label)
        pairs = list(_pairs(runs, base))
        result.append(
            Line(
                label,
                float(np.mean(runs.values)) if runs.values else None,
                None if gap is None else _over_splits(gap),
                _said(runs, gap),
                len(runs.done),
                _median(_epoch(a) / _epoch(b) for a, b in pairs if _epoch(b) > 0),
                _median(map(_epoch, runs.done)),
                _median(
                    1000 * (a["making_seconds"] - b["making_seconds"] * a["epochs"] / b["epochs"]) / a["made"]
                    for a, b in pairs
                    if a.get("made") and "making_seconds" in b
                ),
                max(runs.chosen, key=runs.chosen.count, default="-"),
            )
        )
    return result


def metric(plan: Plan, store: Store) -> str:
    """What the scores are."""
    where = (plan.datasets[0], plan.backbones[0], plan.noise[0])
    found = (reported_runs(plan, store, e, *where) for e in plan.entries)
    return METRICS[next((o.task for o in found if o.done), "classes")]


def _said(runs: ReportedRuns, gap: Difference | None) -> str:
    if not runs.done and runs.errors:
        return f"failed: {next(iter(runs.errors[0].strip().splitlines()), 'without a message')}"
    return "what the others are compared with" if gap is None else gap.verdict


def _over_splits(gap: Difference) -> Comparison:
    """Without interval and p-value where they would be over the seeds of one split: these say nothing about others."""
    return gap.found if gap.over == "splits" else replace(gap.found, low=None, high=None, p=None)


def _pairs(runs: ReportedRuns, base: ReportedRuns) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Runs beside those of plain training on the same split with the same seed."""
    for row, other in zip(runs.records, base.records, strict=True):
        for a, b in zip(row, other, strict=True):
            if a is not None and b is not None:
                yield a, b


def _epoch(record: dict[str, Any]) -> float:
    return record["seconds"] / record["epochs"]


def _median(values: Iterable[float]) -> float | None:
    there = list(values)
    return float(np.median(there)) if there else None
