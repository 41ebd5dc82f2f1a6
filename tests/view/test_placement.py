"""Where a path is drawn."""

import numpy as np
import pytest

from epic import FeatureCost, edit_path
from epic.data import lollipop_graph
from epic.data.smiles import molecule
from epic.view.layout import gaps, graph_layout
from epic.view.names import Names
from epic.view.placement import place
from tests.sample_graphs import random_graph


def test_matched_nodes_share_a_place():
    path = edit_path(lollipop_graph(4, 3), lollipop_graph(5, 6), seed=0)
    placed = place(path, Names())
    for op in path.operations:
        if op.kind == "substitute":
            assert op.source == placed.of_target[op.target]
    assert placed.drawings.shape[1] == 11 + 7 - sum(op.kind == "substitute" for op in path.operations)
    assert sorted(placed.of_target) == sorted(set(placed.of_target))


def test_both_ends_are_drawn_as_they_are_alone():
    rng = np.random.default_rng(2)
    path = edit_path(*(random_graph(rng, n, density=0.3) for n in (9, 12)), cost=FeatureCost(), seed=0)
    placed = place(path, Names())
    assert placed.drawings[0][:9] == pytest.approx(graph_layout(path.source))
    target = placed.drawings[-1][placed.of_target]
    wanted = [gaps(graph_layout(path.target, start)) for start in (None, target)]
    assert any(gaps(target) == pytest.approx(w, abs=0.1) for w in wanted)


def test_a_shared_scaffold_stays_where_it_is():
    """Toluene to benzoic acid, edges matched: the ring and its substituent do not move at all."""
    ends = [molecule(s) for s in ("Cc1ccccc1", "OC(=O)c1ccccc1")]
    path = edit_path(*ends, matching="edges", seed=0)
    placed = place(path, Names())
    shared = [op.source for op in path.operations if op.kind == "substitute"]
    assert len(shared) == 7
    for drawing in placed.drawings:
        assert drawing[shared] == pytest.approx(placed.drawings[0][shared], abs=0.02)
    ring = placed.drawings[0][1:7]
    assert np.linalg.norm(ring - ring.mean(0), axis=1) == pytest.approx(np.ones(6), abs=0.02)


@pytest.mark.parametrize("sizes", [(0, 0), (0, 3), (1, 1), (2, 0)])
def test_tiny_ends_have_their_places(sizes):
    rng = np.random.default_rng(0)
    placed = place(edit_path(*(random_graph(rng, n, edge_width=None) for n in sizes)), Names())
    assert placed.drawings.shape == (len(placed.drawings), max(sizes), 2)
    assert np.isfinite(placed.drawings).all()
