"""Methods against plain training: paired differences by dataset and split, and what they say in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np

from epic.compare.plan import Plan
from epic.compare.runs import ReportedRuns, Runs
from epic.compare.statistics import CONFIDENCE, Comparison, SignedRank, holm, paired, signed_rank

LEAST = 3
"""Splits (or seeds of one split) below which nothing is judged, and no interval is given."""


@dataclass(frozen=True)
class Difference:
    """A method minus the baseline on one dataset, in points.

    Attributes:
        found: The test over splits. With one split only it is over the seeds of that split, which says nothing about
            other splits.
        p: Corrected for the number of methods compared on the dataset.
    """

    dataset: str
    found: Comparison
    over: Literal["splits", "seeds"]
    unit: str = "points"
    p: float | None = None
    verdict: str = ""

    @property
    def significant(self) -> bool:
        return self.p is not None and self.p < 1 - CONFIDENCE


@dataclass(frozen=True)
class Against:
    """A method against the baseline on all datasets of a block.

    Attributes:
        signed: The signed-rank test of one mean difference for each dataset.
        p: Of ``signed``, corrected for the number of methods.
    """

    label: str
    baseline: str
    backbone: str
    noise: float
    parts: tuple[Difference, ...]
    mean: float | None
    signed: SignedRank | None
    p: float | None = None
    verdict: str = ""

    @property
    def where(self) -> str:
        return block_title(self.backbone, self.noise)


def block_title(backbone: str, noise: float) -> str:
    """Name a block of a table."""
    return backbone.upper() + (f", {100 * noise:g} % noise" if noise else "")


def baseline(plan: Plan, against: str | None = None) -> int | None:
    """Find the entry that others are compared with: the one named, plain training, or the first of two."""
    if against is not None:
        return plan.place(against)
    plain = next((i for i, e in enumerate(plan.entries) if e.method == "vanilla"), None)
    return 0 if plain is None and len(plan.entries) == 2 else plain


def differences(runs: Runs, against: str | None = None) -> list[Against]:
    """Compare every method of a plan with plain training (or the entry ``against``), block by block."""
    plan = runs.plan
    base = baseline(plan, against)
    if base is None or plan.kind != "train":
        return []
    rivals = [i for i, entry in enumerate(plan.entries) if i != base and not entry.is_baseline]
    found: list[Against] = []
    for backbone, noise in product(plan.backbones, plan.noise):
        columns = []
        for dataset in plan.datasets:
            other = runs.reported(base, dataset, backbone, noise)
            mine = [runs.reported(i, dataset, backbone, noise) for i in rivals]
            columns.append(_corrected([compare_runs(dataset, m, other) for m in mine]))
        block = []
        for place, i in enumerate(rivals):
            parts = tuple(column[place] for column in columns)
            means = [d.found.difference for d in parts if d.found.difference is not None]
            average = float(np.mean(means)) if means else None
            signed = signed_rank(means) if len(means) > 1 else None
            names = plan.entries[i].label, plan.entries[base].label
            block.append(Against(*names, backbone, noise, parts, average, signed))
        p = holm([None if a.signed is None else a.signed.p for a in block])
        found += [replace(a, p=q, verdict=_overall(a, q)) for a, q in zip(block, p, strict=True)]
    return found


def compare_runs(dataset: str, method: ReportedRuns, other: ReportedRuns) -> Difference:
    """Compare one method with another on one dataset, without corrected p-value and verdict."""
    over: Literal["splits", "seeds"] = "splits" if len(method.records) > 1 else "seeds"
    # Seeds of one split are independent given the split.
    found = method.against(other) if over == "splits" else paired(method.scores[0], other.scores[0], 1, 0)
    # Few splits allow no useful interval.
    return Difference(dataset, found.bare() if found.splits < LEAST else found, over, method.unit)


def _corrected(column: list[Difference]) -> list[Difference]:
    """Add p-values corrected for the number of methods on one dataset, and verdicts."""
    p = holm([d.found.p for d in column])
    return [replace(d, p=q, verdict=_on_one_dataset(d, q)) for d, q in zip(column, p, strict=True)]


def _on_one_dataset(difference: Difference, p: float | None) -> str:
    found, unit = difference.found, difference.unit
    if difference.over == "splits" or found.difference is None:
        return verdict(found, p, unit=unit)
    text = f"on one split: {amount(found.difference, unit, '+')} {unit}"
    if found.low is None or found.high is None:
        return f"{text} over {found.runs} seed{'s' if found.runs > 1 else ''}"
    return f"{text}, {_interval(found, unit)} over {found.runs} seeds"


def _overall(found: Against, p: float | None) -> str:
    there = [d for d in found.parts if d.found.difference is not None]
    if not there or found.mean is None:
        return "no finished runs yet"
    if found.signed is None or p is None:
        return f"{there[0].dataset}: {there[0].verdict}" if len(found.parts) > 1 else there[0].verdict
    up = sum((d.found.difference or 0) > 0 for d in there)
    unit = there[0].unit
    text = (
        f"{amount(found.mean, unit, '+')} {unit} on average over {len(there)} datasets, higher on {up} "
        f"(signed-rank p = {found.signed.p:.2g})"
    )
    if 2 * 0.5 ** len(there) > 1 - CONFIDENCE:  # even if it were higher on all of them
        return f"too few datasets to speak of others: {text}"
    return _judged(found.mean, p, found.signed.p, text)


def verdict(found: Comparison, p: float | None = None, *, unit: str = "points") -> str:
    """Say what a comparison means, in a sentence.

    Args:
        found: The comparison.
        p: The p-value to judge by if it is not the comparison's own, such as one corrected by ``holm``.
        unit: What differences are measured in.

    >>> verdict(Comparison(1.2, 0.3, 2.1, 0.02, 3.1, 5, 15))
    'helps: +1.2 points, 95 % interval 0.3 to 2.1'
    """
    if found.difference is None:
        return "no finished runs yet"
    gap = f"{amount(found.difference, unit, '+')} {unit}"
    if found.splits < LEAST:
        return f"too few runs to say: {gap} over {found.splits} split{'s' if found.splits > 1 else ''}"
    if found.low is None or found.high is None or found.p is None:
        return f"too few runs to say: {gap} in each of {found.splits} splits, without any spread to judge by"
    if found.difference == found.low == found.high:
        return f"no evidence that it helps: the same scores in all {found.splits} splits"
    text = f"{gap}, {_interval(found, unit)}"
    return _judged(found.difference, found.p if p is None else p, found.p, text)


def _judged(difference: float, p: float, alone: float, text: str) -> str:
    """``p`` is corrected for the number of methods, ``alone`` is not."""
    level = 1 - CONFIDENCE
    if p < level:
        return f"{'helps' if difference > 0 else 'hurts'}: {text}"
    return f"no evidence that it helps: {text}" + (", not significant after Holm's correction" if alone < level else "")


def _interval(found: Comparison, unit: str) -> str:
    low, high = (amount(end or 0.0, unit) for end in (found.low, found.high))
    return f"{100 * CONFIDENCE:g} % interval {low} to {high}"


def number(value: float | None, form: str) -> str:
    """Write a number, or - where there is none."""
    return "-" if value is None else format(value, form)


def interval(found: Comparison, form: str) -> str:
    """Write both ends of an interval, or - where there is none."""
    return "-" if found.low is None else f"{found.low:{form}} to {found.high:{form}}"


def amount(value: float, unit: str, sign: str = "") -> str:
    """Write points with one decimal; other units, which may be of any size, with three digits.

    >>> amount(1.25, "points", "+"), amount(0.00123, "units")
    ('+1.2', '0.00123')
    """
    return format(value, f"{sign}.1f" if unit == "points" else f"{sign}.3g")
