"""Panels of lines and bars with matplotlib, for the paper's figures and for the charts of the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from epic.view.page import svg
from epic.view.style import BLANK, COLOURS, INK

POINTS = 60
"""A line has no more points than this: the eye sees no more on a small chart."""
# Without yellow, which is lost on white; place 0 (vanilla) is drawn in ink.
LINE_COLOURS = (*(COLOURS[i] for i in (4, 5, 2, 6, 1, 0)), "#767676")
DASHES = ((), (6, 3), (2, 2))
PAPER_DASH = (3, 3)
"""Lines that the paper prints."""
ASSIGNMENT = {"sinkhorn": "Sinkhorn", "hungarian": "Hungarian (exact)"}


@dataclass(frozen=True)
class Line:
    """Points to be joined.

    Attributes:
        place: Decides colour and dashes; 0 is ink.
        spread: Half the length of a bar at each point; None for no bar.
        dots: Whether points are marked.
        paper: Whether the numbers are the paper's.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    place: int = 0
    spread: Sequence[float | None] = ()
    dots: bool = False
    paper: bool = False


def look(line: Line) -> tuple[str, tuple[int, ...]]:
    """Return colour and dashes of a line: when the colours are used up, they come again with other dashes."""
    turn, which = divmod(line.place - 1, len(LINE_COLOURS))
    colour, dash = (LINE_COLOURS[which], DASHES[turn % len(DASHES)]) if line.place else (INK, ())
    return colour, PAPER_DASH if line.paper else dash


def line_panel(
    axes: Any,
    lines: Sequence[Line],
    x: str,
    y: str,
    *,
    bounds: tuple[float, float] | None = None,
    ticks: Sequence[float] | None = None,
) -> None:
    """Draw lines over common axes. Lines of one name stand in the legend once."""
    for number, line in enumerate(lines):
        colour, dash = look(line)
        kept = np.unique(np.linspace(0, len(line.x) - 1, min(len(line.x), POINTS)).round().astype(int))
        at, value = np.asarray(line.x, float)[kept], np.asarray(line.y, float)[kept]
        style = {"color": colour, "linewidth": 1.4, "marker": "o" if line.dots else None, "markersize": 4}
        again = any(other.name == line.name for other in lines[:number])
        name = "_" * again + line.name.replace("$", r"\$")  # no formulas; matplotlib's legend leaves out _names
        axes.plot(at, value, linestyle=(0, dash) if dash else "-", label=name, gid=f"s{line.place}", **style)
        if line.spread:
            half = np.array([s or 0.0 for s in line.spread])[kept]
            axes.vlines(at, value - half, value + half, colors=colour, linewidth=0.9, gid=f"s{line.place}")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if ticks is not None:
        axes.set_xticks(list(ticks))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    if bounds is not None:
        axes.set_ylim(*bounds)
    tidy(axes)


def bar_panel(
    axes: Any, groups: Sequence[str], printed: Sequence[float | None], measured: Sequence[Sequence[float]]
) -> None:
    """Draw the paper's value and the mean of the measured ones side by side; dots are the measured ones."""
    at = np.arange(len(groups))
    means = [float(np.mean(v)) for v in measured]
    axes.bar(at - 0.2, [p or 0 for p in printed], 0.38, color="#BBBBBB", hatch="//", edgecolor="white", label="paper")
    axes.bar(at + 0.2, means, 0.38, color=COLOURS[4], label="here")
    for i, (paper, values, mean) in enumerate(zip(printed, measured, means, strict=True)):
        several = len(values) > 1
        axes.annotate("not\nprinted" if paper is None else f"{paper:.2f}", (i - 0.2, paper or 0), **above(2))
        axes.annotate(f"{mean:.2f}", (i + 0.2, max(values)), **above(4 if several else 2))
        if several:
            axes.scatter([i + 0.2] * len(values), values, s=12, c=BLANK, edgecolors="#111111", lw=0.8, zorder=3)
    axes.set_xticks(at, list(groups))
    axes.set_ylim(0, 1.15 * max([1.0, *(max(v) for v in measured)]))
    tidy(axes)


def rank_panel(axes: Any, ranks: Sequence[tuple[float, str]], least: float) -> None:
    """Draw mean ranks, the best on top, and a bar for each largest group that lies nearer together than ``least``.

    Args:
        axes: Axes of matplotlib.
        ranks: Mean rank and name of each method, sorted.
        least: The critical difference.
    """
    values = [rank for rank, _ in ranks]
    axes.plot(values, range(len(ranks)), "o", color=LINE_COLOURS[0])
    ends = [max(j for j, v in enumerate(values) if v - first < least) for first in values]
    groups = [(i, j) for i, j in enumerate(ends) if j > i and (i == 0 or ends[i - 1] < j)]
    for number, (i, j) in enumerate(groups):
        place = len(ranks) + 0.4 + 0.35 * number
        axes.plot([place, place], [i - 0.2, j + 0.2], color="#8c959f", linewidth=4, solid_capstyle="round")
    axes.set_xlim(0.7, len(ranks) + 0.7 + 0.35 * len(groups))
    axes.set_xlabel("mean rank (1 is best)")
    _name_rows(axes, [name for _, name in ranks])


