"""Which charts a plan is shown with in the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from epic.compare.runs import Runs
from epic.compare.verdict import block_title
from epic.paper.experiments.lollipop import PARTS, PRINTED, SIGNS
from epic.paper.panels import Line, bar_panel, chart, line_chart, line_key, reach
from epic.paper.plans import PaperPlan
from epic.paper.tables.types import Block, Table

HISTORY = {"loss": "training loss", "validation_loss": "validation loss", "validation": "validation score"}


@dataclass(frozen=True)
class Figure:
    """Charts with one legend.

    Attributes:
        legend: Place, sample and name of each line.
        shown: Whether it is open from the start.
    """

    title: str
    charts: Sequence[Markup]
    legend: Sequence[tuple[int, Markup, str]] = ()
    shown: bool = True


def figures(runs: Runs, table: Table) -> list[Figure]:
    """Draw all charts that the store has something for."""
    plan = runs.plan
    assert isinstance(plan, PaperPlan)
    if plan.kind == "train":
        found = [*_iterations(plan, table), *_noise(plan, table), *_learning(runs, table)]
    elif plan.kind == "blur":
        found = _blur(table)
    elif plan.kind == "curves":
        found = _curves(plan, runs)
    else:
        found = _lollipop(runs) if plan.kind == "lollipop" else []
    return [f for f in found if f.charts]


def _places(labels: Sequence[str]) -> dict[str, int]:
    """Line styles by label; plain training has the first, whether it is there or not."""
    return {"vanilla": 0} | {n: i for i, n in enumerate((n for n in labels if n != "vanilla"), 1)}


def _legend(lines: Sequence[Line]) -> list[tuple[int, Markup, str]]:
    known = {line.name: line for line in lines}
    return [(n.place, line_key(n.place, paper=n.paper, dot=n.dots), n.name) for n in known.values()]


def _learning(runs: Runs, table: Table) -> list[Figure]:
    """Loss and scores by epoch, mean over splits and seeds."""
    plan = runs.plan
    place = _places([e.label for e in plan.entries])
    found: list[Figure] = []
    for backbone in plan.backbones:
        for noise in plan.noise:
            for dataset in plan.datasets:
                curves: dict[str, list[Line]] = {name: [] for name in HISTORY}
                for number, entry in enumerate(plan.entries):
                    got = runs.reported(number, dataset, backbone, noise)
                    for name, lines in curves.items():
                        y = _mean_curve([r["history"][name] for r in got.done if r.get("history", {}).get(name)])
                        if y.size:
                            scaled = (1.0 if "loss" in name else got.scale) * y
                            lines.append(Line(entry.label, range(len(y)), scaled.tolist(), place[entry.label]))
                charts = [
                    line_chart(HISTORY[k], v, "evaluation", "" if "loss" in k else table.metric)
                    for k, v in curves.items()
                    if v
                ]
                title = f"Learning curves: {dataset}, {block_title(backbone, noise)}"
                if charts:
                    found.append(Figure(title, charts, _legend(curves["loss"] or curves["validation"]), not found))
    return found


def _mean_curve(histories: Sequence[Sequence[float]]) -> np.ndarray:
    """Mean over runs, as far as all of them went."""
    least = min(map(len, histories), default=0)
    return np.mean([h[:least] for h in histories], axis=0) if least else np.zeros(0)


def _noise(plan: PaperPlan, table: Table) -> list[Figure]:
    """Score by level of noise: measured, and in the paper, on one scale."""
    if len(plan.noise) < 2:
        return []
    place = _places([e.label for e in plan.entries])
    found = []
    for backbone in plan.backbones:
        blocks = [b for b in table.blocks if b.backbone == backbone]
        charts: list[Markup] = []
        drawn: list[Line] = []
        for column, dataset in enumerate(table.columns):
            pair = {
                what: [n for e in plan.entries if (n := _by_noise(blocks, e.label, column, field, place)) is not None]
                for what, field in (("measured", "mean"), ("paper", "printed"))
            }
            if not pair["measured"]:
                continue
            both = [n for lines in pair.values() for n in lines]
            options = {"bounds": reach(both), "ticks": [100 * level for level in plan.noise]}
            charts += [
                line_chart(f"{dataset}, {what}", lines, "% noisy labels", table.metric, **options)
                for what, lines in pair.items()
                if lines
            ]
            drawn += both
        found.append(Figure(f"Score by level of noise, {backbone.upper()}", charts, _legend(drawn)))
    return found


def _by_noise(blocks: Sequence[Block], label: str, column: int, field: str, place: dict[str, int]) -> Line | None:
    points = [
        (100 * (b.noise or 0.0), value)
        for b in blocks
        for r in b.rows
        if r.label == label and (value := getattr(r.cells[column], field)) is not None
    ]
    return Line(label, [p[0] for p in points], [p[1] for p in points], place[label], dots=True) if points else None


def _iterations(plan: PaperPlan, table: Table) -> list[Figure]:
    """Score by a number that names the rows, such as iterations of Sinkhorn."""
    if len(plan.entries) < 3 or not all(e.label.isdigit() for e in plan.entries):
        return []
    found = []
    for block in table.blocks:
        charts, lines = [], []
        for column, dataset in enumerate(table.columns):
            cells = [(int(r.label), r.cells[column]) for r in block.rows]
            here = [(k, c.mean, c.std) for k, c in cells if c.mean is not None]
            paper = [(k, c.printed, c.printed_std) for k, c in cells if c.printed is not None]
            if here:
                lines = [
                    Line(name, [p[0] for p in points], [p[1] for p in points], i, [p[2] for p in points], True, i == 2)
                    for i, (name, points) in enumerate((("measured", here), ("paper", paper)), 1)
                    if points
                ]
                charts.append(line_chart(dataset, lines, "iterations", table.metric, ticks=[k for k, _ in cells]))
        found.append(Figure(f"Score by iterations of Sinkhorn, {block.title}", charts, _legend(lines)))
    return found


def _blur(table: Table) -> list[Figure]:
    lines = []
    for place, row in enumerate(table.blocks[0].rows, 1):
        points = [(int(k), c.mean) for k, c in zip(table.columns, row.cells, strict=True) if c.mean is not None]
        if points:
            lines.append(Line(row.label, [p[0] for p in points], [p[1] for p in points], place, dots=True))
    title = "Distance to the exact assignment"
    ticks = [int(k) for k in table.columns]
    charts = [line_chart(title, lines, "iterations", "Frobenius norm", ticks=ticks)] if lines else []
    return [Figure(f"{title} by iterations of Sinkhorn", charts, _legend(lines))]


def _curves(plan: PaperPlan, runs: Runs) -> list[Figure]:
    found = []
    for dataset in plan.datasets:
        charts: list[Markup] = []
        lines: list[Line] = []
        for field, title in (("train_loss", "training loss"), ("validation_loss", "validation loss")):
            lines = []
            for place, name in enumerate(plan.axes.get("assignment", ("sinkhorn",)), 1):
                records, *_ = runs.records(dataset=dataset, assignment=name)
                y = _mean_curve([[v for v in r[field] if v is not None] for r in records if r.get(field)])
                if y.size:
                    lines.append(Line(str(name), range(len(y)), y.tolist(), place))
            if lines:
                charts.append(line_chart(title, lines, "epoch", ""))
        found.append(Figure(f"Learning of costs: {dataset}", charts, _legend(lines)))
    return found


def _lollipop(runs: Runs) -> list[Figure]:
    patterns = [r["pattern"] for r in runs.records()[0]]
    charts = []
    for sign, title in SIGNS.items() if patterns else ():
        names = [f"{sign}_{part}" for part in PARTS]
        printed = [getattr(PRINTED, n) for n in names]
        measured = [[p[n] for p in patterns] for n in names]
        words = "; ".join(
            f"{label}: here {np.mean(m):.2f}, paper {'-' if p is None else f'{p:.2f}'}"
            for label, m, p in zip(PARTS.values(), measured, printed, strict=True)
        )
        charts.append(
            chart(title, words, lambda axes, p=printed, m=measured: bar_panel(axes, list(PARTS.values()), p, m))
        )
    bars = '<svg width="14" height="12" aria-hidden="true"><rect width="14" height="12" fill="{}"/></svg>'
    legend = [
        (i, Markup(bars).format(c), n) for i, (c, n) in enumerate((("#0072B2", "measured"), ("#BBBBBB", "paper")))
    ]
    return [Figure("Mean substitution cost by part of the two nodes", charts, legend)]
