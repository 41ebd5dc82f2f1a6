import numpy as np
import pytest

from epic import FeatureCost, InputError, edit_path
from epic.data import lollipop_graph
from epic.view.layout import union_layout
from tests.graphs import random_graph


def test_each_picture_shows_its_graph(tmp_path):
    rng = np.random.default_rng(0)
    path = edit_path(random_graph(rng, 7, y=[0]), random_graph(rng, 5, y=[1]), FeatureCost(), seed=0)
    figure = path.plot(steps=4, path=tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 5000
    assert len(figure.axes) == 4
    for axes, k in zip(figure.axes, sorted({round(v) for v in np.linspace(0, len(path), 4)}), strict=True):
        lines, points = axes.collections
        assert len(points.get_offsets()) == path[k].num_nodes
        assert len(lines.get_segments()) == path[k].edge_index.shape[1]
        assert f"{path.fraction(k):.0%} of cost" in axes.get_xlabel()


def test_matched_nodes_share_a_place_and_all_are_on_the_page():
    path = edit_path(lollipop_graph(4, 3), lollipop_graph(5, 6), seed=0)
    place_s, place_t, at = union_layout(path)
    for op in path.operations:
        if op.kind == "substitute":
            assert place_s[op.source] == place_t[op.target]
    assert len(at) == 11 + 7 - sum(op.kind == "substitute" for op in path.operations)
    assert at.min() >= 0
    assert at.max() <= 1
    gaps = np.linalg.norm(at[:, None] - at[None], axis=2) + 9 * np.eye(len(at))
    assert gaps.min() > 0.03


@pytest.mark.parametrize("sizes", [(1, 1), (0, 3), (1, 0)])
def test_tiny_graphs_can_be_drawn(sizes, tmp_path):
    rng = np.random.default_rng(1)
    edit_path(*(random_graph(rng, n, edge_width=None) for n in sizes)).plot(path=tmp_path / "p.svg")


def test_one_step_is_refused():
    with pytest.raises(InputError, match="at least 2"):
        edit_path(lollipop_graph(3, 1), lollipop_graph(3, 2)).plot(steps=1)
