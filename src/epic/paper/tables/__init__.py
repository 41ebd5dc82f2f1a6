"""Tables of a plan: what was measured next to what the paper prints."""

from dataclasses import replace

from epic.compare.runs import Runs
from epic.paper.plans import PaperPlan
from epic.paper.tables.experiments import EXPERIMENT_TABLES
from epic.paper.tables.train import train_table
from epic.paper.tables.types import Block, Cell, Row, Table

__all__ = ["Block", "Cell", "Row", "Table", "table_of"]

QUICK = "A quick look (--quick): few epochs and runs. Not to be compared with the paper's numbers."


def table_of(runs: Runs) -> Table:
    """Make the table of a plan of any kind; what is missing in the store is missing in the cells."""
    plan = runs.plan
    assert isinstance(plan, PaperPlan)
    table = train_table(runs) if plan.kind == "train" else EXPERIMENT_TABLES[plan.kind](plan, runs)
    return replace(table, notes=(QUICK, *table.notes)) if plan.is_quick else table
