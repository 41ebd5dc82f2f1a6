"""A path as a row of pictures, as in the paper's first figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from epic.errors import InputError
from epic.pack import matrix
from epic.view.layout import union_layout

if TYPE_CHECKING:
    from epic.path.edit_path import EditPath

# Okabe and Ito's colours, told apart by colour-blind readers; black first for what has no label.
COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#999999")
OUTLINE = {"source": "#444444", "substituted": "#0072B2", "inserted": "#009E73"}


def strip(path: EditPath, steps: int = 6) -> Any:
    """Draw ``steps`` graphs of a path, evenly spread from source to target.

    Nodes keep their place. Fill is the node's label (the largest entry of ``x``); the outline tells what became of it:
    grey, still as in the source; blue, substituted; green, inserted. Under each graph stand the step, the share of cost
    spent, and the soft label.
    """
    if steps < 2:
        raise InputError(f"steps must be at least 2 (source and target), got {steps}")
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    chosen = sorted({round(k) for k in np.linspace(0, len(path), steps)})
    place_s, place_t, at = union_layout(path)
    figure = Figure(figsize=(2.3 * len(chosen), 2.9), layout="constrained")
    for column, k in enumerate(chosen):
        graph = path[k]
        axes = figure.add_subplot(1, len(chosen), column + 1)
        places = [
            place_t[t] if t >= 0 else place_s[s]
            for s, t in zip(graph.source_node.tolist(), graph.target_node.tolist(), strict=True)
        ]
        xy = at[places].reshape(-1, 2)
        edges = graph.edge_index.T.tolist()
        axes.add_collection(
            LineCollection([(xy[a], xy[b]) for a, b in edges], colors="#888888", linewidths=1.0, zorder=1)
        )
        axes.scatter(xy[:, 0], xy[:, 1], s=70, c=_fill(graph), edgecolors=_outline(graph), linewidths=1.8, zorder=2)
        axes.set_title(_title(k, len(path)), fontsize=9)
        axes.set_xlabel(_caption(path, k), fontsize=8)
        axes.set_xlim(-0.08, 1.08)
        axes.set_ylim(-0.08, 1.08)
        axes.set_xticks([])
        axes.set_yticks([])
        for side in axes.spines.values():
            side.set_color("#DDDDDD")
    return figure


def _title(k: int, last: int) -> str:
    return "source" if k == 0 else "target" if k == last else f"step {k} of {last}"


def _caption(path: EditPath, k: int) -> str:
    text = f"{path.fraction(k):.0%} of cost"
    if path.source.get("y") is None:
        return text
    label = path.label(k)
    return text + "\n" + ("label " + " ".join(f"{v:.2f}" for v in label.tolist()) if label.numel() <= 6 else "")


def _fill(graph: Any) -> list[str]:
    x = None if graph.get("x") is None else matrix(graph.x).float()
    if x is None or x.shape[1] < 2:
        return ["#FFFFFF"] * graph.num_nodes
    return [COLOURS[i % len(COLOURS)] for i in x.argmax(1).tolist()]


def _outline(graph: Any) -> list[str]:
    kind = torch.where(graph.target_node < 0, 0, torch.where(graph.source_node >= 0, 1, 2)).tolist()
    return [tuple(OUTLINE.values())[k] for k in kind]
