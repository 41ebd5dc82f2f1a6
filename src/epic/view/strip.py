"""A path as a row of pictures, as in the paper's first figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from epic.errors import InputError
from epic.view.frames import GRID, frames, positions
from epic.view.names import Names, names_of
from epic.view.style import BLANK, EDGE_INK, EDGE_LEGEND, EDGES, FATES, INK, NODE_LEGEND, WIDTH, ink_on

if TYPE_CHECKING:
    from epic.paths.edit_path import EditPath

DASHED = (0, (2, 1.2))
PRIME = "\u2032"


def strip(path: EditPath, *, steps: int = 6, names: Names | str | None = None) -> Any:
    """Draw some graphs of a path side by side, evenly spread from source to target.

    Nodes move from their place in the source to that in the target. Fill and letter show the node's label (its number,
    if there are no labels). Outline and sign show what becomes of it, as in the legend: dashes and a minus for what
    will be deleted, two lines and a plus for what was inserted. Under each graph stand the share of cost spent and the
    soft label.

    Args:
        path: The path.
        steps: How many graphs to draw, at least 2.
        names: As in :func:`epic.view.path_page`.

    Returns:
        A matplotlib ``Figure``.
    """
    if steps < 2:
        raise InputError(f"steps must be at least 2 (source and target), got {steps}")
    from matplotlib.figure import Figure

    chosen = chosen_steps(path, steps)
    drawn = frames(path, names_of(names, path.class_names))
    wide, high = np.subtract(*frame(drawn)[::-1])
    figure = Figure(figsize=(2.3 * len(chosen), 1 + 2.2 * float(np.clip(high / wide, 0.3, 1.2))), layout="constrained")
    for column, k in enumerate(chosen):
        axes = figure.add_subplot(1, len(chosen), column + 1)
        draw_step(axes, drawn, path, k)
        if path.source.get("y") is not None:
            label = path.label(k).tolist()
            told = "label " + " ".join(f"{v:.2f}" for v in label) if len(label) <= 6 else ""
            axes.set_xlabel(f"{axes.get_xlabel()}\n{told}")
    draw_legend(figure, drawn)
    return figure


def chosen_steps(path: EditPath, steps: int) -> list[int]:
    """Return the numbers of ``steps`` graphs, evenly spread from source to target."""
    return sorted({round(k) for k in np.linspace(0, len(path), steps)})


def draw_step(axes: Any, drawn: dict[str, Any], path: EditPath, k: int) -> None:
    """Draw step ``k`` of what :func:`frames` gave, with its number above and the share of cost spent below."""
    _draw_graph(axes, drawn, k)
    axes.set_title("source" if k == 0 else "target" if k == len(path) else f"step {k} of {len(path)}", fontsize=9)
    axes.set_xlabel(f"{path.fraction(k):.0%} of cost", fontsize=8)
    low, high = frame(drawn)
    axes.set(xlim=(low[0], high[0]), ylim=(high[1], low[1]), xticks=[], yticks=[])  # downwards, as on pages
    axes.set_aspect("equal", adjustable="box")
    for side in axes.spines.values():
        side.set_color("#DDDDDD")


def frame(drawn: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest coordinates of all steps, with a margin: the frame of every picture."""
    every = np.array(drawn["drawings"], dtype=float).reshape(-1, 2) / GRID  # steps in between lie between these
    low, high = (every.min(0), every.max(0)) if len(every) else (np.zeros(2), np.ones(2))
    return low - 0.6, high + 0.6


