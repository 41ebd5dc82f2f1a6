"""The page of a comparison, and the picture of differences with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from epic.compare.statistics import Comparison
from epic.view.page import environment, svg
from epic.view.style import INK


def comparison_page(
    title: str,
    *,
    about: str,
    banner: str = "",
    verdicts: Sequence[str],
    picture: tuple[str, Callable[[Any], None]],
    table: Sequence[Sequence[str]],
    notes: Sequence[str],
    call: Mapping[str, Any],
) -> str:
    """Return an HTML page that needs nothing else; no script runs in it.

    Args:
        title: Its title.
        about: What was run, in a sentence or two.
        banner: What keeps it from being a whole answer; empty if nothing does.
        verdicts: What was found, in sentences.
        picture: Name of the picture, and what draws it on axes of matplotlib.
        table: Rows of text, the head first.
        notes: What the columns mean.
        call: The command, and its options.
    """
    head, *rows = table
    return (
        environment(Path(__file__).parent)
        .get_template("compare.html.j2")
        .render(
            title=title,
            about=about,
            banner=banner,
            verdicts=verdicts,
            picture_name=picture[0],
            picture=Markup(svg(picture[1], (7.2, 4.0))),
            head=head,
            rows=rows,
            notes=notes,
            command=str(call.get("command", "")),
            options={k: v for k, v in call.items() if k != "command"},
        )
    )


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
