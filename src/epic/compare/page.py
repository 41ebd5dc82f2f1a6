"""The page of a comparison, and the picture of differences with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from epic.compare.statistics import Comparison
from epic.view.page import environment, svg
from epic.view.style import INK


def comparison_page(title: str, *, picture: tuple[str, Callable[[Any], None]], **values: Any) -> str:
    """Return an HTML page that needs nothing else; no script runs in it.

    ``picture`` is its name and what draws it on axes of matplotlib. ``values`` are what else ``compare.html.j2`` shows:
    about, banner, verdicts, table (the head first), notes and call.
    """
    template = environment(Path(__file__).parent).get_template("compare.html.j2")
    drawn = Markup(svg(picture[1], (7.2, 4.0)))
    return template.render(title=title, picture_name=picture[0], picture=drawn, **values)


def forest(
    axes: Any, differences: Mapping[str, Comparison], *, unit: str = "points", to: str = "plain training"
) -> None:
    """Draw differences with their intervals, one below the other.

    Args:
        axes: Axes of matplotlib.
        differences: What was found of each method.
        unit: What differences are measured in.
        to: What methods are compared with.
    """
    there = {name: gap for name, gap in differences.items() if gap.difference is not None}
    for place, gap in enumerate(there.values()):
        low, middle, high = (gap.difference if end is None else end for end in (gap.low, gap.difference, gap.high))
        sure = gap.low is not None and low * high > 0  # type: ignore[operator]
        colour = ("#1a7f37" if (middle or 0) > 0 else "#b35900") if sure else "#57606a"
        axes.plot([low, high], [place, place], color=colour, linewidth=2)
        axes.plot([middle], [place], marker="o", color=colour)
    axes.axvline(0, color=INK, linewidth=1)
    axes.set_yticks(range(len(there)), list(there))
    axes.set_ylim(max(1, len(there)) - 0.5, -0.5)  # nothing may be done yet
    axes.set_xlabel(f"difference to {to}, {unit}")
    axes.grid(axis="x", alpha=0.3)
