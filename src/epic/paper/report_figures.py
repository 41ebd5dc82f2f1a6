"""Which charts a plan is shown with, beside its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from epic.compare.plan import Plan
from epic.compare.reported_runs import reported_runs
from epic.compare.store import Store
from epic.compare.verdict import block_title
from epic.paper.charts import Line, bar_chart, key, line_chart, reach
from epic.paper.tables.experiments import records_of
from epic.paper.tables.types import Block, Table

PAPER = "3 3"
"""Dashes of lines that the paper prints."""


@dataclass(frozen=True)
class Figure:
    """Charts with one legend: place, sample and name of each line. ``shown``: open from the start."""

    title: str
    charts: tuple[Markup, ...]
    legend: tuple[tuple[int, Markup, str], ...] = ()
    shown: bool = True


def figures(plan: Plan, table: Table, store: Store) -> list[Figure]:
    """All charts that the store has something for."""
    if plan.kind == "train":
        found = [*_iterations(plan, table), *_noise(plan, table), *_learning(plan, table, store)]
    else:
        found = {"blur": _blur, "curves": _curves, "lollipop": _lollipop}.get(plan.kind, _none)(plan, table, store)
    return [f for f in found if f.charts]


def _none(plan: Plan, table: Table, store: Store) -> list[Figure]:
    return []


def _places(labels: Sequence[str]) -> dict[str, int]:
    """Line styles by label; plain training has the first, whether it is there or not."""
    return {"vanilla": 0} | {n: i for i, n in enumerate((n for n in labels if n != "vanilla"), 1)}


def _learning(plan: Plan, table: Table, store: Store) -> list[Figure]:
    """Loss and scores by epoch, mean over splits and seeds."""
    place = _places([e.label for e in plan.entries])
    found: list[Figure] = []
    for backbone in plan.backbones:
        for noise in plan.noise:
            for dataset in plan.datasets:
                curves: dict[str, list[Line]] = {"loss": [], "validation": [], "test": []}
                for entry in plan.entries:
                    got = reported_runs(plan, store, entry, dataset, backbone, noise)
                    for name, lines in curves.items():
                        y = _mean_curve([r["history"][name] for r in got.done if r.get("history", {}).get(name)])
                        scaled = [v if name == "loss" else got.scale * v for v in y]
                        if scaled:
                            lines.append(Line(entry.label, range(len(scaled)), scaled, place[entry.label]))
                where = f"{dataset}, {block_title(backbone, noise)}"
                titles = {"loss": "training loss", "validation": "validation score", "test": "test score"}
                charts = [
                    line_chart(v, titles[k], "epoch", "" if k == "loss" else table.metric)
                    for k, v in curves.items()
                    if v
                ]
                if charts:
                    names = [n.name for n in curves["loss"] or curves["test"]]
                    legend = tuple((place[n], key(place[n]), n) for n in names)
                    found.append(Figure(f"Learning curves: {where}", tuple(charts), legend, not found))
    return found


def _mean_curve(histories: Sequence[Sequence[float]]) -> list[float]:
    """Mean over runs, as far as all of them went."""
    if not histories:
        return []
    least = min(map(len, histories))
    return np.mean([h[:least] for h in histories], axis=0).tolist()


def _noise(plan: Plan, table: Table) -> list[Figure]:
    """Score by level of noise: measured, and in the paper, on one scale."""
    if len(plan.noise) < 2:
        return []
    place = _places([e.label for e in plan.entries])
    found = []
    for backbone in plan.backbones:
        blocks = [b for b in table.blocks if b.backbone == backbone]
        charts, names = [], []
        for column, dataset in enumerate(table.columns):
            pair = {
                what: [n for e in plan.entries if (n := _by_noise(blocks, e.label, column, field, place)) is not None]
                for what, field in (("measured", "mean"), ("paper", "printed"))
            }
            if not pair["measured"]:
                continue
            names += [n.name for lines in pair.values() for n in lines]
            bounds = reach([n for lines in pair.values() for n in lines])
            ticks = [100 * level for level in plan.noise]
            for what, lines in pair.items():
                if lines:
                    charts.append(
                        line_chart(lines, f"{dataset}, {what}", "% noisy labels", table.metric, "", bounds, ticks)
                    )
        legend = tuple((place[n], key(place[n], dot=True), n) for n in dict.fromkeys(names))
        found.append(Figure(f"Score by level of noise, {backbone.upper()}", tuple(charts), legend))
    return found


def _by_noise(blocks: Sequence[Block], label: str, column: int, field: str, place: dict[str, int]) -> Line | None:
    points = [
        (100 * (b.noise or 0.0), value)
        for b in blocks
        for r in b.rows
        if r.label == label and (value := getattr(r.cells[column], field)) is not None
    ]
    return Line(label, [p[0] for p in points], [p[1] for p in points], place[label], dots=True) if points else None


def _iterations(plan: Plan, table: Table) -> list[Figure]:
    """Score by a number that names the rows, such as iterations of Sinkhorn."""
    if len(plan.entries) < 3 or not all(e.label.isdigit() for e in plan.entries):
        return []
    found = []
    for block in table.blocks:
        charts = []
        for column, dataset in enumerate(table.columns):
            cells = [(int(r.label), r.cells[column]) for r in block.rows]
            here = [(k, c.mean, c.std) for k, c in cells if c.mean is not None]
            paper = [(k, c.printed, c.printed_std) for k, c in cells if c.printed is not None]
            if not here:
                continue
            lines = [Line("measured", *_two(here), 1, [p[2] for p in here], True)]
            if paper:
                lines.append(Line("paper", *_two(paper), 2, [p[2] for p in paper], True, PAPER))
            charts.append(line_chart(lines, dataset, "iterations", table.metric, ticks=[k for k, _ in cells]))
        legend = ((1, key(1, dot=True), "measured"), (2, key(2, PAPER, True), "paper"))
        found.append(Figure(f"Score by iterations of Sinkhorn, {block.title}", tuple(charts), legend))
    return found


def _two(points: Sequence[tuple[Any, ...]]) -> tuple[list[float], list[float]]:
    return [float(p[0]) for p in points], [float(p[1]) for p in points]


def _blur(plan: Plan, table: Table, store: Store) -> list[Figure]:
    place = _places([r.label for r in table.blocks[0].rows])
    lines = []
    for row in table.blocks[0].rows:
        points = [(int(k), c.mean) for k, c in zip(table.columns, row.cells, strict=True) if c.mean is not None]
        if points:
            lines.append(Line(row.label, *_two(points), place[row.label], dots=True))
    if not lines:
        return []
    chart = line_chart(
        lines, "Distance to the exact assignment", "iterations", "Frobenius norm", ticks=[int(k) for k in table.columns]
    )
    legend = tuple((n.place, key(n.place, dot=True), n.name) for n in lines)
    return [Figure("Distance to the exact assignment by iterations of Sinkhorn", (chart,), legend)]


def _curves(plan: Plan, table: Table, store: Store) -> list[Figure]:
    found = []
    names = plan.axes.get("assignment", ("sinkhorn",))
    for dataset in plan.datasets:
        charts = []
        for field, title in (("train_loss", "training loss"), ("validation_loss", "validation loss")):
            lines = []
            for place, name in enumerate(names, 1):
                records, *_ = records_of(plan, store, dataset=dataset, assignment=name)
                y = _mean_curve([[v for v in r[field] if v is not None] for r in records if r.get(field)])
                if y:
                    lines.append(Line(str(name), range(len(y)), y, place))
            if lines:
                charts.append(line_chart(lines, title, "epoch", ""))
        legend = tuple((i, key(i), str(n)) for i, n in enumerate(names, 1))
        found.append(Figure(f"Learning of costs: {dataset}", tuple(charts), legend))
    return found


def _lollipop(plan: Plan, table: Table, store: Store) -> list[Figure]:
    charts = []
    values = [v for b in table.blocks for r in b.rows for v in (r.cells[0].mean, r.cells[0].printed) if v is not None]
    for block in table.blocks:
        bars = [(n, [getattr(r.cells[0], f) for r in block.rows]) for n, f in (("here", "mean"), ("paper", "printed"))]
        charts.append(bar_chart([r.label for r in block.rows], bars, block.title, "cost", 1.12 * max(values)))
    legend = tuple(
        (
            i,
            Markup(
                '<svg width="14" height="12" aria-hidden="true"><rect class="bar{}" width="14" height="12"/></svg>'
            ).format(i),
            n,
        )
        for i, n in enumerate(("measured", "paper"))
    )
    return [Figure("Mean substitution cost by part of the two nodes", tuple(charts), legend)]
