"""A graph coloured by what its nodes cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch_geometric.data import Data

from epic._io import PICTURES, write_figure
from epic.data.chemistry import molecule_of
from epic.errors import InputError, choose
from epic.view.formula import prepared
from epic.view.layout import graph_layout
from epic.view.names import Names, names_of, tags
from epic.view.style import ink_on

if TYPE_CHECKING:
    from epic.costs.base import Cost
    from epic.distance.explain import Explanation
    from epic.graphs.packed import Graphs

SHOWN = ("deletion", "insertion", "substitution")


def costs(
    graph: Data,
    cost: Cost | Explanation,
    *,
    reference: Graphs | None = None,
    path: str | Path | None = None,
    show: str | None = None,
    names: Names | str | None = None,
) -> Any:
    """Draw a graph, or a molecule, with each node coloured by its cost.

    Args:
        graph: The graph.
        cost: A cost, or what its ``explain`` returned for this graph.
        reference: Graphs to compare with, for substitution costs; not needed with an explanation.
        path: Where to save the figure: .png, .svg or .pdf.
        show: ``"deletion"``, ``"insertion"``, or ``"substitution"`` (the mean to the nodes of the reference graphs).
            By default substitution if there are reference graphs, deletion otherwise.
        names: What labels are called, as in :func:`epic.view.path_page`.

    Returns:
        The matplotlib ``Figure``.
    """
    explained: Any = cost.explain(graph, reference=reference) if hasattr(cost, "explain") else cost
    show = choose(show or ("deletion" if explained.substitution is None else "substitution"), SHOWN, "cost to show")
    if getattr(explained, show) is None:
        raise InputError("substitution costs are means over graphs to compare with: give them as reference=")
    if path is not None and Path(path).suffix.lower() not in PICTURES:
        raise InputError(f"cannot draw {path}: the name must end in {', '.join(PICTURES)}")
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize, to_hex
    from matplotlib.figure import Figure

    values = getattr(explained, show).numpy()
    if values.shape != (graph.num_nodes,):
        raise InputError(f"costs of {len(values)} nodes do not belong to a graph of {graph.num_nodes} nodes")
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if high - low <= 1e-9 * max(1.0, abs(high)):  # all equal: the middle colour
        low, high = low - 0.5, high + 0.5
    scale = ScalarMappable(Normalize(low, high), _light_cividis())
    figure = Figure(figsize=(5.6, 4.6), layout="constrained")
    axes = figure.add_subplot()
    called = names_of(names)
    mol = molecule_of(graph, called.chemistry)
    colours = scale.to_rgba(values)
    if mol is not None and graph.num_nodes:
        axes.imshow(_picture(mol, colours))
    else:
        _draw(axes, graph, [to_hex(c) for c in colours], called)
    axes.axis("off")
    what = {"substitution": "mean substitution cost to the reference"}.get(show, f"{show} cost")
    figure.colorbar(scale, ax=axes, label=what, shrink=0.8)
    axes.set_title(f"{graph.num_nodes} nodes, {what}", fontsize=10)
    if path is not None:
        write_figure(path, figure, dpi=150)
    return figure


def _light_cividis() -> Any:
    """Return the part of cividis on which black lines are visible."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["cividis"](np.linspace(0.38, 1.0, 256)), "light cividis")


def _picture(mol: Any, colours: np.ndarray) -> np.ndarray:
    """Return RDKit's drawing with highlighted atoms, as pixels."""
    from io import BytesIO

    from matplotlib.image import imread
    from rdkit.Chem.Draw import rdMolDraw2D
    from rdkit.Chem.rdDepictor import Compute2DCoords

    canvas: Any = rdMolDraw2D.MolDraw2DCairo(1000, 900)
    options = canvas.drawOptions()
    options.useBWAtomPalette()
    options.prepareMolsBeforeDrawing = False
    options.highlightRadius = 0.38
    options.fillHighlights = True
    atoms = list(range(mol.GetNumAtoms()))
    lit = {i: tuple(float(v) for v in colours[i][:3]) for i in atoms}
    drawable = prepared(mol)
    Compute2DCoords(drawable)
    canvas.DrawMolecule(drawable, highlightAtoms=atoms, highlightBonds=[], highlightAtomColors=lit)
    canvas.FinishDrawing()
    return imread(BytesIO(canvas.GetDrawingText()), format="png")


def _draw(axes: Any, graph: Data, colours: list[str], names: Names) -> None:
    """Draw a graph that is not a molecule."""
    from matplotlib.collections import LineCollection

    at = graph_layout(graph)
    axes.add_collection(LineCollection([at[e] for e in graph.edge_index.T.tolist()], colors="#777777", zorder=1))
    size = float(np.clip(9000 / max(len(at), 1), 30, 260))
    axes.scatter(at[:, 0], at[:, 1], s=size, c=colours or None, edgecolors="#555555", linewidths=0.8, zorder=2)
    for number, ((x, y), tag) in enumerate(zip(at, tags(graph, names), strict=True)):
        text = str(number) if tag is None else tag.text
        letter = {"fontsize": 0.55 * np.sqrt(size), "color": ink_on(colours[number]), "ha": "center", "va": "center"}
        axes.text(x, y, text, zorder=3, **letter)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.08)
    axes.invert_yaxis()
