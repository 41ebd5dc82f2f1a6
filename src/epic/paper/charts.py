"""Which charts a plan is shown with in the report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from markupsafe import Markup

from epic.compare.claims import Judged
from epic.compare.page import forest
from epic.compare.plan import Plan
from epic.compare.runs import Runs
from epic.compare.statistics import Comparison, critical_difference, pooled
from epic.compare.verdict import Against, block_title
from epic.paper.experiments.lollipop import SIGNS, part_costs
from epic.paper.figure_data import blur_errors, loss_curves, patterns
from epic.paper.panels import (
    Line,
    bar_panel,
    blur_lines,
    chart,
    dot_panel,
    line_chart,
    line_key,
    loss_lines,
    rank_panel,
    reach,
)
from epic.paper.tables.types import Block, Table
from epic.view.style import COLOURS

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
    if plan.kind == "train":
        found = [
            *_ranks(table),
            *_iterations(plan, table),
            *_noise(plan, table),
            *_runs(runs, table),
            *_learning(runs, table),
        ]
    else:
        kinds = {"blur": _blur, "curves": _curves, "lollipop": _lollipop}
        found = kinds[plan.kind](runs) if plan.kind in kinds else []
    return [f for f in found if f.charts]


def forests(name: str, claims: Sequence[Judged], judged: Sequence[Against]) -> list[Markup]:
    """Draw differences with their intervals: of each main claim by dataset, and of all methods by block of a plan."""
    found = []
    for claim in (j for j in claims if j.claim.main):
        title = f"{name}: {claim.name}"
        found.append(_forest(title, f"{claim.name} {claim.verdict}", claim.rows, "points", claim.claim.against))
    for where in dict.fromkeys(a.where for a in judged):
        block = [a for a in judged if a.where == where]
        rows = {a.label.replace("$", r"\$"): _over_datasets(a) for a in block}
        sets = [d.dataset for d in block[0].parts if d.found.difference is not None]
        title = f"{name}, {where}: {', '.join(sets) if len(sets) < 3 else f'{len(sets)} datasets'}"
        words = "; ".join(f"{a.label} {a.verdict}" for a in block)
        found.append(_forest(title, words, rows, block[0].parts[0].unit, block[0].baseline))
    return found


def _forest(title: str, verdicts: str, rows: dict[str, Comparison], unit: str, to: str) -> Markup:
    draw = partial(forest, differences=rows, unit=unit, to={"vanilla": "plain training"}.get(to, to))
    return chart(title, f"Difference to {to} in {unit}. {verdicts}", draw, (5.2, 0.9 + 0.27 * len(rows)))


def _over_datasets(found: Against) -> Comparison:
    """Return the difference on the only dataset, or the mean over all of them."""
    there = [d.found for d in found.parts if d.found.difference is not None]
    return there[0] if len(there) == 1 else pooled(there)


def _places(plan: Plan) -> dict[str, int]:
    """Line styles by label; plain training has the first, whether it is there or not."""
    return {"vanilla": 0} | {n: i for i, n in enumerate((e.label for e in plan.entries if e.label != "vanilla"), 1)}


def _legend(lines: Sequence[Line]) -> list[tuple[int, Markup, str]]:
    return [(n.place, line_key(n), n.name) for n in {n.name: n for n in lines}.values()]


def _line(name: str, points: Sequence[tuple], place: int, *, paper: bool = False) -> Line:
    """Join points (x, y), or (x, y, half the length of a bar)."""
    x, y, *spread = zip(*points, strict=True)
    return Line(name, x, y, place, spread[0] if spread else (), dots=True, paper=paper)


def _ranks(table: Table) -> list[Figure]:
    """Mean ranks, with bars that join methods whose ranks are nearer than the critical difference."""
    charts = []
    for block in table.blocks:
        ranks = sorted((r.rank, r.label) for r in block.rows if r.rank is not None)
        if len(ranks) < 3 or len(block.ranked) < 3:
            continue
        least = critical_difference(len(ranks), len(block.ranked))
        words = (
            f"Over {len(block.ranked)} datasets. Grey bars join methods that cannot be told apart: their ranks are "
            f"less than {least:.1f} apart (Nemenyi, 95 %). " + ", ".join(f"{name} {rank:.1f}" for rank, name in ranks)
        )
        draw = partial(rank_panel, ranks=ranks, least=least)
        charts.append(chart(block.title, words, draw, (4.6, 0.9 + 0.22 * len(ranks))))
    return [Figure("Mean ranks; grey bars join methods that cannot be told apart (Nemenyi, 95 %)", charts)]


def _runs(runs: Runs, table: Table) -> list[Figure]:
    """Every run as a dot, a chart for each dataset."""
    plan, found = runs.plan, []
    for backbone, noise in product(plan.backbones, plan.noise):
        charts = []
        for dataset in plan.datasets:
            rows = {
                e.label: values
                for i, e in enumerate(plan.entries)
                if (values := runs.reported(i, dataset, backbone, noise).values)
            }
            if max(map(len, rows.values()), default=0) > 1:
                words = f"{table.metric}: " + "; ".join(f"{n} {min(v):.1f} to {max(v):.1f}" for n, v in rows.items())
                charts.append(chart(dataset, words, partial(dot_panel, rows=rows), (3.6, 0.7 + 0.2 * len(rows))))
        found.append(Figure(f"Every run: {block_title(backbone, noise)}", charts, shown=False))
    return found


def _learning(runs: Runs, table: Table) -> list[Figure]:
    """Loss and scores by evaluation, mean over splits and seeds."""
    plan, place = runs.plan, _places(runs.plan)
    found: list[Figure] = []
    for backbone, noise, dataset in product(plan.backbones, plan.noise, plan.datasets):
        curves: dict[str, list[Line]] = {name: [] for name in HISTORY}
        for number, entry in enumerate(plan.entries):
            got = runs.reported(number, dataset, backbone, noise)
            for name, lines in curves.items():
                histories = [r["history"][name] for r in got.done if r.get("history", {}).get(name)]
                if histories:
                    length = min(map(len, histories))  # as far as all of them went
                    y = np.mean([h[:length] for h in histories], axis=0) * (1.0 if "loss" in name else got.scale)
                    lines.append(Line(entry.label, range(length), y.tolist(), place[entry.label]))
        charts = [
            line_chart(HISTORY[k], v, "evaluation", "" if "loss" in k else table.metric) for k, v in curves.items() if v
        ]
        if charts:
            title = f"Learning curves: {dataset}, {block_title(backbone, noise)}"
            found.append(Figure(title, charts, _legend(curves["loss"] or curves["validation"]), not found))
    return found


def _noise(plan: Plan, table: Table) -> list[Figure]:
    """Score by level of noise: measured, and in the paper, on one scale."""
    if len(plan.noise) < 2:
        return []
    found = []
    for backbone in plan.backbones:
        blocks = [b for b in table.blocks if b.backbone == backbone]
        charts: list[Markup] = []
        drawn: list[Line] = []
        for column, dataset in enumerate(table.columns):
            measured, paper = (_by_noise(blocks, column, field, _places(plan)) for field in ("mean", "printed"))
            if measured:
                drawn += measured + paper
                options = {"bounds": reach(measured + paper), "ticks": [100 * level for level in plan.noise]}
                charts += [
                    line_chart(f"{dataset}, {what}", lines, "% noisy labels", table.metric, **options)
                    for what, lines in (("measured", measured), ("paper", paper))
                    if lines
                ]
        found.append(Figure(f"Score by level of noise, {backbone.upper()}", charts, _legend(drawn)))
    return found


def _by_noise(blocks: Sequence[Block], column: int, field: str, place: dict[str, int]) -> list[Line]:
    points: dict[str, list[tuple]] = defaultdict(list)
    for block, row in ((b, r) for b in blocks for r in b.rows):
        value = getattr(row.cells[column], field)
        if value is not None:
            points[row.label].append((100 * (block.noise or 0.0), value))
    return [_line(label, found, place[label]) for label, found in points.items()]


def _iterations(plan: Plan, table: Table) -> list[Figure]:
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
                lines = [_line("measured", here, 1), *([_line("paper", paper, 2, paper=True)] if paper else [])]
                charts.append(line_chart(dataset, lines, "iterations", table.metric, ticks=[k for k, _ in cells]))
        found.append(Figure(f"Score by iterations of Sinkhorn, {block.title}", charts, _legend(lines)))
    return found


def _blur(runs: Runs) -> list[Figure]:
    errors = blur_errors(runs.records()[0])
    lines = blur_lines(errors)
    title = "Distance to the exact assignment"
    ticks = sorted({k for by in errors.values() for k in by})
    charts = [line_chart(title, lines, "iterations", "Frobenius norm", ticks=ticks)] if lines else []
    return [Figure(f"{title} by iterations of Sinkhorn", charts, _legend(lines))]


def _curves(runs: Runs) -> list[Figure]:
    found = []
    for dataset, by in loss_curves(runs.records()[0]).items():
        lines = {what: loss_lines(by, what) for what in ("training", "validation")}
        charts = [line_chart(f"{what} loss", drawn, "epoch", "") for what, drawn in lines.items()]
        found.append(Figure(f"Learning of costs: {dataset}", charts, _legend(lines["training"])))
    return found


def _lollipop(runs: Runs) -> list[Figure]:
    measured = patterns(runs.records()[0])
    charts = []
    for sign, title in SIGNS.items() if measured else ():
        parts = part_costs(measured, sign)
        words = "; ".join(
            f"{name}: here {np.mean(m):.2f}, paper {'-' if p is None else f'{p:.2f}'}"
            for name, p, m in zip(*parts, strict=True)
        )
        charts.append(chart(title, words, lambda axes, parts=parts: bar_panel(axes, *parts)))
    sample = Markup('<svg width="14" height="12" aria-hidden="true"><rect width="14" height="12" fill="{}"/></svg>')
    legend = [(0, sample.format(COLOURS[4]), "measured"), (1, sample.format("#BBBBBB"), "paper")]
    return [Figure("Mean substitution cost by part of the two nodes", charts, legend)]
