"""The paper's figures, drawn from numbers that were measured: each function gives a picture and what it shows."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from epic.errors import InputError, choose
from epic.paper.experiments.lollipop import PARTS, PRINTED, SIGNS, Pattern
from epic.paper.figure_data import FigureData
from epic.paper.panels import Line, above, bar_panel, line_panel
from epic.paths.edit_path import EditPath
from epic.view.frames import frames
from epic.view.names import Names
from epic.view.strip import DASHED, draw_graph, draw_legend, step_title
from epic.view.style import CIVIDIS, COLOURS, EDGE, OUTLINE, WIDTH, ink_on

FORMATS = ("png", "pdf", "svg")
GREY = "#DDDDDD"
NOTE = "#555555"
ASSIGNMENT = {"sinkhorn": "Sinkhorn", "hungarian": "Hungarian (exact)"}


@dataclass(frozen=True)
class Drawn:
    """A matplotlib figure, the numbers in it, and where they come from."""

    figure: Any
    numbers: dict[str, Any]
    source: str

    def save(self, folder: Path, name: str, form: str = "png") -> tuple[Path, Path]:
        """Write the picture, and the numbers as JSON next to it."""
        picture, numbers = folder / f"{name}.{form}", folder / f"{name}.json"
        self.figure.savefig(picture, dpi=150)
        numbers.write_text(json.dumps({"figure": name, "source": self.source, **self.numbers}, indent=1) + "\n")
        return picture, numbers


def draw_path(path: EditPath, source: str, steps: int = 6) -> Drawn:
    """Draw graphs on the way from one class to another, and under each its soft label (paper: Figure 1)."""
    from matplotlib.figure import Figure

    chosen = _spread(path, steps)
    figure = Figure(figsize=(2.1 * len(chosen), 4.0), layout="constrained")
    grid = figure.add_gridspec(2, len(chosen), height_ratios=(4, 1.1))
    drawn = frames(path, Names())
    last = None
    for column, k in enumerate(chosen):
        _step(figure.add_subplot(grid[0, column]), drawn, path, k)
        last = figure.add_subplot(grid[1, column], sharey=last)
        _soft_label(last, path.label(k).tolist(), first=column == 0)
    draw_legend(figure, drawn)
    _note(figure, source)
    return Drawn(figure, _path_numbers(path, chosen), source)


def draw_correspondence(path: EditPath, source: str, steps: int = 6) -> Drawn:
    """Draw two lollipops with dashed lines between substituted nodes, and the path between them.

    This is the paper's figure of the qualitative analysis.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    chosen = _spread(path, steps)
    figure = Figure(figsize=(2.1 * len(chosen), 6.0), layout="constrained")
    grid = figure.add_gridspec(2, len(chosen), height_ratios=(3, 4))
    axes = figure.add_subplot(grid[0, :])
    ends = (path.source, path.target)
    places = [_lollipop_layout(g) + np.array(shift) for g, shift in zip(ends, ([0.0, 0.0], [0.6, 3.3]), strict=True)]
    pairs = [(op.source, op.target) for op in path.operations if op.source is not None and op.target is not None]
    axes.add_collection(
        LineCollection(
            [(places[0][a], places[1][b]) for a, b in pairs],
            colors=OUTLINE["substituted"],
            linestyles=[(0, (3, 2))],
            linewidths=0.9,
            alpha=0.8,
            zorder=1,
        )
    )
    for graph, at, taken, fate in zip(
        ends, places, ({a for a, _ in pairs}, {b for _, b in pairs}), ("deleted", "inserted"), strict=True
    ):
        _end(axes, graph, at, ["substituted" if u in taken else fate for u in range(graph.num_nodes)])
    for graph, at, name in zip(ends, places, ("source", "target"), strict=True):
        text = f"{name}: head of {int(graph.head.sum())} (orange), tail of {int((~graph.head).sum())} (blue)"
        axes.text(at[:, 0].max() + 0.7, at[-1, 1], text, fontsize=9, va="center", color=NOTE)
    axes.set_aspect("equal")
    axes.axis("off")
    every = np.concatenate(places)
    axes.set_xlim(every[:, 0].min() - 1, every[:, 0].max() + 6.5)
    axes.set_ylim(every[:, 1].max() + 0.5, every[:, 1].min() - 0.5)
    drawn = frames(path, Names())
    for column, k in enumerate(chosen):
        _step(figure.add_subplot(grid[1, column]), drawn, path, k)
    draw_legend(figure, drawn)
    _note(figure, source)
    kinds = [_part(path.source, a) + "-" + _part(path.target, b) for a, b in pairs]
    counts = {kind: kinds.count(kind) for kind in ("head-head", "head-tail", "tail-head", "tail-tail")}
    return Drawn(figure, {"substituted": pairs, "kinds": counts, **_path_numbers(path, chosen)}, source)


