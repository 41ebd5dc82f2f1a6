"""The comparisons that a plan names before its first run, pooled over datasets and backbones, and their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from epic.compare.plan import Claim
from epic.compare.runs import ReportedRuns, Runs
from epic.compare.statistics import Comparison, SignedRank, holm, pooled, signed_rank
from epic.compare.verdict import LEAST, verdict


@dataclass(frozen=True)
class Judged:
    """What the runs say of a claim.

    Attributes:
        claim: The comparison.
        parts: For each dataset with enough runs, the difference in points over its splits; backbones, sizes and seeds
            of a split are averaged, since they share its test graphs.
        all: The mean over datasets, see :func:`epic.compare.statistics.pooled`.
        signed: The signed-rank test of the datasets' means, from two datasets on.
        p: The p-value of ``all``; of extra comparisons, corrected for their number.
    """

    claim: Claim
    parts: dict[str, Comparison]
    all: Comparison
    signed: SignedRank | None
    p: float | None = None

    @property
    def name(self) -> str:
        """The comparison in a few words."""
        return f"{self.claim.method} against {self.claim.against}" + ("" if self.claim.main else " (extra)")

    @property
    def verdict(self) -> str:
        """What it means, in a sentence."""
        text = verdict(self.all, self.p, scale=1)
        if self.signed is not None:
            up = sum((c.difference or 0) > 0 for c in self.parts.values())
            text += f"; higher on {up} of {len(self.parts)} datasets (signed-rank p = {self.signed.p:.2g})"
        if self.claim.aim is not None and self.all.difference is not None and self.all.p is not None:
            gap = self.all.difference - self.claim.aim
            text += f"; the aim of {self.claim.aim:+.1f} is " + ("reached" if gap >= 0 else f"missed by {-gap:.1f}")
        return text


def judge(runs: Runs) -> list[Judged]:
    """Judge the claims of a plan by the runs that are there.

    Args:
        runs: The plan and its results.

    Returns:
        One for each claim whose entries are in the plan and have runs, main claims first.
    """
    labels = [e.label for e in runs.plan.entries]
    found = []
    for claim in sorted(runs.plan.claims, key=lambda c: not c.main):
        if claim.method not in labels or claim.against not in labels:
            continue
        parts = {}
        for dataset in runs.plan.datasets:
            mine, other = (
                _side_by_side(
                    [
                        runs.reported(labels.index(name), dataset, backbone, size=size)
                        for backbone in runs.plan.backbones
                        for size in runs.plan.sizes
                    ]
                )
                for name in (claim.method, claim.against)
            )
            comparison = mine.against(other)
            if comparison.splits >= min(LEAST, runs.plan.splits):  # fewer would leave all without an interval
                parts[dataset] = comparison
        if parts:
            means = [c.difference for c in parts.values()]
            signed = signed_rank(means) if len(means) > 1 else None
            whole = pooled(list(parts.values()))
            found.append(Judged(claim, parts, whole, signed, whole.p))
    extra = [i for i, judged in enumerate(found) if not judged.claim.main]
    for i, p in zip(extra, holm([found[i].all.p for i in extra]), strict=True):
        found[i] = replace(found[i], p=p)
    return found


def _side_by_side(parts: Sequence[ReportedRuns]) -> ReportedRuns:
    """Lay the seeds of all parts side by side, split by split."""
    records = tuple(
        tuple(r for split in splits for r in split) for splits in zip(*(p.records for p in parts), strict=True)
    )
    return ReportedRuns(records, (), ())


def table(found: Sequence[Judged]) -> list[tuple[str, ...]]:
    """Write claims as rows of text: comparison, difference, interval, p, sets on which it is higher, runs."""
    rows: list[tuple[str, ...]] = [("comparison", "points", "95 % interval", "p", "higher on", "pairs of runs")]
    for judged in found:
        c = judged.all
        low, high = ("" if v is None else f"{v:+.1f}" for v in (c.low, c.high))
        up = int(np.sum([(part.difference or 0) > 0 for part in judged.parts.values()]))
        rows.append(
            (
                judged.name,
                f"{c.difference:+.1f}",
                f"{low} to {high}" if low else "-",
                "-" if judged.p is None else f"{judged.p:.2g}",
                f"{up} of {len(judged.parts)}",
                str(c.runs),
            )
        )
    return rows