def _draw_graph(axes: Any, drawn: dict[str, Any], k: int) -> None:
    """Draw edges, outlines with a white gap inside, second lines of what was inserted, fills, signs, letters."""
    from matplotlib.collections import LineCollection
    from matplotlib.transforms import ScaledTranslation

    nodes, edges = ([item for item in drawn[what] if item[-2] <= k < item[-1]] for what in ("nodes", "edges"))
    at = positions(drawn, k)
    kinds, usual = [EDGES[e[6]] for e in edges], 1.0 if len(at) < 80 else 0.5
    axes.add_collection(
        LineCollection(
            [at[list(e[:2])] for e in edges],
            colors=EDGE_INK,
            linestyles=[DASHED if kind == "dying" else "solid" for kind in kinds],
            linewidths=[usual * (2 if kind == "newborn" else 1) for kind in kinds],
            zorder=1,
        )
    )
    xy = at[[n[0] for n in nodes]].reshape(-1, 2)
    fates = [FATES[n[2]] for n in nodes]
    size = float(np.clip(2400 / max(len(at), 1), 12, 75))  # square points
    thin = float(np.clip(size / 75, 0.4, 1))
    fills = [BLANK if n[1] < 0 else drawn["tags"][n[1]][1] for n in nodes]
    axes.scatter(
        xy[:, 0],
        xy[:, 1],
        s=size * 1.7,
        c=BLANK,
        edgecolors=INK,
        linewidths=[WIDTH[f] * 0.7 * thin for f in fates],
        linestyles=[DASHED if f == "deleted" else "solid" for f in fates],
        zorder=2,
    )
    axes.scatter(xy[:, 0], xy[:, 1], s=size, c=fills, linewidths=0, zorder=3)
    radius = np.sqrt(1.7 * size) / 2  # points
    new = xy[[f == "inserted" for f in fates]]
    axes.scatter(new[:, 0], new[:, 1], s=4 * (radius + 2.2) ** 2, c="none", edgecolors=INK, linewidths=0.7, zorder=2)
    if size < 25:
        return  # too small for signs and letters
    aside = 0.72 * radius + 2.4
    upper_right = axes.transData + ScaledTranslation(aside / 72, aside / 72, axes.figure.dpi_scale_trans)
    for fate, sign in (("deleted", "_"), ("inserted", "+")):
        here = xy[[f == fate for f in fates]].T
        axes.scatter(*here, s=34, c=BLANK, edgecolors=INK, linewidths=0.7, transform=upper_right, zorder=5)
        axes.scatter(*here, s=14, c=INK, marker=sign, linewidths=0.9, transform=upper_right, zorder=6)
    for (x, y), (_, tag, fate, number, *_), fill in zip(xy, nodes, fills, strict=True):
        text = f"{number}{PRIME if fate in (1, 3) else ''}" if tag < 0 else drawn["tags"][tag][0]
        letter = {"fontsize": 0.72 * np.sqrt(size), "color": ink_on(fill), "ha": "center", "va": "center_baseline"}
        axes.text(x, y, text, zorder=4, **letter)


def draw_legend(figure: Any, drawn: dict[str, Any]) -> None:
    """Draw the legend of the outlines and edges that occur."""
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.lines import Line2D

    signs, words = [], []
    for i, fate in enumerate(FATES):
        if any(n[2] == i for n in drawn["nodes"]):
            signs.append(tuple(_sample(fate)))
            words.append(NODE_LEGEND[fate])
    for i, kind in enumerate(EDGES):
        if any(e[6] == i for e in drawn["edges"]):
            style, width = DASHED if kind == "dying" else "-", 2 if kind == "newborn" else 1
            signs.append((Line2D([], [], color=EDGE_INK, linestyle=style, linewidth=width),))
            words.append(EDGE_LEGEND[kind])
    look = {"loc": "outside lower center", "ncols": len(signs) or 1, "fontsize": 8, "frameon": False}
    figure.legend(signs, words, handler_map={tuple: HandlerTuple(ndivide=1, pad=0)}, **look)


def _sample(fate: str) -> list[Any]:
    """Return the outline of a node and its sign, for the legend."""
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.path import Path
    from matplotlib.transforms import IdentityTransform

    def ring(size: float, width: float) -> Any:
        style = DASHED if fate == "deleted" else "solid"
        look = {"facecolors": "none", "edgecolors": INK, "linewidths": width, "linestyles": [style]}
        return PathCollection([Path.unit_circle()], sizes=[size], transform=IdentityTransform(), **look)

    found = [ring(18, WIDTH[fate] * 0.7)]
    if fate == "inserted":
        found.append(ring(36, 0.7))
    if sign := {"deleted": "_", "inserted": "+"}.get(fate):
        found.append(Line2D([], [], linestyle="", marker=sign, markersize=4.5, color=INK))
    return found
