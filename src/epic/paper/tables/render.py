"""Tables as text: Markdown to read, CSV to compute with, LaTeX for papers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence

from epic.compare.statistics import CONFIDENCE
from epic.compare.table import columns
from epic.compare.verdict import LEAST, Difference, number
from epic.paper.tables.types import Block, Cell, Row, Table

NUMBERS = "mean std runs expected failed mark printed printed_std printed_mark".split()
TESTED = "difference low high p".split()
FIELDS = [*"table block backbone noise row column".split(), *NUMBERS, *TESTED, "p_corrected", "over", "settings"]


def to_markdown(table: Table) -> str:
    """Write a table as Markdown: under each row what the paper prints and, where there is one, the difference."""
    parts = [f"**{plain_md(table.title)}** ({plain_md(table.metric)})"]
    for block in table.blocks:
        if block.title:
            parts.append(f"*{plain_md(block.title)}*")
        head = ["", *map(plain_md, table.head)]
        parts.append(markdown_rows([head, *_rows(table, block, plain_md, "**{}**", "*{}*")]))
    said = [*_marks(table, "**best**", "*second best*"), *(plain_md(n) for n in (*legend(table), *table.notes))]
    parts.append("\n".join(f"- {s}" for s in said))
    return "\n\n".join(p for p in parts if p) + "\n"


def markdown_rows(rows: Sequence[Sequence[str]]) -> str:
    """Write rows of text as a Markdown table, the head first."""
    head, *lines = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *lines])


def to_text(table: Table) -> str:
    """Write a table for a terminal, its columns below each other."""
    parts = [f"{table.title} ({table.metric})"]
    for block in table.blocks:
        rows = [[block.title, *table.head], *_rows(table, block, str, "{} best", "{} second")]
        parts.append("\n".join(columns(rows)))
    return "\n\n".join([*parts, "\n".join([*legend(table), *table.notes])]) + "\n"


def to_latex(table: Table) -> str:
    """Write a table for the LaTeX package booktabs: bold is best, underlined second best."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_tex(table.title)} ({_tex(table.metric)})}}",
        rf"\label{{tab:{re.sub('[^A-Za-z0-9-]', '-', table.name)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(table.head)}}}",
        r"\toprule",
        " & ".join(["", *map(_tex, table.head)]).strip() + r" \\",
    ]
    for block in table.blocks:
        lines.append(r"\midrule")
        if block.title:
            lines += [rf"\multicolumn{{{len(table.head) + 1}}}{{l}}{{\emph{{{_tex(block.title)}}}}} \\"]
        rows = _rows(table, block, _tex, r"\textbf{{{}}}", r"\underline{{{}}}", minus="$-$")
        lines += [" & ".join(row) + r" \\" for row in rows]
    said = [*_marks(table, r"\textbf{best}", r"\underline{second best}"), *map(_tex, (*legend(table), *table.notes))]
    below = [r"\par\smallskip\footnotesize", *said] if said else []
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *below, r"\end{table}"]) + "\n"


def to_csv(table: Table, header: bool = True) -> str:
    """Write one line for each cell, numbers in full; mean ranks are in the column ``rank``."""
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
    if header:
        writer.writeheader()
    for block in table.blocks:
        place = {"table": table.name, "block": block.title, "backbone": block.backbone, "noise": block.noise}
        for row in block.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                writer.writerow({**place, "row": row.label, "column": column, **_numbers(cell)})
            if row.rank is not None or row.printed_rank is not None:
                rank = {"mean": row.rank, "printed": row.printed_rank}
                writer.writerow({**place, "row": row.label, "column": "rank", **rank})
    return out.getvalue()


def difference_text(difference: Difference | None) -> str:
    """Write ``+1.2 (0.3 to 2.1)``, with a star where the corrected p-value is below the level."""
    found = None if difference is None else difference.found
    if difference is None or found is None or found.difference is None:
        return ""
    # Rounded first: no minus before zero.
    middle, low, high = (None if v is None else round(v, 1) + 0.0 for v in (found.difference, found.low, found.high))
    text = f"{middle:+.1f}" + ("" if low is None else f" ({low:.1f} to {high:.1f})")
    return text + ("*" if difference.significant else "")


