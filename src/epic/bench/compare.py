"""Does a method help on these graphs? Honest mode: paired splits and weights, equal budgets, and an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from epic.bench.plan import Entry, Group, Plan
from epic.bench.statistics import Comparison, holm, paired, verdict
from epic.bench.store import Store


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
) -> Plan:
    """The plan of a comparison with plain training.

    Every split and seed gives all methods the same graphs and the same initial weights; every method tries ``tune``
    settings on the validation graphs of a split, plain training as many learning rates and dropouts, which the methods
    then use too; and all take the same number of gradient steps. Splits are stratified, also where a dataset has an
    official one: one split cannot tell chance from effect. ``checksum`` is that of a dataset that is a file.
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
        plain=("learning_rate", "dropout"),
        options={"epochs": epochs, "split": "stratified", **({} if checksum is None else {"checksum": checksum})},
    )


@dataclass(frozen=True)
class Line:
    """What is known of one method: mean score, difference to plain training, a sentence, and what it takes.

    ``epoch`` is the time of an epoch as a multiple of plain training's, ``seconds`` that time, ``prepared`` the seconds
    spent before the first one; ``settings`` are those chosen most often.
    """

    method: str
    score: float | None
    difference: Comparison
    verdict: str
    runs: int
    epoch: float | None
    seconds: float | None
    prepared: float | None
    settings: str


def lines(plan: Plan, store: Store, unit: str = "points") -> list[Line]:
    """One line a method, plain training first, from the runs that are done."""
    found = {e.label: _runs(plan, e, store) for e in plan.entries}
    base = _scores(found["vanilla"])
    sizes = next((r["sizes"] for row in found["vanilla"] for r in row if r is not None), [1, 0, 0])
    others = [e.label for e in plan.entries if e.label != "vanilla"]
    gaps = {n: paired(_scores(found[n]), base, sizes[0], sizes[2]) for n in others}
    corrected = dict(zip(others, holm([gaps[n].p for n in others]), strict=True))
    result = []
    for entry in plan.entries:
        runs = [r for row in found[entry.label] for r in row if r is not None]
        scores = [r["test"] for r in runs]
        gap = gaps.get(entry.label) or paired(base, base, sizes[0], sizes[2])
        text = "what the others are compared with"
        if entry.label != "vanilla":
            text = verdict(gap, corrected[entry.label], 100.0 if unit == "points" else 1.0, unit)
        result.append(
            Line(
                entry.label,
                float(np.mean(scores)) if scores else None,
                gap,
                text,
                len(runs),
                _slower(found[entry.label], found["vanilla"]),
                float(np.median([r["seconds"] / r["epochs"] for r in runs])) if runs else None,
                float(np.mean([r["prepared"] for r in runs])) if runs else None,
                _usual(plan, entry, store),
            )
        )
    return result


def _runs(plan: Plan, entry: Entry, store: Store) -> list[list[dict[str, Any] | None]]:
    """Records by split and seed; None where there is none yet."""
    rows: list[list[dict[str, Any] | None]] = []
    for group in plan.groups():
        tasks = plan.final(group, entry, store)
        rows.append([None] * plan.seeds if tasks is None else [store.get(t) for t in tasks])
    return rows


def _scores(rows: list[list[dict[str, Any] | None]]) -> np.ndarray:
    return np.array([[np.nan if r is None else r["test"] for r in row] for row in rows])


def _slower(rows: list[list[dict[str, Any] | None]], base: list[list[dict[str, Any] | None]]) -> float | None:
    """Median over pairs of runs of the ratio of their epoch times."""
    ratios = [
        (a["seconds"] / a["epochs"]) / (b["seconds"] / b["epochs"])
        for row, other in zip(rows, base, strict=True)
        for a, b in zip(row, other, strict=True)
        if a is not None and b is not None and b["seconds"] > 0
    ]
    return float(np.median(ratios)) if ratios else None


def _usual(plan: Plan, entry: Entry, store: Store) -> str:
    """The settings that were chosen in most splits."""
    chosen: list[str] = []
    for group in plan.groups():
        picked = _choice(plan, group, entry, store)
        if picked is not None:
            chosen.append(", ".join(f"{k}={v}" for k, v in picked.items()) or "defaults")
    return max(chosen, key=chosen.count) if chosen else "-"


def _choice(plan: Plan, group: Group, entry: Entry, store: Store) -> dict[str, Any] | None:
    return plan.plain_choice(group, store) if entry.label == "vanilla" else plan.choice(group, entry, store)
