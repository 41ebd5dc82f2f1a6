import networkx as nx
import numpy as np
import pytest
from torch_geometric.utils import to_networkx

from epic import edit_path
from epic.data import lollipop_graph
from epic.view.layout import graph_layout, steps_between, stress, union_layout
from tests.sample_graphs import random_graph


def test_matched_nodes_share_a_place_and_all_are_on_the_page():
    path = edit_path(lollipop_graph(4, 3), lollipop_graph(5, 6), seed=0)
    place_t, at = union_layout(path)
    for op in path.operations:
        if op.kind == "substitute":
            assert op.source == place_t[op.target]
    assert len(at) == 11 + 7 - sum(op.kind == "substitute" for op in path.operations)
    assert at.min() >= 0
    assert at.max() <= 1
    gaps = np.linalg.norm(at[:, None] - at[None], axis=2) + 9 * np.eye(len(at))
    assert gaps.min() > 0.03


def test_steps_are_those_of_networkx():
    graph = random_graph(np.random.default_rng(5), 12, 0.15, directed=True, loops=True)
    found = steps_between(graph)
    wanted = dict(nx.all_pairs_shortest_path_length(to_networkx(graph).to_undirected()))
    for a in range(12):
        for b in range(12):
            if b in wanted[a]:
                assert found[a, b] == wanted[a][b]
            else:
                assert 1 < found[a, b] < 12


def test_a_chain_is_drawn_straight_and_in_order():
    at = stress(steps_between(lollipop_graph(1, 9)), 200)
    gaps = np.linalg.norm(np.diff(at, axis=0), axis=1)
    assert gaps == pytest.approx(np.ones(9), abs=0.05)
    assert np.linalg.norm(at[-1] - at[0]) == pytest.approx(9, abs=0.3)


def test_the_same_graph_always_looks_the_same():
    graph = random_graph(np.random.default_rng(6), 15)
    assert np.array_equal(graph_layout(graph), graph_layout(graph))


@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_tiny_graphs_have_a_layout(nodes):
    at = graph_layout(random_graph(np.random.default_rng(0), nodes))
    assert at.shape == (nodes, 2)
    assert np.isfinite(at).all()
