"""Tables of a plan: what was measured next to what the paper prints."""

from dataclasses import replace

from epic.compare.plan import QUICK
from epic.compare.runs import Runs
from epic.paper.plans import PaperPlan
from epic.paper.tables.experiments import EXPERIMENT_TABLES
from epic.paper.tables.train import train_table
from epic.paper.tables.types import Block, Cell, Row, Table

__all__ = ["QUICK", "Block", "Cell", "Row", "Table", "table_of"]


def table_of(runs: Runs) -> Table:
    """Make the table of a plan of any kind; what is missing in the store is missing in the cells."""
    plan = runs.plan
    assert isinstance(plan, PaperPlan)
    table = train_table(runs) if plan.kind == "train" else EXPERIMENT_TABLES[plan.kind](plan, runs)
    table = replace(table, notes=(*table.notes, *class_notes(plan)))
    return unjudged(table) if plan.quick else table


def class_notes(plan: PaperPlan) -> list[str]:
    """Say which classes a user's own file has."""
    known = plan.call.classes if plan.call is not None else {}
    return [
        f"Classes of {name}: {', '.join(f'{count} {label}' for label, count in known[name].items())}."
        for name in plan.datasets
        if known.get(name)
    ]


def unjudged(table: Table) -> Table:
    """Take away all that passes for a result: marks, ranks, intervals and p-values of what was measured."""

    def plain(cell: Cell) -> Cell:
        gap = cell.difference
        if gap is not None:
            gap = replace(gap, found=gap.found.bare(), p=None, verdict="no result")
        return replace(cell, mark=None, difference=gap)

    blocks = [
        replace(
            b,
            ranked=(),
            rows=tuple(replace(r, cells=tuple(map(plain, r.cells)), rank=None, matched_rank=None) for r in b.rows),
        )
        for b in table.blocks
    ]
    return replace(table, blocks=tuple(blocks), notes=(QUICK, *(n for n in table.notes if "ranks" not in n)))
