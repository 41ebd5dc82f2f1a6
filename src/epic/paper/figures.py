"""The paper's figures, drawn from numbers that were measured: each function gives a picture and what it shows."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from torch_geometric.data import Data

from epic._io import write_figure, write_text
from epic.errors import InputError, choose
from epic.paper.experiments.lollipop import PRINTED, SIGNS, Pattern, part_costs
from epic.paper.figure_data import FigureData, Numbers
from epic.paper.panels import above, bar_panel, blur_lines, line_panel, loss_lines
from epic.paths.edit_path import EditPath
from epic.view.frames import frames
from epic.view.names import Names
from epic.view.strip import DASHED, chosen_steps, draw_legend, draw_step
from epic.view.style import CIVIDIS, COLOURS, EDGE_INK, INK, WIDTH, ink_on

FORMATS = ("png", "pdf", "svg")
NOTE = "#555555"


@dataclass(frozen=True)
class Drawn:
    """A matplotlib figure, the numbers in it, and where they come from."""

    figure: Any
    numbers: dict[str, Any]
    source: str

    def save(self, folder: Path, name: str, form: str = "png") -> tuple[Path, Path]:
        """Write the picture, and the numbers as JSON next to it."""
        picture, numbers = folder / f"{name}.{form}", folder / f"{name}.json"
        write_figure(picture, self.figure, dpi=150)
        write_text(numbers, json.dumps({"figure": name, "source": self.source, **self.numbers}, indent=1) + "\n")
        return picture, numbers


def draw_path(path: EditPath, source: str, *, steps: int = 6) -> Drawn:
    """Draw graphs on the way from one class to another, and under each its soft label (paper: Figure 1)."""
    figure, grid, numbers = _path_figure(path, steps, height=4.0, ratios=(4, 1.1), row=0)
    last = None
    for column, step in enumerate(numbers["steps"]):
        last = figure.add_subplot(grid[1, column], sharey=last)
        _soft_label(last, step["label"], first=column == 0)
    return _drawn(figure, numbers, source)


def draw_correspondence(path: EditPath, source: str, *, steps: int = 6) -> Drawn:
    """Draw two lollipops with dashed lines between substituted nodes, and the path between them.

    This is the paper's figure of the qualitative analysis.
    """
    figure, grid, numbers = _path_figure(path, steps, height=6.0, ratios=(3, 4), row=1)
    axes = figure.add_subplot(grid[0, :])
    ends = (path.source, path.target)
    places = [_lollipop_layout(g) + np.array(shift) for g, shift in zip(ends, ([0.0, 0.0], [0.6, 3.3]), strict=True)]
    pairs = [(op.source, op.target) for op in path.operations if op.source is not None and op.target is not None]
    lines = [(places[0][a], places[1][b]) for a, b in pairs]
    look = {"colors": INK, "linestyles": [(0, (3, 2))], "linewidths": 0.9, "alpha": 0.8}
    axes.add_collection(LineCollection(lines, **look, zorder=1))
    named = (("source", "deleted", {a for a, _ in pairs}), ("target", "inserted", {b for _, b in pairs}))
    for graph, at, (name, fate, matched) in zip(ends, places, named, strict=True):
        _end(axes, graph, at, ["substituted" if u in matched else fate for u in range(graph.num_nodes)])
        text = f"{name}: head of {int(graph.head.sum())} (orange), tail of {int((~graph.head).sum())} (blue)"
        axes.text(at[:, 0].max() + 0.7, at[-1, 1], text, fontsize=9, va="center", color=NOTE)
    axes.set_aspect("equal")
    axes.axis("off")
    (left, top), (right, bottom) = (f(np.concatenate(places), axis=0) for f in (np.min, np.max))
    axes.set_xlim(left - 1, right + 6.5)
    axes.set_ylim(bottom + 0.5, top - 0.5)
    part = ("tail", "head")
    kinds = [f"{part[int(path.source.head[a])]}-{part[int(path.target.head[b])]}" for a, b in pairs]
    counts = {kind: kinds.count(kind) for kind in ("head-head", "head-tail", "tail-head", "tail-tail")}
    return _drawn(figure, {"substituted": pairs, "kinds": counts, **numbers}, source)


def draw_costs(patterns: Sequence[Pattern], source: str) -> Drawn:
    """Draw mean substitution costs by part of the lollipop, measured and printed (paper: appendix C)."""
    if not patterns:
        raise InputError("there are no measured costs to draw")
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    for place, (sign, title) in enumerate(SIGNS.items(), 1):
        axes = figure.add_subplot(1, 2, place)
        bar_panel(axes, *part_costs(patterns, sign))
        axes.set_title(title, fontsize=10)
    figure.axes[0].set_ylabel("mean substitution cost (largest mean = 1)")
    figure.axes[0].legend(frameon=False, fontsize=9)
    printed = asdict(PRINTED)
    seeds = {name: [float(getattr(p, name)) for p in patterns] for name in printed}
    means = {name: float(np.mean(values)) for name, values in seeds.items()}
    dots = f"; dots: {len(patterns)} seeds" if len(patterns) > 1 else ""
    return _drawn(figure, {"paper": printed, "mean": means, "seeds": seeds}, source, note=dots)


def draw_curves(curves: Mapping[str, Mapping[str, Sequence[Mapping[str, Sequence[float]]]]], source: str) -> Drawn:
    """Draw training and validation loss of learning costs through Sinkhorn and through the exact assignment."""
    figure = Figure(figsize=(8, 0.6 + 2.9 * len(curves)), layout="constrained")
    for row, (dataset, by) in enumerate(curves.items()):
        shared = None
        for column, what in enumerate(("training", "validation"), 1):
            shared = axes = figure.add_subplot(len(curves), 2, 2 * row + column, sharey=shared)
            line_panel(axes, loss_lines(by, what), "epoch", "triplet loss" if column == 1 else "")
            axes.set_title(f"{dataset}: {what} loss", fontsize=10)
        axes.legend(frameon=False, fontsize=9)
        axes.set_ylim(bottom=0)  # shared; once all lines are there
    return _drawn(figure, {"losses": curves}, source)


def draw_blur(errors: Mapping[str, Mapping[int, float]], source: str) -> Drawn:
    """Draw how far the Sinkhorn assignment is from the exact one, by its number of iterations k (paper: appendix A)."""
    figure = Figure(figsize=(5.2, 3.6), layout="constrained")
    axes = figure.add_subplot()
    top = 1.25 * max(v for by in errors.values() for v in by.values())
    y = "mean Frobenius norm of the difference"
    line_panel(axes, blur_lines(errors), "Sinkhorn iterations k", y, bounds=(0, top))
    axes.legend(frameon=False, fontsize=9, ncols=3, loc="upper center")
    return _drawn(figure, {"frobenius": {d: {str(k): v for k, v in by.items()} for d, by in errors.items()}}, source)


FIGURES: dict[str, tuple[Callable[[FigureData], Numbers], Callable[..., Drawn]]] = {
    "edit_path": (FigureData.path, draw_path),
    "curves": (FigureData.curves, draw_curves),
    "correspondence": (FigureData.positive_path, draw_correspondence),
    "lollipop_costs": (FigureData.costs, draw_costs),
    "blur": (FigureData.blur, draw_blur),
}
"""Where the numbers of a figure come from and what draws it, by name, in the order of the paper."""


def draw(name: str, data: FigureData) -> Drawn:
    """Draw one figure of the paper from its numbers."""
    numbers, function = FIGURES[choose(name, FIGURES, "figure")]
    return function(*numbers(data))


def _drawn(figure: Figure, numbers: dict[str, Any], source: str, *, note: str = "") -> Drawn:
    """Add where the numbers come from, in small print."""
    lines = textwrap.wrap(source + note, int(17 * figure.get_figwidth()))
    figure.suptitle("\n".join(lines), fontsize=7.5, color=NOTE, x=0.01, ha="left")
    return Drawn(figure, numbers, source)


def _path_figure(
    path: EditPath, steps: int, *, height: float, ratios: tuple[float, float], row: int
) -> tuple[Figure, Any, dict[str, Any]]:
    """Draw graphs of a path in one of two rows; return the figure, its grid, and the numbers of the path."""
    chosen = chosen_steps(path, steps)
    figure = Figure(figsize=(2.1 * len(chosen), height), layout="constrained")
    grid = figure.add_gridspec(2, len(chosen), height_ratios=ratios)
    drawn = frames(path, Names())
    for column, k in enumerate(chosen):
        draw_step(figure.add_subplot(grid[row, column]), drawn, path, k)
    draw_legend(figure, drawn)
    shown = [
        {
            "step": k,
            "share": path.fraction(k),
            "label": path.label(k).tolist(),
            "nodes": path[k].num_nodes,
            "edges": path[k].edge_index.shape[1] // 2,
        }
        for k in chosen
    ]
    operations = [asdict(op) for op in path.operations]
    return figure, grid, {"distance": path.distance, "order": path.order, "operations": operations, "steps": shown}


def _soft_label(axes: Any, label: list[float], first: bool) -> None:
    """Draw a bar for each class."""
    colours = [CIVIDIS[round(c * (len(CIVIDIS) - 1) / max(len(label) - 1, 1))] for c in range(len(label))]
    axes.bar(range(len(label)), label, color=colours, width=0.8, edgecolor="#777777", linewidth=0.5)
    for at, share in enumerate(label):
        if share > 0:
            axes.annotate(f"{share:.2f}", (at, share), **above(1.5))
    axes.set_xticks(range(len(label)), [str(c) for c in range(len(label))], fontsize=8)
    axes.set_xlabel("class", fontsize=8)
    axes.set_ylim(0, 1.35)
    axes.set_yticks([0, 0.5, 1])
    axes.tick_params(labelleft=first, labelsize=8, length=2)
    if first:
        axes.set_ylabel("soft label", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _lollipop_layout(graph: Data) -> np.ndarray:
    """Lay out the head as a ring, and the tail as a straight line to the right of the node that it hangs on."""
    m, n = int(graph.head.sum()), int(graph.num_nodes or 0)
    turn = 2 * np.pi * (np.arange(m) - (m - 1)) / m  # the last node of the head looks right
    radius = 0.5 / np.sin(np.pi / max(m, 2)) * 1.15
    ring = radius * np.stack([np.cos(turn) - 1, np.sin(turn)], axis=1)
    return np.concatenate([ring, np.stack([np.arange(1, n - m + 1), np.zeros(n - m)], axis=1)])


def _end(axes: Any, graph: Data, at: np.ndarray, fates: list[str]) -> None:
    """Draw a lollipop: heads and tails by fill, what becomes of a node by its outline."""
    lines = [at[[a, b]] for a, b in graph.edge_index.T.tolist() if a < b]
    axes.add_collection(LineCollection(lines, colors=EDGE_INK, linewidths=1.0, zorder=2))
    fills = [COLOURS[1] if head else COLOURS[0] for head in graph.head.tolist()]
    axes.scatter(
        at[:, 0],
        at[:, 1],
        s=150,
        c=fills,
        edgecolors=INK,
        linewidths=[WIDTH[f] * 0.7 for f in fates],
        linestyles=[DASHED if f == "deleted" else "solid" for f in fates],
        zorder=3,
    )
    for u, (x, y) in enumerate(at):
        axes.text(x, y, str(u), fontsize=7, color=ink_on(fills[u]), ha="center", va="center_baseline", zorder=4)
