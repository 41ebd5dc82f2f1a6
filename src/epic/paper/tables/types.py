"""What a table is made of, whoever draws it: blocks of rows of cells, measured and printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from epic.compare.statistics import competition_ranks
from epic.compare.verdict import Difference
from epic.paper.printed import Mark, Printed


@dataclass(frozen=True)
class Cell:
    """What was measured, and what the paper prints.

    Attributes:
        mean: Over ``runs`` out of ``expected`` runs.
        std: Sample standard deviation; None below two runs.
        failed: Number of runs that ended with an error.
        settings: Those chosen on validation, the distinct ones of all splits.
        seconds: Time of an epoch.
        printed: What the paper has; None where it has nothing.
        decimals: Of mean and deviation, where they are not those of the table.
    """

    mean: float | None = None
    std: float | None = None
    runs: int = 0
    expected: int = 0
    failed: int = 0
    settings: tuple[str, ...] = ()
    seconds: float | None = None
    printed: float | None = None
    printed_std: float | None = None
    mark: Mark | None = None
    printed_mark: Mark | None = None
    difference: Difference | None = None
    decimals: tuple[int, int] | None = None

    def with_printed(self, paper: Printed | None) -> Cell:
        """Add the printed values, if there are any."""
        if paper is None:
            return self
        return replace(self, printed=paper.mean, printed_std=paper.std, printed_mark=paper.mark)

    @property
    def complete(self) -> bool:
        return self.mean is not None and self.runs >= self.expected

    @property
    def count(self) -> str:
        """``3/5`` where runs are missing, else empty."""
        return "" if self.complete or not self.expected else f"{self.runs}/{self.expected}"

    def measured(self, decimals: tuple[int, int] = (2, 1)) -> str:
        """Write the measured value: ``failed`` where only errors came, ``-`` where nothing was run yet."""
        if self.mean is None:
            return "failed" if self.failed else "-"
        decimals = self.decimals or decimals
        return f"{self.mean:.{decimals[0]}f}" + ("" if self.std is None else f" ({self.std:.{decimals[1]}f})")

    def paper(self, decimals: tuple[int, int] = (2, 1)) -> str:
        """Write the printed value, its deviation with the digits that it has in print."""
        if self.printed is None:
            return ""
        return f"{self.printed:.{decimals[0]}f}" + ("" if self.printed_std is None else f" ({self.printed_std})")


@dataclass(frozen=True)
class Row:
    """One method.

    Attributes:
        rank: The mean rank measured.
        printed_rank: The mean rank that the paper prints.
        matched_rank: The mean rank of the printed means over the datasets and rows that were measured.
    """

    label: str
    cells: tuple[Cell, ...]
    rank: float | None = None
    printed_rank: float | None = None
    matched_rank: float | None = None


@dataclass(frozen=True)
class Block:
    """Rows that are compared with each other; ``ranked`` names the columns behind the measured ranks."""

    title: str
    rows: tuple[Row, ...]
    backbone: str | None = None
    noise: float | None = None
    ranked: tuple[str, ...] = ()

    @property
    def runs(self) -> int:
        return sum(c.runs for r in self.rows for c in r.cells)

    @property
    def begun(self) -> bool:
        """Whether anything was run, with success or not."""
        return any(c.runs or c.failed for r in self.rows for c in r.cells)


@dataclass(frozen=True)
class Table:
    """``decimals`` of means and of deviations; ``notes`` are sentences that belong under it."""

    name: str
    title: str
    metric: str
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    decimals: tuple[int, int] = (2, 1)
    notes: tuple[str, ...] = ()
    baseline: str | None = None

    @property
    def head(self) -> list[str]:
        """The columns, with that of the ranks where there are any."""
        return [*self.columns, *(["rank"] if self.ranks else [])]

    @property
    def ranks(self) -> bool:
        return any(r.rank is not None or r.printed_rank is not None for b in self.blocks for r in b.rows)


def summary(values: Sequence[float], expected: int, failed: int = 0) -> Cell:
    """Make a cell of some values: mean and sample deviation."""
    if not values:
        return Cell(expected=expected, failed=failed)
    std = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Cell(float(np.mean(values)), std, len(values), expected, failed)


def marked(block: Block) -> Block:
    """Mark best and second best among the cells that have all their runs.

    One cell alone is not best, and second best is said only of four or more.
    """
    rows = [list(r.cells) for r in block.rows]
    for column in range(len(rows[0]) if rows else 0):
        there = [i for i, cells in enumerate(rows) if cells[column].complete]
        if len(there) < 2:
            continue
        for i, rank in zip(there, competition_ranks([rows[i][column].mean for i in there]), strict=True):
            mark: Mark | None = "best" if rank == 1 else "second" if rank == 2 and len(there) >= 4 else None
            rows[i][column] = replace(rows[i][column], mark=mark)
    return replace(block, rows=tuple(replace(r, cells=tuple(c)) for r, c in zip(block.rows, rows, strict=True)))


def ranked(block: Block, columns: tuple[str, ...]) -> Block:
    """Add mean ranks over the columns where every row has all its runs."""
    full = [i for i in range(len(columns)) if all(r.cells[i].complete for r in block.rows)]
    if not full or len(block.rows) < 2:
        return block

    def mean_ranks(field: str) -> list:
        values = [[getattr(r.cells[i], field) for i in full] for r in block.rows]
        known = all(v is not None for row in values for v in row)
        return competition_ranks(values).mean(1).tolist() if known else [None] * len(values)

    ranks = zip(block.rows, mean_ranks("mean"), mean_ranks("printed"), strict=True)
    rows = tuple(replace(r, rank=measured, matched_rank=printed) for r, measured, printed in ranks)
    return replace(block, rows=rows, ranked=tuple(columns[i] for i in full))
