"""Small charts as SVG that stands in a page: lines and bars, with a text for those who do not see them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from epic.view.style import COLOURS

WIDTH, HEIGHT = 360, 224
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 24, 38
POINTS = 60
"""A line has no more points than this: the eye sees no more on a small chart."""

INK = "#1b1f24"
# Without yellow, which is lost on white; vanilla is drawn in ink.
LINE_COLOURS = tuple(c for c in (COLOURS[4], COLOURS[5], COLOURS[2], COLOURS[6], COLOURS[1], COLOURS[0], "#767676"))
DASHES = ("", "6 3", "2 2")


@dataclass(frozen=True)
class Line:
    """Points to be joined; ``spread`` is drawn as bars up and down. ``place`` decides colour and dashes; 0 is ink."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    place: int = 0
    spread: Sequence[float | None] = ()
    dots: bool = False
    dash: str | None = None


def look(place: int) -> tuple[str, str]:
    """Colour and dashes of a line: when the colours are used up, they come again with other dashes."""
    if place == 0:
        return INK, ""
    turn, which = divmod(place - 1, len(LINE_COLOURS))
    return LINE_COLOURS[which], DASHES[(turn) % len(DASHES)]


def line_chart(
    lines: Sequence[Line],
    title: str,
    x: str,
    y: str,
    told: str = "",
    bounds: tuple[float, float] | None = None,
    ticks: Sequence[float] | None = None,
) -> Markup:
    """Lines over a common axis. ``told`` is the text alternative (default: where each line begins and ends)."""
    lines = [_thinned(line) for line in lines if len(line.x)]
    xs = [v for line in lines for v in line.x] or [0.0, 1.0]
    low, high = bounds or reach(lines)
    at_x, at_y = _scale(min(xs), max(xs), LEFT, WIDTH - RIGHT), _scale(low, high, HEIGHT - BOTTOM, TOP)
    parts = [_frame(low, high, at_y, y)]
    for tick in ticks if ticks is not None else steps(min(xs), max(xs), 5):
        parts.append(_text(at_x(tick), HEIGHT - BOTTOM + 13, number(tick)))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 9, x, "soft"))
    for line in lines:
        parts.append(_drawn(line, at_x, at_y))
    told = told or (f"{y} by {x}. " if y else f"By {x}. ") + "; ".join(
        f"{n.name}: {number(n.y[0])} to {number(n.y[-1])}" for n in lines
    )
    return _svg(title, told, Markup("").join(parts))


def bar_chart(
    groups: Sequence[str], bars: Sequence[tuple[str, Sequence[float | None]]], title: str, y: str, top: float
) -> Markup:
    """Groups of bars up to ``top``, the values written above; bars after the first are hatched."""
    at_y = _scale(0.0, top, HEIGHT - BOTTOM, TOP)
    wide = (WIDTH - LEFT - RIGHT) / max(len(groups), 1)
    each = 0.8 * wide / max(len(bars), 1)
    parts = [_frame(0.0, top, at_y, y)]
    for g, group in enumerate(groups):
        left = LEFT + g * wide + 0.1 * wide
        parts.append(_text(LEFT + (g + 0.5) * wide, HEIGHT - BOTTOM + 13, group))
        for b, (_, values) in enumerate(bars):
            value, begin = values[g], left + b * each
            if value is None:
                parts.append(_text(begin + each / 2, HEIGHT - BOTTOM - 8, "-", "soft"))
                continue
            box = Markup('<rect class="bar{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')
            parts.append(box.format(b, begin, at_y(value), each - 2, at_y(0) - at_y(value)))
            parts.append(_text(begin + each / 2 - 1, at_y(value) - 7, f"{value:.2f}"))
    told = "; ".join(
        f"{group}: " + ", ".join(f"{n} {'-' if v[g] is None else f'{v[g]:.2f}'}" for n, v in bars)
        for g, group in enumerate(groups)
    )
    return _svg(title, told, Markup("").join(parts))


def key(place: int, dash: str | None = None, dot: bool = False) -> Markup:
    """The sample of a line in a legend."""
    colour, own = look(place)
    mark = Markup('<circle cx="13" cy="6" r="3" fill="{}"/>').format(colour) if dot else Markup("")
    return Markup(
        '<svg width="26" height="12" aria-hidden="true"><path d="M1 6H25" fill="none" stroke="{}" stroke-width="2" '
        'stroke-dasharray="{}"/>{}</svg>'
    ).format(colour, own if dash is None else dash, mark)


def reach(lines: Sequence[Line]) -> tuple[float, float]:
    """Bounds of an axis that holds all lines and their spread, with a little air."""
    ends = [
        v + sign * (s or 0.0)
        for line in lines
        for v, s in zip(line.y, line.spread or [None] * len(line.y), strict=True)
        for sign in (-1, 1)
    ]
    if not ends:
        return 0.0, 1.0
    air = 0.06 * (max(ends) - min(ends)) or 0.5
    return min(ends) - air, max(ends) + air


def steps(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers between two values.

    >>> steps(0, 99, 5), steps(0.12, 0.31)
    ([0.0, 20.0, 40.0, 60.0, 80.0], [0.15, 0.2, 0.25, 0.3])
    """
    if not high > low:
        return [low]
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(m for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def number(value: float) -> str:
    return f"{value:.4g}"


def _thinned(line: Line) -> Line:
    if len(line.x) <= POINTS:
        return line
    kept = np.unique(np.linspace(0, len(line.x) - 1, POINTS).round().astype(int)).tolist()
    return Line(line.name, [line.x[i] for i in kept], [line.y[i] for i in kept], line.place, (), line.dots, line.dash)


def _scale(low: float, high: float, start: float, end: float):  # type: ignore[no-untyped-def]
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (end - start)


def _drawn(line: Line, at_x, at_y) -> Markup:  # type: ignore[no-untyped-def]
    colour, dash = look(line.place)
    dash = dash if line.dash is None else line.dash
    points = [(at_x(a), at_y(b)) for a, b in zip(line.x, line.y, strict=True)]
    way = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    parts = [
        Markup('<polyline points="{}" fill="none" stroke="{}" stroke-width="1.6" stroke-dasharray="{}"/>').format(
            way, colour, dash
        )
    ]
    for (a, b), value, spread in zip(points, line.y, line.spread or [None] * len(points), strict=True):
        if line.dots:
            parts.append(Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.6" fill="{}"/>').format(a, b, colour))
        if spread:
            bar = Markup('<path d="M{:.1f} {:.1f}V{:.1f}" stroke="{}" stroke-width="1"/>')
            parts.append(bar.format(a, at_y(value - spread), at_y(value + spread), colour))
    return Markup('<g class="line s{}"><title>{}</title>{}</g>').format(line.place, line.name, Markup("").join(parts))


def _frame(low: float, high: float, at_y, y: str) -> Markup:  # type: ignore[no-untyped-def]
    parts = []
    for tick in steps(low, high):
        rule = Markup('<path class="rule" d="M{} {:.1f}H{}"/>').format(LEFT, at_y(tick), WIDTH - RIGHT)
        parts += [rule, _text(LEFT - 5, at_y(tick), number(tick), "end")]
    return Markup("").join([*parts, _text(LEFT - 36, TOP - 12, y, "start soft")])


def _text(x: float, y: float, text: str, kind: str = "") -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(kind, x, y, text)


def _svg(title: str, told: str, inside: Markup) -> Markup:
    return Markup(
        '<figure class="chart"><figcaption>{}</figcaption><svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
        "</figure>"
    ).format(title, WIDTH, HEIGHT, escape(f"{title}. {told}"), inside)