def dot_panel(axes: Any, rows: Mapping[str, Sequence[float]]) -> None:
    """Draw values as dots, a row for each name, with the mean as a line across."""
    for place, values in enumerate(rows.values()):
        axes.plot(values, [place] * len(values), "o", color=LINE_COLOURS[0], alpha=0.5, markersize=4)
        axes.plot([np.mean(values)] * 2, [place - 0.35, place + 0.35], color=INK, linewidth=1.5)
    _name_rows(axes, list(rows))


def _name_rows(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [name.replace("$", r"\$") for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", alpha=0.3)


def blur_lines(errors: Mapping[str, Mapping[int, float]]) -> list[Line]:
    """Make a line for each dataset: how far the soft assignment is from the exact one, by iterations."""
    return [
        Line(dataset, sorted(by), [by[k] for k in sorted(by)], place, dots=True)
        for place, (dataset, by) in enumerate(errors.items(), 1)
    ]


def loss_lines(by: Mapping[str, Sequence[Mapping[str, Sequence[float]]]], what: str) -> list[Line]:
    """Make a line for each assignment and run: the ``training`` or ``validation`` loss by epoch, from 0."""
    return [
        Line(ASSIGNMENT[name], range(len(run[what])), run[what], place)
        for place, (name, runs) in enumerate(by.items(), 1)
        for run in runs
        if run[what]
    ]


def above(points: float) -> dict[str, Any]:
    """Return matplotlib's options of a note above a point."""
    return {"xytext": (0, points), "textcoords": "offset points", "ha": "center", "fontsize": 8}


def tidy(axes: Any) -> None:
    """Remove clutter from axes."""
    axes.tick_params(labelsize=8)
    axes.grid(axis="y", color="#E3E7EB", zorder=0)
    axes.set_axisbelow(True)
    axes.xaxis.label.set_size(8.5)
    axes.yaxis.label.set_size(8.5)
    axes.spines[["top", "right"]].set_visible(False)


def reach(lines: Sequence[Line]) -> tuple[float, float]:
    """Return bounds of an axis that holds all lines, with a little air."""
    values = [v for line in lines for v in line.y]
    air = 0.06 * (max(values) - min(values)) or 0.5
    return min(values) - air, max(values) + air


def chart(title: str, words: str, draw: Any, size: tuple[float, float] = (3.6, 2.3)) -> Markup:
    """Make a figure of a page, inline SVG with text as text. ``words`` say what it shows; ``draw`` gets the axes."""
    element = svg(draw, size, salt=title + words, transparent=True)
    inside = element[element.index(">") + 1 :]
    # Inside a page, rules and names of parts would meet those of other charts.
    inside = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", inside, flags=re.DOTALL)
    inside = re.sub(r' id="s(\d+)"', r' class="line s\1"', inside)
    inside = re.sub(r' id="[\w.]+_\d+"', "", inside)
    return Markup(
        '<figure class="chart"><figcaption>{}</figcaption>'
        '<svg viewBox="0 0 {:.1f} {:.1f}" role="img" aria-label="{}">{}</figure>'
    ).format(title, 72 * size[0], 72 * size[1], f"{title}. {words}", Markup(inside.strip()))


def line_chart(title: str, lines: Sequence[Line], x: str, y: str, **options: Any) -> Markup:
    """Draw a chart of lines; its words say where each begins and ends."""
    ends = "; ".join(f"{n.name}: {n.y[0]:.4g} to {n.y[-1]:.4g}" for n in lines)
    words = (f"{y} by {x}. " if y else f"By {x}. ") + ends
    return chart(title, words, lambda axes: line_panel(axes, lines, x, y, **options))


def line_key(line: Line) -> Markup:
    """Draw the sample of a line in a legend."""
    colour, dash = look(line)
    mark = Markup('<circle cx="13" cy="6" r="3" fill="{}"/>').format(colour) if line.dots else Markup("")
    return Markup(
        '<svg width="26" height="12" aria-hidden="true"><path d="M1 6H25" fill="none" stroke="{}" stroke-width="2" '
        'stroke-dasharray="{}"/>{}</svg>'
    ).format(colour, " ".join(map(str, dash)), mark)
