import numpy as np
import pytest
from matplotlib.colors import to_hex

from epic import FeatureCost, InputError, edit_path
from epic.data import lollipop_graph
from epic.view.style import COLOURS, OUTLINE
from tests.sample_graphs import random_graph


def test_each_picture_shows_its_graph(tmp_path):
    rng = np.random.default_rng(0)
    ends = [random_graph(rng, n, x="onehot", y=[k]) for k, n in enumerate((7, 5))]
    path = edit_path(*ends, cost=FeatureCost(), seed=0)
    figure = path.plot(steps=4, path=tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 5000
    assert len(figure.axes) == 4
    for axes, k in zip(figure.axes, sorted({round(v) for v in np.linspace(0, len(path), 4)}), strict=True):
        lines, outlines, points = axes.collections
        graph, labels = path[k], sorted(path[k].x.argmax(1).tolist())
        assert len(points.get_offsets()) == graph.num_nodes
        assert len(lines.get_segments()) == len({(min(e), max(e)) for e in graph.edge_index.T.tolist()})
        assert f"{path.fraction(k):.0%} of cost" in axes.get_xlabel()
        assert f"label {path.label(k)[0]:.2f} {path.label(k)[1]:.2f}" in axes.get_xlabel()
        fills = [to_hex(c).upper() for c in points.get_facecolors()]
        assert sorted(fills) == sorted(COLOURS[i] for i in labels)
        assert sorted(t.get_text() for t in axes.texts) == [str(i) for i in labels]
        blue = [to_hex(c).upper() for c in outlines.get_edgecolors()].count(OUTLINE["substituted"])
        assert blue == int(((graph.source_node >= 0) & (graph.target_node >= 0)).sum())


@pytest.mark.parametrize("sizes", [(1, 1), (0, 3), (1, 0)])
def test_tiny_graphs_can_be_drawn(sizes, tmp_path):
    rng = np.random.default_rng(1)
    edit_path(*(random_graph(rng, n, edge_width=None) for n in sizes)).plot(path=tmp_path / "p.svg")
    assert "</svg>" in (tmp_path / "p.svg").read_text()


def test_one_step_is_refused():
    with pytest.raises(InputError, match="at least 2"):
        edit_path(lollipop_graph(3, 1), lollipop_graph(3, 2)).plot(steps=1)
