"""Learning curves: the score of each method by the number of labelled graphs, and what a method is worth in graphs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from epic.compare.runs import METRICS, ReportedRuns, Runs
from epic.compare.statistics import CONFIDENCE, Comparison
from epic.compare.verdict import amount, verdict


@dataclass(frozen=True)
class Point:
    """One method at one number of labelled graphs.

    Attributes:
        graphs: Labelled graphs, validation included.
        score: Mean over draws, in percent or in the units of the labels.
        reach: Half the width of the 95 % interval of that mean; None for one draw.
        draws: Number of draws that are done.
        difference: To plain training on the same draws; None for plain training itself.
    """

    graphs: int
    score: float
    reach: float | None
    draws: int
    difference: Comparison | None


@dataclass(frozen=True)
class Curve:
    """A method by the number of labelled graphs, the fewest first."""

    label: str
    points: tuple[Point, ...]


def curves(runs: Runs) -> list[Curve]:
    """Return one curve for each entry of a plan, plain training first, from the runs that are done.

    Points of a quick look have no intervals.
    """
    plan, found = runs.plan, []
    plain = [runs.reported(0, size=size) for size in plan.sizes]
    for number, entry in enumerate(plan.entries):
        mine = [runs.reported(number, size=size) for size in plan.sizes]
        points = [_point(m, p if number else None) for m, p in zip(mine, plain, strict=True) if m.values]
        points = [replace(p, reach=None) for p in points] if plan.quick else points
        found.append(Curve(entry.label, tuple(sorted(points, key=lambda p: p.graphs))))
    return found


def _point(mine: ReportedRuns, plain: ReportedRuns | None) -> Point:
    means = np.array([np.nanmean(row) for row in mine.scores if not np.isnan(row).all()])
    reach = None
    if means.size > 1:
        reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, means.size - 1) * means.std(ddof=1) / math.sqrt(means.size))
    gap = None if plain is None else mine.against(plain)
    return Point(sum(mine.done[0]["sizes"][:2]), float(means.mean()), reach, means.size, gap)


def worth(plain: Curve, score: float) -> tuple[float, str]:
    """Return how many labelled graphs plain training needs for a score, and whether that is exact or a bound.

    Between two sizes the score is taken to grow with the logarithm of the number of graphs. A curve that falls
    somewhere is levelled first: more graphs never count as worse.

    Args:
        plain: The curve of plain training.
        score: A score.

    Returns:
        The number, and ``=``, ``<`` (it needs fewer than the fewest tried) or ``>`` (more than the most tried).
    """
    sizes = np.array([p.graphs for p in plain.points], dtype=float)
    level = np.maximum.accumulate([p.score for p in plain.points])
    if score < level[0]:
        return float(sizes[0]), "<"
    if score > level[-1]:
        return float(sizes[-1]), ">"
    above = int(np.searchsorted(level, score))
    if level[above] == score:
        return float(sizes[above]), "="
    share = (score - level[above - 1]) / (level[above] - level[above - 1])
    return float(sizes[above - 1] * (sizes[above] / sizes[above - 1]) ** share), "="


def sentences(found: Sequence[Curve], unit: str = "points") -> list[str]:
    """Say for each method and size what it is worth in labelled graphs, and whether that can be told from chance."""
    plain, told = found[0], []
    for curve in found[1:]:
        for point in curve.points:
            gap = point.difference
            if gap is None or gap.difference is None or len(plain.points) < 2:
                continue
            equal, sign = worth(plain, point.score)
            number = {"=": f"{equal:.0f}", "<": f"fewer than {equal:.0f}", ">": f"more than {equal:.0f}"}[sign]
            told.append(
                f"{curve.label} with {point.graphs} graphs is as good as plain training with {number} "
                f"({verdict(gap, unit=unit)})"
            )
    return told


def table(found: Sequence[Curve], unit: str = "points") -> list[tuple[str, ...]]:
    """Return rows of text: a column for each number of labelled graphs, with the difference to plain training."""
    sizes = sorted({p.graphs for c in found for p in c.points})
    rows = [("method", *(f"{s} graphs" for s in sizes))]
    for curve in found:
        cells = dict.fromkeys(sizes, "-")
        for p in curve.points:
            gap = p.difference
            more = "" if gap is None or gap.difference is None else f" ({amount(gap.difference, unit, '+')})"
            cells[p.graphs] = amount(p.score, unit) + more
        rows.append((curve.label, *cells.values()))
    return rows


def draw(axes: Any, found: Sequence[Curve], *, task: str = "classes") -> None:
    """Draw curves with their 95 % bands on axes of matplotlib.

    Args:
        axes: The axes.
        found: The curves.
        task: What the labels are.
    """
    for number, curve in enumerate(c for c in found if c.points):
        x, y = ([getattr(p, name) for p in curve.points] for name in ("graphs", "score"))
        (line,) = axes.plot(x, y, marker="o", markersize=4, linewidth=2.2 if number == 0 else 1.5, label=curve.label)
        reach = np.array([p.reach or 0.0 for p in curve.points])
        axes.fill_between(x, np.array(y) - reach, np.array(y) + reach, color=line.get_color(), alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    ticks = sorted({p.graphs for c in found for p in c.points})
    axes.set_xticks(ticks, [str(t) for t in ticks])
    axes.minorticks_off()
    axes.set_xlabel("labelled graphs (logarithmic)")
    axes.set_ylabel(f"test {METRICS[task]}")
    axes.grid(alpha=0.3)
    if ticks:  # nothing may be done yet
        axes.legend(frameon=False)