def draw_costs(patterns: Sequence[Pattern], source: str) -> Drawn:
    """Draw mean substitution costs by part of the lollipop, measured and printed (paper: appendix C)."""
    from matplotlib.figure import Figure

    if not patterns:
        raise InputError("there are no measured costs to draw")
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    printed = asdict(PRINTED)
    seeds = {name: [float(getattr(p, name)) for p in patterns] for name in printed}
    means = {name: float(np.mean(values)) for name, values in seeds.items()}
    for place, (sign, title) in enumerate(SIGNS.items(), 1):
        axes = figure.add_subplot(1, 2, place)
        names = [f"{sign}_{part}" for part in PARTS]
        bar_panel(axes, list(PARTS.values()), [printed[n] for n in names], [seeds[n] for n in names])
        axes.set_title(title, fontsize=10)
    figure.axes[0].set_ylabel("mean substitution cost (largest mean = 1)")
    figure.axes[0].legend(frameon=False, fontsize=9)
    _note(figure, source + (f"; dots: {len(patterns)} seeds" if len(patterns) > 1 else ""))
    return Drawn(figure, {"paper": printed, "mean": means, "seeds": seeds}, source)


def draw_curves(curves: Mapping[str, Mapping[str, Sequence[Mapping[str, Sequence[float]]]]], source: str) -> Drawn:
    """Draw training and validation loss of learning costs through Sinkhorn and through the exact assignment."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.6 + 2.9 * len(curves)), layout="constrained")
    for row, (dataset, by) in enumerate(curves.items()):
        shared = None
        for column, what in enumerate(("training", "validation"), 1):
            shared = axes = figure.add_subplot(len(curves), 2, 2 * row + column, sharey=shared)
            lines = [
                Line("_" * bool(number) + ASSIGNMENT[name], range(1, len(run[what]) + 1), run[what], place)
                for place, (name, runs) in enumerate(by.items(), 1)
                for number, run in enumerate(runs)
            ]
            line_panel(axes, lines, "epoch", "triplet loss" if column == 1 else "")
            axes.set_title(f"{dataset}: {what} loss", fontsize=10)
        axes.legend(frameon=False, fontsize=9)
        axes.set_ylim(bottom=0)  # shared; once all lines are there
    _note(figure, source)
    return Drawn(figure, {"losses": curves}, source)


def draw_blur(errors: Mapping[str, Mapping[int, float]], source: str) -> Drawn:
    """Draw how far the Sinkhorn assignment is from the exact one, by its number of iterations k (paper: appendix A)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.6), layout="constrained")
    axes = figure.add_subplot()
    lines = [
        Line(dataset, sorted(by), [by[k] for k in sorted(by)], place, dots=True)
        for place, (dataset, by) in enumerate(errors.items(), 1)
    ]
    top = 1.25 * max(v for by in errors.values() for v in by.values())
    line_panel(axes, lines, "Sinkhorn iterations k", "mean Frobenius norm of the difference", bounds=(0, top))
    axes.legend(frameon=False, fontsize=9, ncols=3, loc="upper center")
    _note(figure, source)
    return Drawn(figure, {"frobenius": {d: {str(k): v for k, v in by.items()} for d, by in errors.items()}}, source)


