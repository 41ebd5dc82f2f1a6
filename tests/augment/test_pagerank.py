import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from torch_geometric.data import Data

from epic import InputError
from epic.augment import GraphCrop
from epic.augment.pagerank import by_pagerank, pagerank
from epic.augment.regions import Regions
from epic.graphs.convert import pack
from tests.sample_graphs import random_graph


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
    graphs = pack([random_graph(rng, nodes, density, loops=True, directed=bool(seed % 2)) for _ in range(3)])
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
