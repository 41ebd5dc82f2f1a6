from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from epic.augment.regions import Regions, keep_first
from epic.graphs.convert import pack
from tests.sample_graphs import random_graph


def some(seed, count=4, **kind):
    rng = np.random.default_rng(seed)
    return pack([random_graph(rng, int(rng.integers(1, 10)), **kind) for _ in range(count)])


def drawn(graphs, seed=0):
    return Regions.of(graphs, torch.Generator().manual_seed(seed))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_components_and_distances_as_networkx_finds_them(seed, directed):
    graphs = some(seed, density=0.2, directed=directed)
    regions = drawn(graphs, seed)
    step = np.random.default_rng(seed).random(graphs.num_nodes)
    distance = regions.distance(step)
    whole = nx.Graph(graphs.edge_index.T.tolist())
    whole.add_nodes_from(range(graphs.num_nodes))
    parts = list(nx.connected_components(whole))
    assert len(parts) == regions.root.size
    for part in parts:
        (name,) = set(regions.component[list(part)])
        root = int(regions.root[name])
        assert root in part
        for node in part:
            length = nx.dijkstra_path_length(whole, root, node, weight=lambda u, v, d: step[v])
            assert distance[node] == pytest.approx(length)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_order_goes_graph_by_graph_and_component_by_component(seed):
    graphs = some(seed, density=0.15)
    regions = drawn(graphs, seed)
    score = np.random.default_rng(seed).integers(0, 3, graphs.num_nodes)
    order = regions.order(score)
    assert sorted(order) == list(range(graphs.num_nodes))
    assert np.array_equal(graphs.graph_of_node.numpy()[order], graphs.graph_of_node.numpy())
    names = regions.component[order]
    assert 1 + np.count_nonzero(np.diff(names)) == regions.root.size  # each component in one piece
    falls = np.diff(score[order]) < 0
    assert not (falls & (np.diff(names) == 0)).any()


def test_roots_are_drawn_from_all_nodes_not_reached_yet():
    # Components of 3, 2 and 1 nodes: which comes first, and which second?
    edges = torch.tensor([[0, 1, 3], [1, 2, 4]])
    copies = 6000
    graphs = pack([Data(edge_index=edges, num_nodes=6)]).select(torch.zeros(copies, dtype=torch.long))
    regions = drawn(graphs)
    order = regions.order(regions.distance(np.ones(graphs.num_nodes))).reshape(copies, 6) % 6
    size = np.array([3, 3, 3, 2, 2, 1])[order]
    turns = Counter((int(row[0]), int(row[row[0]])) for row in size)
    for (first, second), found in turns.items():
        assert found / copies == pytest.approx(first / 6 * second / (6 - first), abs=0.03)  # 5 standard deviations
    starts = np.bincount(order[:, 0], minlength=6) / copies
    assert starts == pytest.approx(np.full(6, 1 / 6), abs=0.025)


@pytest.mark.parametrize(
    ("share", "nodes", "kept"), [(0.55, 20, 11), (0.7, 10, 7), (0.2, 6, 2), (0.0, 5, 1), (1, 5, 5)]
)
def test_shares_are_rounded_up(share, nodes, kept):
    graphs = pack([random_graph(np.random.default_rng(0), nodes), random_graph(np.random.default_rng(1), 1)])
    assert keep_first(graphs, np.arange(nodes + 1), share).sizes.tolist() == [kept, 1]


def test_induced_subgraphs_have_all_edges_among_their_nodes():
    graphs = some(3, density=0.5)
    order = drawn(graphs).order()
    made = keep_first(graphs, order, 0.6)
    for g in range(len(graphs)):
        whole, part = graphs.graph(g), made.graph(g)
        first = int(graphs.ptr[g])
        nodes = sorted(order[first : first + part.num_nodes] - first)
        expected = to_networkx(whole).subgraph(nodes)
        back = {(nodes[u], nodes[v]) for u, v in part.edge_index.T.tolist()}
        assert back == set(expected.edges)
        assert torch.equal(part.x, whole.x[nodes])