FIGURES: dict[str, Callable[[FigureData], Drawn]] = {
    "edit_path": lambda n: _of(draw_path, n.path()),
    "curves": lambda n: _of(draw_curves, n.curves()),
    "correspondence": lambda n: _of(draw_correspondence, n.positive_path()),
    "lollipop_costs": lambda n: _of(draw_costs, n.costs()),
    "blur": lambda n: _of(draw_blur, n.blur()),
}
"""By name, in the order of the paper."""


def draw(name: str, numbers: FigureData) -> Drawn:
    """One figure of the paper, from its numbers."""
    return FIGURES[choose(name, FIGURES, "figure")](numbers)


def _of(function: Callable[[Any, str], Drawn], measured: Any) -> Drawn:
    return function(measured.values, measured.source)


def _spread(path: EditPath, steps: int) -> list[int]:
    return sorted({round(k) for k in np.linspace(0, len(path), steps)})


def _path_numbers(path: EditPath, chosen: list[int]) -> dict[str, Any]:
    return {
        "distance": path.distance,
        "order": path.order,
        "operations": [asdict(op) for op in path.operations],
        "steps": [
            {
                "step": k,
                "share": path.fraction(k),
                "label": path.label(k).tolist(),
                "nodes": path[k].num_nodes,
                "edges": path[k].edge_index.shape[1] // 2,
            }
            for k in chosen
        ],
    }


def _step(axes: Any, drawn: dict[str, Any], path: EditPath, k: int) -> None:
    """One graph of the path, as on a strip."""
    draw_graph(axes, drawn, k)
    axes.set_title(step_title(k, len(path)), fontsize=9)
    axes.set_xlabel(f"{path.fraction(k):.0%} of cost", fontsize=8)
    axes.set_xlim(-0.09, 1.09)
    axes.set_ylim(1.09, -0.09)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color(GREY)


def _soft_label(axes: Any, label: list[float], first: bool) -> None:
    """A bar for each class."""
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
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _lollipop_layout(graph: Data) -> np.ndarray:
    """The head as a ring, and the tail as a straight line to the right of the node that it hangs on."""
    m, n = int(graph.head.sum()), int(graph.num_nodes or 0)
    turn = 2 * np.pi * (np.arange(m) - (m - 1)) / m  # the last node of the head looks right
    radius = 0.5 / np.sin(np.pi / max(m, 2)) * 1.15
    ring = radius * np.stack([np.cos(turn) - 1, np.sin(turn)], axis=1)
    return np.concatenate([ring, np.stack([np.arange(1, n - m + 1), np.zeros(n - m)], axis=1)])


def _end(axes: Any, graph: Data, at: np.ndarray, fates: list[str]) -> None:
    """A lollipop: heads and tails by fill, what becomes of a node by its outline."""
    from matplotlib.collections import LineCollection

    lines = [at[[a, b]] for a, b in graph.edge_index.T.tolist() if a < b]
    axes.add_collection(LineCollection(lines, colors=EDGE["kept"], linewidths=1.0, zorder=2))
    fills = [COLOURS[1] if head else COLOURS[0] for head in graph.head.tolist()]
    axes.scatter(
        at[:, 0],
        at[:, 1],
        s=150,
        c=fills,
        edgecolors=[OUTLINE[f] for f in fates],
        linewidths=[WIDTH[f] * 0.7 for f in fates],
        linestyles=[DASHED if f == "deleted" else "solid" for f in fates],
        zorder=3,
    )
    for u, (x, y) in enumerate(at):
        axes.text(x, y, str(u), fontsize=7, color=ink_on(fills[u]), ha="center", va="center_baseline", zorder=4)


def _part(graph: Data, node: int) -> str:
    return "head" if bool(graph.head[node]) else "tail"


def _note(figure: Any, text: str) -> None:
    """Where the numbers come from, in small print."""
    lines = textwrap.wrap(text, int(17 * figure.get_figwidth()))
    figure.suptitle("\n".join(lines), fontsize=7.5, color=NOTE, x=0.01, ha="left")
