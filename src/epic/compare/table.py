"""A comparison as a table: one row a method, and what its columns mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from epic.compare.curves import curves, sentences, table
from epic.compare.plan import Plan
from epic.compare.runs import METRICS, UNITS, Runs
from epic.compare.statistics import Comparison
from epic.compare.verdict import LEAST, compare_runs, differences, interval, number, verdict

TITLES = ("method", "score", "difference", "95 % interval", "p", "runs", "epoch", "ms/graph", "settings", "verdict")
NOTES = (
    "Interval and p: t-test over splits or draws that overlap; verdicts after Holm's correction over methods.",
    "ms/graph: time to make one augmented graph, in the process that trains.",
)


@dataclass(frozen=True)
class Row:
    """What is known of one method.

    Scores and differences are in percent, or in the units of the labels where these are values.

    Attributes:
        difference: To plain training: None for plain training itself, without interval and p-value for one split.
        epoch: Time of an epoch as a multiple of plain training's.
        seconds: Time of an epoch.
        graph: Milliseconds to make one augmented graph.
        settings: Those chosen most often.
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


def rows(runs: Runs) -> list[Row]:
    """Summarize each method, plain training first, from the runs that are done.

    A quick look has no intervals, p-values and verdicts.
    """
    found = [runs.reported(i) for i in range(len(runs.plan.entries))]
    parts = {a.label: a.parts[0] for a in differences(runs, "vanilla")}
    result = []
    for entry, mine in zip(runs.plan.entries, found, strict=True):
        gap = parts.get(entry.label)
        if entry.is_baseline:  # not one of the methods that p-values are corrected for
            gap = compare_runs(runs.plan.datasets[0], mine, found[0])
            said = verdict(gap.found, unit=gap.unit)
            gap = replace(gap, verdict=f"another classifier: {said.partition(': ')[2] or said}")
        pairs = [
            (a, b)
            for row, other in zip(mine.records, found[0].records, strict=True)
            for a, b in zip(row, other, strict=True)
            if a is not None and b is not None and "updates" in a
        ]
        made = (
            1000 * (a["making_seconds"] - b["making_seconds"] * a["updates"] / b["updates"]) / a["made"]
            for a, b in pairs
            if a.get("made") and "making_seconds" in b
        )
        told = "what the others are compared with" if gap is None else gap.verdict
        if not mine.done and mine.errors:
            told = f"failed: {next(iter(mine.errors[0].strip().splitlines()), 'without a message')}"
        elif runs.plan.quick and gap is not None and mine.done:
            told = "no result"
        # An interval over the seeds of one split says nothing about other splits.
        bare = gap is not None and (gap.over == "seeds" or runs.plan.quick)
        result.append(
            Row(
                entry.label,
                float(np.mean(mine.values)) if mine.values else None,
                None if gap is None else gap.found.bare() if bare else gap.found,
                told,
                len(mine.done),
                _median(_epoch(a) / _epoch(b) for a, b in pairs if _epoch(b) > 0),
                _median(mine.epoch_seconds),
                _median(made),
                max(mine.chosen, key=mine.chosen.count, default="-"),
            )
        )
    return result


def lines(runs: Runs) -> list[str]:
    """Write the rows as a table, and under it what its columns mean."""
    told, task = rows(runs), runs.task
    text = columns([TITLES, *(row_texts(row, task, runs.plan) for row in told)])
    if any(row.score is not None for row in told):
        text.append(f"Score: {METRICS[task]}, on the test graphs, mean over all runs.")
    return [*text, *NOTES[runs.plan.quick :]]


def curve_lines(runs: Runs) -> list[str]:
    """Write learning curves as a table, and under it what each method is worth in labelled graphs."""
    found, task = curves(runs), runs.task
    most = max((p.draws for c in found for p in c.points), default=0)
    told = f"Score: {METRICS[task]}, on the other graphs (2000 at most), mean over {most} draws; in brackets against "
    said = [] if runs.plan.quick else sentences(found, UNITS[task])
    return [*columns(table(found, UNITS[task])), f"{told}plain training.", *said]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows of text as lines, their columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(t.ljust(w) for t, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def row_texts(row: Row, task: str, plan: Plan) -> tuple[str, ...]:
    """Write a row as the cells of a table."""
    gap, digits = row.difference or Comparison(), ".4g" if task == "values" else ".2f"
    return (
        row.method,
        number(row.score, digits),
        number(gap.difference, f"+{digits}"),
        "too few splits" if gap.low is None and 0 < gap.splits < LEAST else interval(gap, f"+{digits}"),
        number(gap.p, ".3f"),
        f"{row.runs}/{plan.splits * plan.seeds}",
        "-" if row.epoch is None else f"{row.seconds:.2f} s, {row.epoch:.2f}x",
        number(row.graph, ".2f"),
        row.settings,
        row.verdict,
    )


def _epoch(record: dict[str, Any]) -> float:
    return record["seconds"] / record["epochs"]


def _median(values: Iterable[float]) -> float | None:
    there = list(values)
    return float(np.median(there)) if there else None
