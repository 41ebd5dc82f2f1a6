"""Methods against plain training: paired differences by dataset and split, and what they say in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from epic.compare.plan import Entry, Plan
from epic.compare.reported_runs import ReportedRuns, reported_runs
from epic.compare.statistics import (
    Comparison,
    SignedRank,
    amount,
    holm,
    paired,
    signed_rank,
    split_differences,
    verdict,
)
from epic.compare.store import Store
from epic.errors import choose


@dataclass(frozen=True)
class Difference:
    """A method minus the baseline on one dataset, in points.

    ``by_split`` has the mean over seeds of each split, None where no pair of runs is there yet. ``found`` judges over
    splits; with one split only it judges over the seeds of that split, which says nothing about others. ``p`` is
    corrected for the number of methods compared on the dataset.
    """

    dataset: str
    by_split: tuple[float | None, ...]
    found: Comparison
    over: Literal["splits", "seeds"]
    unit: str = "points"
    p: float | None = None
    verdict: str = ""

    @property
    def significant(self) -> bool:
        return self.p is not None and self.p < 1 - self.found.confidence


@dataclass(frozen=True)
class Against:
    """A method against the baseline on all datasets of a block.

    ``signed`` ranks one mean difference for each dataset, ``signed_splits`` one for each dataset and split (read it
    with care: splits of a dataset are not independent). ``p`` is the former's, corrected for the number of methods.
    """

    label: str
    baseline: str
    backbone: str
    noise: float
    parts: tuple[Difference, ...]
    mean: float | None
    signed: SignedRank | None
    signed_splits: SignedRank | None
    p: float | None = None
    verdict: str = ""

    @property
    def where(self) -> str:
        return block_title(self.backbone, self.noise)


def block_title(backbone: str, noise: float) -> str:
    """What a block of a table is called."""
    return backbone.upper() + (f", {100 * noise:g} % noise" if noise else "")


def baseline(plan: Plan, against: str | None = None) -> Entry | None:
    """The entry that others are compared with: the one named, plain training, or the first of two."""
    if against is not None:
        label = choose(against, [e.label for e in plan.entries], "entry of the plan")
        return next(e for e in plan.entries if e.label == label)
    plain = next((e for e in plan.entries if e.method == "vanilla"), None)
    return plan.entries[0] if plain is None and len(plan.entries) == 2 else plain


def differences(plan: Plan, store: Store, against: str | None = None, confidence: float = 0.95) -> list[Against]:
    """Every method of a plan against plain training (or the entry ``against``), block by block."""
    base = baseline(plan, against)
    if base is None or plan.kind != "train":
        return []
    found: list[Against] = []
    for backbone in plan.backbones:
        for noise in plan.noise:
            rivals = [e for e in plan.entries if e is not base]
            table: list[list[Difference]] = [[] for _ in rivals]
            for dataset in plan.datasets:
                other = reported_runs(plan, store, base, dataset, backbone, noise)
                column = [
                    compare(dataset, reported_runs(plan, store, e, dataset, backbone, noise), other, confidence)
                    for e in rivals
                ]
                for row, cell in zip(table, corrected(column), strict=True):
                    row.append(cell)
            block = [
                _overall(e.label, base.label, backbone, noise, tuple(row), confidence)
                for e, row in zip(rivals, table, strict=True)
            ]
            found += _judged(block, confidence)
    return found


def compare(dataset: str, method: ReportedRuns, other: ReportedRuns, confidence: float = 0.95) -> Difference:
    """One method against another on one dataset; :func:`corrected` gives p-value and verdict."""
    a, b = method.scores, other.scores
    by_split = tuple(
        float(gap[0]) if (gap := split_differences(a[i : i + 1], b[i : i + 1])[0]).size else None for i in range(len(a))
    )
    if len(a) > 1:
        train, test = method.sizes or (1, 0)
        return Difference(dataset, by_split, paired(a, b, train, test, confidence), "splits", method.unit)
    # Runs on one split are drawn afresh given that split: nothing overlaps but what is fixed anyway.
    return Difference(dataset, by_split, paired(a[0], b[0], 1, 0, confidence), "seeds", method.unit)


def corrected(column: list[Difference]) -> list[Difference]:
    """Differences of several methods on one dataset, with p-values corrected for their number and verdicts."""
    p = holm([d.found.p for d in column])
    return [replace(d, p=q, verdict=_said(d, q)) for d, q in zip(column, p, strict=True)]


def _said(difference: Difference, p: float | None) -> str:
    found, unit = difference.found, difference.unit
    if difference.over == "splits" or found.difference is None:
        return verdict(found, p, scale=1, unit=unit)
    text = f"on one split: {amount(found.difference, unit, '+')} {unit}"
    if found.low is None or found.high is None:
        return f"{text} over {found.runs} seed{'s' if found.runs > 1 else ''}"
    share = f"{100 * found.confidence:g} % interval"
    return f"{text}, {share} {amount(found.low, unit)} to {amount(found.high, unit)} over {found.runs} seeds"


def _overall(
    label: str, base: str, backbone: str, noise: float, parts: tuple[Difference, ...], confidence: float
) -> Against:
    means = [d.found.difference for d in parts if d.found.difference is not None]
    splits = [gap for d in parts for gap in d.by_split if gap is not None]
    several = len(means) > 1
    return Against(
        label,
        base,
        backbone,
        noise,
        parts,
        float(np.mean(means)) if means else None,
        signed_rank(means) if several else None,
        signed_rank(splits) if several and len(parts[0].by_split) > 1 else None,
    )


def _judged(block: list[Against], confidence: float) -> list[Against]:
    p = holm([None if a.signed is None else a.signed.p for a in block])
    return [replace(a, p=q, verdict=_summed_up(a, q, 1 - confidence)) for a, q in zip(block, p, strict=True)]


def _summed_up(found: Against, p: float | None, level: float) -> str:
    there = [d for d in found.parts if d.found.difference is not None]
    if not there or found.mean is None:
        return "too few runs to say: there are none"
    if found.signed is None or p is None:
        return f"{there[0].dataset}: {there[0].verdict}" if len(found.parts) > 1 else there[0].verdict
    up = sum((d.found.difference or 0) > 0 for d in there)
    unit = there[0].unit
    text = (
        f"{amount(found.mean, unit, '+')} {unit} on average over {len(there)} datasets, higher on {up} "
        f"(signed-rank p = {found.signed.p:.2g})"
    )
    if 2 * 0.5 ** len(there) > level:  # even if it were higher on all of them
        return f"too few datasets to say: {text}"
    if p < level:
        return f"{'helps' if found.mean > 0 else 'hurts'}: {text}"
    if found.signed.p < level:
        text += ", not enough among so many methods"
    return f"no evidence that it helps: {text}"
