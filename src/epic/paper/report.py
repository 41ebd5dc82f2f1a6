"""The report: every plan with anything in the store on one page that needs nothing else, or as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from epic.compare.claims import Judged, judge
from epic.compare.claims import table as claim_table
from epic.compare.plan import Plan
from epic.compare.runs import Runs
from epic.compare.times import duration
from epic.compare.verdict import Against, differences, number
from epic.errors import choose
from epic.paper.charts import Figure, figures, forests
from epic.paper.findings import NOT_RUN, findings
from epic.paper.run_summary import RunSummary, run_summary
from epic.paper.tables import QUICK, Cell, Row, Table, table_of
from epic.paper.tables.render import (
    difference_text,
    legend,
    markdown_rows,
    plain_md,
    rank_text,
    to_csv,
    to_latex,
    to_markdown,
    to_text,
)
from epic.view.page import environment

FORMATS = ("html", "md", "csv", "latex", "text")
MINUS = "\u2212"
MOST_VERDICTS = 6
"""Verdicts of a plan at the top of the page."""


@dataclass(frozen=True)
class Section:
    """One plan: its table, its charts, how methods compare, and how it was run."""

    plan: Plan
    table: Table
    figures: Sequence[Figure]
    against: Sequence[Against]
    claims: Sequence[Judged]
    summary: RunSummary

    @property
    def judged(self) -> list[Against]:
        """Methods that have been compared with the baseline."""
        return [a for a in self.against if a.mean is not None]

    @property
    def verdicts(self) -> list[tuple[str, str]]:
        """What the plan was made to find out: who, and the verdict in words."""
        if self.claims:
            return [(j.name, j.verdict) for j in self.claims if j.claim.main]
        ours = [a for a in self.judged if a.label == "epic"] or self.judged
        shown = [(f"{a.label}, {a.where}:", a.verdict) for a in ours[:MOST_VERDICTS]]
        more = len(ours) - len(shown)
        return [*shown, ("", f"and {more} more below")] if more else shown

    @property
    def settings(self) -> list[tuple[str, str, list[str]]]:
        """Block, row, and what was chosen for each column, of rows that chose anything."""
        return self._rows(lambda c: "; ".join(c.settings) or "-", lambda c: c.settings not in ((), ("defaults",)))

    @property
    def times(self) -> list[tuple[str, str, list[str]]]:
        """Block, row, and seconds of an epoch for each column."""
        return self._rows(lambda c: number(c.seconds, ".3g"), lambda c: c.seconds is not None)

    def _rows(self, text: Callable[[Cell], str], there: Callable[[Cell], bool]) -> list[tuple[str, str, list[str]]]:
        return [
            (block.title, row.label, [text(c) for c in row.cells])
            for block in self.table.blocks
            for row in block.rows
            if any(there(c) for c in row.cells)
        ]


def report(plans: Sequence[Runs], form: str = "html") -> str:
    """Write the report of some plans.

    Args:
        plans: The plans and their results.
        form: ``"html"``, ``"md"``, ``"csv"``, ``"latex"`` or ``"text"`` (tables alone, for a terminal).
    """
    choose(form, FORMATS, "format")
    if form == "html":
        return _page([_section(runs, drawn=True) for runs in plans])
    if form == "md":
        return "\n".join(_markdown(_section(runs, drawn=False)) for runs in plans)
    tables = [table_of(runs) for runs in plans]
    if form == "csv":
        return "".join(to_csv(table, header=i == 0) for i, table in enumerate(tables))
    if form == "latex":
        return "\n".join(map(to_latex, tables))
    told = [[f"{j.name}: {j.verdict}" for j in judge(runs)] for runs in plans]
    return "\n".join("\n".join([to_text(table), *claims]) for table, claims in zip(tables, told, strict=True))


def _page(sections: Sequence[Section]) -> str:
    """Fill the HTML page. It has no scripts: nothing in it can run, and nothing is fetched."""
    done = sum(s.summary.done for s in sections)
    spent = duration(sum(s.summary.seconds for s in sections))
    found = findings({s.table.name: s.table for s in sections if not s.plan.quick})
    return (
        environment(Path(__file__).parent)
        .get_template("report.html.j2")
        .render(
            title="Results and the paper",
            about=f"{done} runs of {len(sections)} plan{'s' if len(sections) > 1 else ''}, {spent} of work.",
            sections=sections,
            findings=found if any(f.verdict != NOT_RUN for f in found) else [],
            banner=QUICK,
            forests=[chart for s in sections for chart in forests(s.plan.name, s.claims, s.judged)],
            difference=lambda d: difference_text(d).replace("-", MINUS),
            rank=rank_text,
            legend=legend,
            duration=duration,
            lines_in=_lines,
            claim_table=claim_table,
        )
    )


def _section(runs: Runs, drawn: bool) -> Section:
    table = table_of(runs)
    drawings = figures(runs, table) if drawn else []
    against = [] if runs.plan.quick else differences(runs)
    return Section(runs.plan, table, drawings, against, judge(runs), run_summary(runs))


def _lines(row: Row, table: Table) -> list[str]:
    """Return which lines a row has in each cell."""
    here = ["measured"]
    if any(c.printed is not None for c in row.cells):
        here.append("paper")
    if any(difference_text(c.difference) for c in row.cells):
        here.append(f"{MINUS} {table.baseline}")
    return here


def _markdown(section: Section) -> str:
    summary = section.summary
    parts = [f"## {plain_md(section.plan.name)}", to_markdown(section.table).rstrip()]
    if section.claims:
        parts.append("Pooled over datasets and backbones, as the plan named them before its first run:")
        parts.append(markdown_rows([[plain_md(text) for text in row] for row in claim_table(section.claims)]))
        parts.append("\n".join(f"- **{plain_md(j.name)}** {plain_md(j.verdict)}" for j in section.claims))
    said = [f"- {a.where}, {plain_md(a.label)}: {plain_md(a.verdict)}" for a in section.judged]
    if said:
        parts.append(f"Against {plain_md(section.against[0].baseline)}:\n\n" + "\n".join(said))
    left = summary.total - summary.done - summary.failed
    told = f"{summary.done} of {summary.total} runs done, {summary.failed} failed, {left} to do"
    told += f"; {duration(summary.seconds)} of work."
    parts.append((f"`{summary.command}`: " if summary.command else "") + told)
    said = [*(f"made with {versions}: {count} runs" for versions, count in summary.versions), *summary.warnings]
    said += [f"failed: {f.what}: {(f.error.strip() or 'no message').splitlines()[0]}" for f in summary.failures]
    if said:
        parts.append("\n".join(f"- {plain_md(s)}" for s in said))
    return "\n\n".join(parts) + "\n"
