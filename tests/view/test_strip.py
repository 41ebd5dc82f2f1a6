from importlib import import_module

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

from epic import FeatureCost, InputError, edit_path
from epic.data import lollipop_graph
from epic.view.style import COLOURS, EDGE_INK, INK, WIDTH
from tests.sample_graphs import random_graph


def test_each_picture_shows_its_graph(tmp_path):
    rng = np.random.default_rng(0)
    ends = [random_graph(rng, n, x="onehot", y=[k]) for k, n in enumerate((7, 5))]
    path = edit_path(*ends, cost=FeatureCost(), seed=0)
    figure = path.plot(steps=4, path=tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 5000
    assert len(figure.axes) == 4
    for axes, k in zip(figure.axes, sorted({round(v) for v in np.linspace(0, len(path), 4)}), strict=True):
        lines, outlines, points, rings, *signs = axes.collections
        graph, labels = path[k], sorted(path[k].x.argmax(1).tolist())
        assert len(points.get_offsets()) == graph.num_nodes
        assert len(lines.get_segments()) == len({(min(e), max(e)) for e in graph.edge_index.T.tolist()})
        assert f"{path.fraction(k):.0%} of cost" in axes.get_xlabel()
        assert f"label {path.label(k)[0]:.2f} {path.label(k)[1]:.2f}" in axes.get_xlabel()
        fills = [to_hex(c).upper() for c in points.get_facecolors()]
        assert sorted(fills) == sorted(COLOURS[i] for i in labels)
        assert sorted(t.get_text() for t in axes.texts) == [str(i) for i in labels]
        thin, thick, _, twofold = (round(0.7 * width, 2) for width in WIDTH.values())
        widths = [round(float(w), 2) for w in outlines.get_linewidths()]
        assert widths.count(thick) == int((graph.target_node >= 0).sum())  # substituted or inserted
        assert thick == twofold != thin
        inserted = graph.source_node < 0
        assert len(rings.get_offsets()) == int(inserted.sum())
        dashed = [dash is not None for _, dash in outlines.get_linestyles()]
        minus, plus = (len(signs[i].get_offsets()) for i in (1, 3))
        assert (minus, plus) == (dashed.count(True), int(inserted.sum()))


def test_colour_is_for_labels_alone():
    """What becomes of nodes and edges is drawn in one ink, in pictures and in the legend."""
    rng = np.random.default_rng(0)
    ends = [random_graph(rng, n, x="onehot") for n in (7, 5)]
    figure = edit_path(*ends, cost=FeatureCost(0.1), seed=0).plot(steps=4)
    inks = set()
    for axes in figure.axes:
        lines, outlines, _, rings, *signs = axes.collections
        for drawn in (lines, outlines, rings, *signs):
            inks |= {to_hex(c).upper() for c in drawn.get_edgecolors()}
    assert inks == {INK, EDGE_INK}
    (legend,) = figure.legends
    words = [text.get_text() for text in legend.get_texts()]
    assert {"to be deleted", "inserted", "in the source only", "in the target only"} <= set(words)
    signs = [a for a in legend.findobj() if isinstance(a, (PathCollection, Line2D))]
    inks = {
        to_hex(c).upper()
        for a in signs
        for c in (a.get_edgecolors() if hasattr(a, "get_edgecolors") else [a.get_color()])
    }
    assert inks == {INK, EDGE_INK}
    rings = [a for a in signs if isinstance(a, PathCollection)]  # a second shift would put them elsewhere
    assert all(np.array_equal(a.get_transform().get_matrix(), np.eye(3)) for a in rings)


def test_every_node_lies_in_its_frame(monkeypatch):
    """Nodes may swing out on their way, further than at both ends."""
    rng = np.random.default_rng(0)
    module = import_module("epic.view.strip")  # epic.view.strip is the function
    real = module.frames

    def swung(*arguments):
        drawn = real(*arguments)
        drawn["drawings"][len(drawn["drawings"]) // 2][:2] = [-2000, 3000]
        return drawn

    monkeypatch.setattr(module, "frames", swung)
    figure = edit_path(*(random_graph(rng, n, edge_width=None) for n in (9, 14)), seed=0).plot(steps=7)
    limits = set()
    for axes in figure.axes:
        (left, right), (below, above) = axes.get_xlim(), axes.get_ylim()
        x, y = np.asarray(axes.collections[2].get_offsets()).T
        assert left < x.min() <= x.max() < right
        assert above < y.min() <= y.max() < below
        limits.add((left, right, below, above))
    assert len(limits) == 1


@pytest.mark.parametrize("sizes", [(1, 1), (0, 3), (1, 0)])
def test_tiny_graphs_can_be_drawn(sizes, tmp_path):
    rng = np.random.default_rng(1)
    edit_path(*(random_graph(rng, n, edge_width=None) for n in sizes)).plot(path=tmp_path / "p.svg")
    assert "</svg>" in (tmp_path / "p.svg").read_text()


def test_one_step_is_refused():
    with pytest.raises(InputError, match="at least 2"):
        edit_path(lollipop_graph(3, 1), lollipop_graph(3, 2)).plot(steps=1)
