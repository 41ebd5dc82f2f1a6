"""The comparisons that a plan names before its first run, pooled over datasets and backbones, and their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, product

from epic.compare.plan import Claim
from epic.compare.runs import ReportedRuns, Runs
from epic.compare.statistics import Comparison, SignedRank, holm, pooled, signed_rank
from epic.compare.verdict import LEAST, interval, number, verdict


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
    def rows(self) -> dict[str, Comparison]:
        """The difference on each dataset, then over all of them."""
        return {**self.parts, "all": self.all}

    @property
    def higher(self) -> str:
        """On how many datasets it is higher."""
        return f"{sum((c.difference or 0) > 0 for c in self.parts.values())} of {len(self.parts)}"

    @property
    def verdict(self) -> str:
        """What it means, in a sentence."""
        text = verdict(self.all, self.p)
        if self.signed is not None:
            text += f"; higher on {self.higher} datasets (signed-rank p = {self.signed.p:.2g})"
        if self.claim.aim is not None and self.all.difference is not None and self.all.p is not None:
            gap = self.all.difference - self.claim.aim
            text += f"; the aim of {self.claim.aim:+.1f} is " + ("reached" if gap >= 0 else f"missed by {-gap:.1f}")
        return text


def judge(runs: Runs) -> list[Judged]:
    """Judge the claims of a plan by the runs that are there.

    Args:
        runs: The plan and its results.

    Returns:
        One for each claim whose entries are in the plan and have runs, main claims first; none for a quick look.
    """
    plan, found = runs.plan, []
    labels = [] if plan.quick else [e.label for e in plan.entries]
    for claim in sorted(plan.claims, key=lambda c: not c.main):
        if claim.method not in labels or claim.against not in labels:
            continue
        parts = {}
        for dataset in plan.datasets:
            mine, other = (_side_by_side(runs, plan.place(name), dataset) for name in (claim.method, claim.against))
            comparison = mine.against(other)
            if comparison.splits >= min(LEAST, plan.splits):  # fewer would leave all without an interval
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


def _side_by_side(runs: Runs, entry: int, dataset: str) -> ReportedRuns:
    """Lay the seeds of all backbones and sizes side by side, split by split."""
    where = product(runs.plan.backbones, runs.plan.sizes)
    parts = [runs.reported(entry, dataset, backbone, size=size).records for backbone, size in where]
    return ReportedRuns(tuple(tuple(chain(*splits)) for splits in zip(*parts, strict=True)), (), ())


def table(found: Sequence[Judged]) -> list[tuple[str, ...]]:
    """Write claims as rows of text: comparison, difference, interval, p, sets on which it is higher, runs."""
    rows: list[tuple[str, ...]] = [("comparison", "points", "95 % interval", "p", "higher on", "pairs of runs")]
    for j in found:
        points, p = f"{j.all.difference:+.1f}", number(j.p, ".2g")
        rows.append((j.name, points, interval(j.all, "+.1f"), p, j.higher, str(j.all.runs)))
    return rows