def rank_text(row: Row) -> tuple[str, str]:
    """Write measured and printed mean rank; the printed one also over what was measured, where that is less."""
    measured = number(row.rank, ".1f")
    paper = "" if row.printed_rank is None else f"{row.printed_rank:.1f}"
    if paper and row.matched_rank is not None and f"{row.matched_rank:.1f}" != paper:
        paper += f" (here {row.matched_rank:.1f})"
    return measured, paper


def _rows(
    table: Table, block: Block, escape: Callable[[str], str], best: str, second: str, *, minus: str = "-"
) -> list[list[str]]:
    """Label and texts of every line of a block: a row has up to three."""
    mark = {"best": best, "second": second, None: "{}"}
    lines = []
    for row in block.rows:
        ranks = [[escape(t)] for t in rank_text(row)] if table.ranks else [[], []]
        measured = [mark[c.mark].format(escape(c.measured(table.decimals))) for c in row.cells]
        here = [f"{text} {c.count}".rstrip() for text, c in zip(measured, row.cells, strict=True)]
        lines.append([escape(row.label), *here, *ranks[0]])
        paper = [mark[c.printed_mark].format(escape(c.paper(table.decimals))) for c in row.cells]
        if any(paper):
            lines.append(["paper", *paper, *ranks[1]])
        gaps = [escape(difference_text(c.difference)).replace("-", minus) for c in row.cells]
        if any(gaps):
            lines.append([f"minus {escape(table.baseline or '')}", *gaps, *[""] * table.ranks])
    return lines


def _marks(table: Table, best: str, second: str) -> list[str]:
    marks = {m for b in table.blocks for r in b.rows for c in r.cells for m in (c.mark, c.printed_mark)}
    told = ", ".join(text for mark, text in (("best", best), ("second", second)) if mark in marks)
    return [f"{told}; measured ones among cells that have all their runs."] if told else []


def legend(table: Table) -> list[str]:
    """Say what the lines under a row mean, as far as the table has them."""
    cells = [c for b in table.blocks for r in b.rows for c in r.cells]
    gaps = [c.difference for c in cells if c.difference is not None and c.difference.found.difference is not None]
    said = []
    if any(c.count for c in cells):
        said.append("3/5: three of five runs are done; - none yet; failed: none without an error.")
    if gaps:
        over = f"splits ({gaps[0].found.test})" if gaps[0].over == "splits" else "seeds of the one split"
        share = f"{100 * CONFIDENCE:g} %"
        if all(gap.found.low is None for gap in gaps):
            said.append(f"Differences are paired by split and seed; an interval needs {LEAST} {gaps[0].over} at least.")
        else:
            said.append(
                f"Differences are paired by split and seed, with the {share} interval over {over}; * marks p < "
                f"{1 - CONFIDENCE:.2g} after Holm's correction for the methods of a dataset."
            )
    return said


def _numbers(cell: Cell) -> dict[str, object]:
    values: dict[str, object] = {n: getattr(cell, n) for n in NUMBERS}
    if (gap := cell.difference) is not None:
        values |= {n: getattr(gap.found, n) for n in TESTED} | {"p_corrected": gap.p, "over": gap.over}
    return {**values, "settings": "; ".join(cell.settings)}


def plain_md(text: str) -> str:
    """Escape text for Markdown."""
    text = " ".join(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())
    return re.sub(r"([\\|*`\[\]])", r"\\\1", text)


_TEX = {c: rf"\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "[": "{[}",  # after the end of a line it would be taken for a length
}


def _tex(text: str) -> str:
    """Escape text for LaTeX."""
    return "".join(_TEX.get(c, c) for c in " ".join(text.split())).replace("--", "-{}-")
