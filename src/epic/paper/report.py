"""The report: every plan with anything in the store on one page that needs nothing else, or as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from epic.compare.plan import Plan
from epic.compare.runner import duration
from epic.compare.store import Store
from epic.errors import choose
from epic.paper.report_figures import Figure, figures
from epic.paper.run_summary import RunSummary, run_summary
from epic.paper.tables.render import difference_text, legend, plain_md, rank_text, to_csv, to_latex, to_markdown
from epic.paper.tables.train import Against, Row, Table, differences, table_of
from epic.view.page import environment

FORMATS = ("html", "md", "csv", "latex")
MINUS = "\u2212"


@dataclass(frozen=True)
class Section:
    """One plan: its table, its charts, how methods compare, and how it was run."""

    plan: Plan
    table: Table
    figures: tuple[Figure, ...]
    against: tuple[Against, ...]
    summary: RunSummary

    @property
    def settings(self) -> list[tuple[str, str, list[str]]]:
        """Block, row, and what was chosen for each column, of rows that chose anything."""
        return [
            (block.title, row.label, ["; ".join(c.settings) or "-" for c in row.cells])
            for block in self.table.blocks
            for row in block.rows
            if any(c.settings not in ((), ("defaults",)) for c in row.cells)
        ]

    @property
    def times(self) -> list[tuple[str, str, list[str]]]:
        """Block, row, and seconds of an epoch for each column."""
        return [
            (block.title, row.label, ["-" if c.seconds is None else f"{c.seconds:.3g}" for c in row.cells])
            for block in self.table.blocks
            for row in block.rows
            if any(c.seconds is not None for c in row.cells)
        ]


def write_report(store: Store, plans: Sequence[Plan], path: str | Path, form: str = "html") -> None:
    """Write the report of some plans: ``html``, ``md``, ``csv`` or ``latex``."""
    Path(path).write_text(report(store, plans, form), encoding="utf-8")


def report(store: Store, plans: Sequence[Plan], form: str = "html") -> str:
    """The report of some plans as a text."""
    choose(form, FORMATS, "format")
    if form == "html":
        return page([_section(plan, store, True) for plan in plans], store)
    tables = [table_of(plan, store) for plan in plans]
    if form == "csv":
        return "".join(to_csv(table, header=i == 0) for i, table in enumerate(tables))
    if form == "latex":
        return "\n".join(map(to_latex, tables))
    return "\n".join(_markdown(_section(plan, store, False)) for plan in plans)


def page(sections: Sequence[Section], store: Store) -> str:
    """One HTML page without scripts: nothing in it can run, and nothing is fetched."""
    done = sum(s.summary.done for s in sections)
    spent = duration(sum(s.summary.seconds for s in sections))
    return (
        environment(Path(__file__).parent)
        .get_template("report.html.j2")
        .render(
            title="Results beside the paper",
            about=f"{done} runs of {len(sections)} plan{'s' if len(sections) > 1 else ''}, {spent} of work.",
            sections=sections,
            difference=lambda d: difference_text(d).replace("-", MINUS),
            rank=rank_text,
            legend=legend,
            duration=duration,
            lines_in=_lines,
        )
    )


def _section(plan: Plan, store: Store, drawn: bool) -> Section:
    table = table_of(plan, store)
    shown = figures(plan, table, store) if drawn else []
    return Section(plan, table, tuple(shown), tuple(differences(plan, store)), run_summary(plan, store))


def _lines(row: Row, table: Table) -> list[str]:
    """Which lines a row has in each cell."""
    here = ["measured"]
    if any(c.printed is not None for c in row.cells):
        here.append("paper")
    if any(difference_text(c.difference) for c in row.cells):
        here.append(f"{MINUS} {table.baseline}")
    return here


def _markdown(section: Section) -> str:
    account = section.summary
    parts = [f"## {plain_md(section.plan.name)}", to_markdown(section.table).rstrip()]
    said = [f"- {a.where}, {plain_md(a.label)}: {plain_md(a.verdict)}" for a in section.against if a.mean is not None]
    if said:
        parts.append(f"Against {plain_md(section.against[0].baseline)}:\n\n" + "\n".join(said))
    left = account.total - account.done - account.failed
    told = f"{account.done} of {account.total} runs done, {account.failed} failed, {left} to do"
    told += f"; {duration(account.seconds)} of work."
    parts.append((f"`{account.command}`: " if account.command else "") + told)
    said = [f"made with {versions}: {count} runs" for versions, count in account.versions]
    said += [*account.warnings, *(f"failed: {f.what}: {_first(f.error)}" for f in account.failures)]
    if said:
        parts.append("\n".join(f"- {plain_md(s)}" for s in said))
    return "\n\n".join(parts) + "\n"


def _first(error: str) -> str:
    return next(iter(error.strip().splitlines()), "no message")
