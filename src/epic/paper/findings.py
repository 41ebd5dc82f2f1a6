"""What holds of the paper, claim by claim: its claims, and what the measured tables say of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from epic.compare.statistics import Comparison, paired
from epic.paper.tables.types import Table

FEWEST = 5
"""Places (a dataset with a backbone or a level of noise) below which nothing is said of a claim."""
NOT_RUN = "not run"
ALIKE = 1.0
"""Two rows are alike if the whole interval of their difference is this near to zero, in points."""


@dataclass(frozen=True)
class Part:
    """Where a claim is looked at: a row of a table against the best of some others.

    Attributes:
        plan: Name of the table.
        row: Label of the row.
        others: Labels of the others; none for all rows of the paper.
        title: Words that the title of a block holds; blocks without them are left out.
    """

    plan: str
    row: str
    others: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True)
class PaperClaim:
    """A claim of the paper.

    Attributes:
        text: The claim in a sentence.
        rule: ``most``: it holds if the row is above the others in most places. ``better``: if it is above them on
            average over places, with its interval. ``same``: if the interval lies near zero.
        parts: Where to look.
    """

    text: str
    rule: Literal["most", "better", "same"]
    parts: tuple[Part, ...]


CLAIMS = (
    PaperClaim("EPIC is the best method on most datasets.", "most", (Part("main", "epic"), Part("molecules", "epic"))),
    PaperClaim("EPIC is the best method under label noise.", "most", (Part("noise", "epic"),)),
    PaperClaim(
        "The learned cost is better than fixed ones.",
        "better",
        (
            Part("costs", "learned", ("unit", "feature")),
            Part("distance", "learned", ("unit", "feature"), title="the first"),
        ),
    ),
    PaperClaim(
        "A cost is learned better through Sinkhorn than through the exact assignment.",
        "better",
        (Part("costs", "learned", ("exact",)), Part("distance", "learned", ("hungarian",), title="the first")),
    ),
    PaperClaim("The order of operations does not matter.", "same", (Part("order", "bfs", ("random",)),)),
)


@dataclass(frozen=True)
class Finding:
    """A claim, the verdict in a few words, and the evidence in sentences."""

    claim: str
    verdict: str
    evidence: tuple[str, ...]


def findings(tables: Mapping[str, Table]) -> list[Finding]:
    """Judge the paper's claims by the tables that are there.

    Args:
        tables: Measured tables by the name of their plan.

    Returns:
        One finding for each claim; none at all if no claim has a table. A claim with parts of different verdicts has
        them all.
    """
    found: list[Finding] = []
    if not any(part.plan in tables for claim in CLAIMS for part in claim.parts):
        return found
    for claim in CLAIMS:
        judged = [_judge(part, claim.rule, tables.get(part.plan)) for part in claim.parts]
        said = {part.plan: verdict for part, (verdict, _) in zip(claim.parts, judged, strict=True)}
        whole = dict.fromkeys(v for v in said.values() if v != NOT_RUN) or {NOT_RUN: None}
        verdict = next(iter(whole)) if len(whole) == 1 else "; ".join(f"{k}: {v}" for k, v in said.items())
        found.append(Finding(claim.text, verdict, tuple(text for _, text in judged)))
    return found


def _judge(part: Part, rule: str, table: Table | None) -> tuple[str, str]:
    """Return the verdict on one part of a claim, and its evidence."""
    gaps = [] if table is None else list(_differences(part, table))
    here = np.array([measured for measured, _ in gaps])
    paper = np.array([printed for _, printed in gaps if printed is not None])
    rivals = "the best of " + " and ".join(part.others) if len(part.others) > 1 else "".join(part.others)
    what = f"{part.plan}, {part.row} less {rivals or 'the best of all others'}"
    if not here.size:
        return NOT_RUN, f"{what}: no place has all its runs."
    mean = paired(here, np.zeros(here.size), 1, 0)
    text = f"{what}: {mean.difference:+.1f} points on average"
    if mean.low is not None:
        text += f" (95 % interval over places {mean.low:+.1f} to {mean.high:+.1f})"
    text += f", above in {(here > 0).sum()} of {here.size} places"
    if paper.size:
        text += f"; in the paper {paper.mean():+.1f}, above in {(paper > 0).sum()} of {paper.size}"
    return _verdict(rule, here, mean), f"{text}."


def _verdict(rule: str, gaps: np.ndarray, mean: Comparison) -> str:
    if gaps.size < FEWEST or mean.low is None or mean.high is None:
        return "too few places to say"
    if rule == "most":
        return "holds" if (gaps > 0).mean() > 0.5 else "does not hold"
    if rule == "same":
        near = mean.low > -ALIKE and mean.high < ALIKE
        return "holds" if near else "does not hold" if mean.low > 0 or mean.high < 0 else "cannot be told"
    return "holds" if mean.low > 0 else "the opposite is seen" if mean.high < 0 else "cannot be told"


def _differences(part: Part, table: Table) -> Iterator[tuple[float, float | None]]:
    """Yield the difference of each place that has all its runs: measured, and in the paper where it prints it."""
    for block in table.blocks:
        rows = {row.label: row.cells for row in block.rows}
        if part.title not in block.title or part.row not in rows:
            continue
        # A baseline of ours, which the paper does not print, is no rival.
        theirs = [n for n in rows if n != part.row and any(c.printed is not None for c in rows[n])]
        others = [rows[n] for n in part.others or theirs if n in rows]
        for place, mine in enumerate(rows[part.row]):
            rivals = [cells[place] for cells in others]
            if rivals and mine.mean is not None and all(c.complete for c in (mine, *rivals)):
                printed = [c.printed for c in rivals if c.printed is not None]
                best = max(c.mean for c in rivals if c.mean is not None)
                known = mine.printed is not None and len(printed) == len(rivals)
                yield mine.mean - best, (mine.printed or 0.0) - max(printed) if known else None
