"""Tables of training runs: what was measured next to what the paper prints, as far as it has been run."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from epic.compare.plan import Entry, Plan
from epic.compare.runs import METRICS, Runs
from epic.compare.verdict import baseline, block_title, differences
from epic.paper.printed import TABLES, Printed, printed
from epic.paper.tables.types import Block, Row, Table, marked, ranked, summary

SPREAD = "Mean (sample standard deviation) over the runs."
SPREAD_OF_THE_PAPER = "The paper does not say which deviation it prints."

_KEY = {"costs": "cost", "order": "order", "sinkhorn": "k"}
"""Which column of a printed table names its rows, where it is not the method."""


def train_table(runs: Runs) -> Table:
    """Make the table of a plan of training runs.

    Rows are entries, columns datasets; there is a block for each backbone and level of noise.
    """
    plan = runs.plan
    gaps = {(a.label, a.backbone, a.noise, d.dataset): d for a in differences(runs) for d in a.parts}
    known = printed(plan.name) if plan.name in TABLES else []
    blocks: list[Block] = []
    metrics: dict[str, None] = {}
    for backbone, noise in product(plan.backbones, plan.noise):
        rows = []
        for number, entry in enumerate(plan.entries):
            cells = []
            paper = _printed_row(plan.name, known, entry, backbone, noise)
            for dataset in plan.datasets:
                found = runs.reported(number, dataset, backbone, noise)
                if found.done:
                    metrics[METRICS[found.task]] = None
                cell = replace(
                    summary(
                        found.values,
                        plan.splits * plan.seeds if entry.mix or entry.runs_on(dataset) else 0,
                        len(found.errors),
                    ),
                    settings=tuple(dict.fromkeys(found.chosen)),
                    seconds=float(np.mean(found.epoch_seconds)) if found.epoch_seconds else None,
                    difference=gaps.get((entry.label, backbone, noise, dataset)),
                )
                cells.append(cell.with_printed(paper.get(dataset)))
            rank = next((c.mean_rank for c in paper.values()), None)
            rows.append(Row(entry.label, tuple(cells), printed_rank=rank))
        apart = [e.is_baseline or bool(e.only) for e in plan.entries]  # neither ranked nor marked
        methods, others = (tuple(r for r, a in zip(rows, apart, strict=True) if a is side) for side in (False, True))
        block = marked(ranked(Block(block_title(backbone, noise), methods, backbone, noise), plan.datasets))
        blocks.append(replace(block, rows=(*block.rows, *others)))
    started = [b for b in blocks if b.begun] or blocks
    said = f"{SPREAD} {SPREAD_OF_THE_PAPER}" if known else SPREAD
    notes = [said, *_rank_notes(plan, started, known)]
    notes += [f"{e.label}: on {', '.join(e.only)} alone, {e.reason}." for e in plan.entries if e.only]
    if len(started) < len(blocks):
        notes.append(f"Not run: {', '.join(b.title for b in blocks if not b.begun)}.")
    metric = " or ".join(metrics) or METRICS["binary" if plan.name == "molecules" else "classes"]
    base = baseline(plan)
    label = None if base is None else plan.entries[base].label
    return Table(plan.name, plan.title, metric, plan.datasets, tuple(started), notes=tuple(notes), baseline=label)


def _printed_row(name: str, known: list[Printed], entry: Entry, backbone: str, noise: float) -> dict[str, Printed]:
    """Find what the paper has for an entry, by dataset. It has no classifier without a network."""
    if entry.is_baseline:
        return {}
    key = _KEY.get(name, "method")
    return {
        c.dataset: c
        for c in known
        if str(getattr(c, key)) == (entry.method if key == "method" else entry.label)
        and c.backbone in (None, backbone)
        and (c.noise is None or abs(c.noise - noise) < 1e-9)
    }


def _rank_notes(plan: Plan, blocks: list[Block], known: list[Printed]) -> list[str]:
    notes = []
    for block in blocks:
        if block.ranked:
            what = f"{len(block.ranked)} of {len(plan.datasets)} datasets"
            which = "" if len(block.ranked) == len(plan.datasets) else f" ({', '.join(block.ranked)})"
            notes.append(f"{block.title}: ranks measured over the {what} where every row has all its runs{which}.")
        elif len(block.rows) > 1 and block.runs:
            notes.append(f"{block.title}: no ranks measured, since no dataset has all runs of every row yet.")
    if any(c.mean_rank is not None for c in known):
        methods = len({getattr(c, _KEY.get(plan.name, "method")) for c in known})
        text = f"Printed ranks are among the paper's {methods} rows and all its datasets"
        less = any(r.matched_rank is not None for b in blocks for r in b.rows)
        notes.append(text + ("; (here ...) those of its means on what was measured." if less else "."))
    return notes
