from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from epic import InputError
from epic.augment import GraphCrop
from epic.augment.regions import Regions, by_pagerank, keep_first, pagerank
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


def dense(adjacency, root, restart):
    """PageRank by a dense solve, for one graph; a node without neighbours keeps the walk."""
    degree = adjacency.sum(0)
    if degree[root] == 0:
        return np.eye(len(adjacency))[root]
    walk = adjacency / np.maximum(degree, 1)
    return np.linalg.solve(np.eye(len(adjacency)) - (1 - restart) * walk, restart * np.eye(len(adjacency))[root])


def test_two_nodes_by_hand():
    # p = 0.15 + 0.85 q and q = 0.85 p.
    found = pagerank(csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])), np.array([0]), 0.15)
    assert found == pytest.approx([0.15 / (1 - 0.85**2), 0.85 * 0.15 / (1 - 0.85**2)], abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([0.05, 0.2, 0.6]), st.sampled_from([0.05, 0.15, 0.6]))
def test_as_a_dense_solve_finds_it(seed, nodes, density, restart):
    rng = np.random.default_rng(seed)
    graphs = pack([random_graph(rng, nodes, density=density, loops=True, directed=bool(seed % 2)) for _ in range(3)])
    regions = Regions.of(graphs, torch.Generator().manual_seed(seed))
    found = pagerank(regions.neighbours, regions.root, restart)
    a = np.zeros((graphs.num_nodes, graphs.num_nodes))
    a[tuple(graphs.edge_index.numpy())] = 1
    a = np.maximum(a, a.T)
    expected = sum(dense(a, root, restart) for root in regions.root)
    assert found == pytest.approx(expected, abs=1e-9)
    assert np.bincount(regions.component, found) == pytest.approx(np.ones(regions.root.size))


def test_far_nodes_come_in_the_order_of_their_distance():
    n = 300  # ranks of the last nodes are far below what can be told apart
    line = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
    graphs = pack([Data(edge_index=torch.cat([line, line.flip(0)], 1), num_nodes=n)])
    order = by_pagerank(Regions.of(graphs, torch.Generator().manual_seed(5)), 0.15)
    for k in range(2, n):
        assert order[:k].max() - order[:k].min() == k - 1


@pytest.mark.parametrize("value", [0, 1, -0.1, 2])
def test_the_restart_is_a_true_share(value):
    with pytest.raises(InputError, match=f"restart must lie between 0 and 1.*{value}"):
        GraphCrop(restart=value)
