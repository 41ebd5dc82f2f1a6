from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import to_dense_adj

from epic import InputError
from epic.augment import IfMixup
from epic.augment.if_mixup import overlay
from epic.graphs.convert import pack
from epic.labels import soft_labels
from epic.testing import AugmentationTester
from epic.testing import random_graphs as graphs
from tests.sample_graphs import random_graph


class TestIfMixup(AugmentationTester):
    refuses = ("integer categories",)
    keeps_attributes = False

    def method(self):
        return IfMixup(seed=0)


def labelled(originals, num_classes=3):
    packed = pack(originals)
    return replace(packed, y=soft_labels(packed.y, num_classes))


def one(share, *pair):
    """The overlay of two graphs."""
    return overlay(labelled(pair), torch.tensor([0]), torch.tensor([1]), torch.tensor([share], dtype=torch.double))


def test_by_hand():
    """A path of three nodes over a single edge: the edge 0-1 is in both, 1-2 in the first only."""
    path = Data(
        x=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
        edge_attr=torch.tensor([1.0, 1.0, 5.0, 5.0]),
        y=torch.tensor([0]),
    )
    pair = Data(
        x=torch.tensor([[0.0, 4.0], [8.0, 0.0]]),
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        edge_attr=torch.tensor([3.0, 3.0]),
        y=torch.tensor([2]),
    )
    data = one(0.75, path, pair).graph(0)
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.edge_weight.tolist() == [1.0, 1.0, 0.75, 0.75]
    assert data.edge_attr.tolist() == [1.5, 1.5, 5.0, 5.0]
    assert data.x.tolist() == [[0.75, 1.0], [2.0, 0.75], [0.75, 0.75]]
    assert data.y.tolist() == [[0.75, 0.0, 0.25]]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1), st.booleans())
def test_it_is_the_average_of_padded_matrices(seed, share, directed):
    rng = np.random.default_rng(seed)
    pair = [
        random_graph(rng, int(rng.integers(1, 7)), directed=directed, loops=True, edge_width=1, y=[k]) for k in (0, 1)
    ]
    size = max(g.num_nodes for g in pair)
    want_a, want_x, want_e = np.zeros((size, size)), np.zeros((size, 3)), np.zeros((size, size))
    for g, part in zip(pair, (share, 1 - share), strict=True):
        want_x[: g.num_nodes] += part * g.x.numpy()
        for (u, v), e in zip(g.edge_index.T.tolist(), g.edge_attr[:, 0].tolist(), strict=True):
            want_a[u, v] += part
            want_e[u, v] += part * e
    data = one(share, *pair).graph(0)
    assert data.num_nodes == size
    if data.num_edges:
        got = to_dense_adj(data.edge_index, edge_attr=data.edge_weight, max_num_nodes=size)[0]
        np.testing.assert_allclose(got, want_a, atol=1e-6)
        got = to_dense_adj(data.edge_index, edge_attr=data.edge_weight * data.edge_attr[:, 0], max_num_nodes=size)[0]
        np.testing.assert_allclose(got, want_e, atol=1e-5)
    else:
        assert want_a.max() < 1e-6
    np.testing.assert_allclose(data.x, want_x, atol=1e-5)
    np.testing.assert_allclose(data.y, [[share, 1 - share, 0]], atol=1e-6)


def test_the_ends_are_the_graphs_themselves():
    first, second = graphs(2, nodes=5)
    data = one(1.0, first, second).graph(0)
    assert sorted(data.edge_index.T.tolist()) == sorted(first.edge_index.T.tolist())
    assert torch.equal(data.x, first.x)
    assert one(0.0, first, second).graph(0).y.tolist() == [[0.0, 1.0, 0.0]]


def test_weights_that_are_there_are_mixed():
    rng = np.random.default_rng(0)
    pair = [random_graph(rng, 4, density=1.0, y=[k]) for k in (0, 1)]
    for g, weight in zip(pair, (2.0, 6.0), strict=True):
        g.edge_weight = torch.full((g.num_edges,), weight)
    assert torch.allclose(one(0.25, *pair).edge["edge_weight"], torch.tensor(5.0))


def test_shares_are_those_of_beta():
    """Beta(20, 1) has the mean 20 / 21; a label's largest entry tells the share, as classes differ."""
    packed = labelled(graphs(2))
    many = IfMixup(seed=0, num_classes=3).augment_graphs(
        packed, torch.tensor([0]).repeat(4000), torch.Generator().manual_seed(0)
    )
    assert abs(float(many.y[:, 0].mean()) - 20 / 21) < 0.003
    assert torch.allclose(many.y.sum(1), torch.ones(4000))


def test_any_other_graph_may_be_the_partner():
    """A class for each graph, so that labels tell who met whom."""
    packed = labelled(graphs(5, num_classes=5), num_classes=5)
    method, found = IfMixup(1.0, num_classes=5), set()
    for seed in range(60):
        mixed = method.augment_graphs(packed, torch.arange(5), torch.Generator().manual_seed(seed))
        for g, label in enumerate(mixed.y):
            others = set(label.nonzero()[:, 0].tolist()) - {g}
            assert len(others) == 1, "a graph was mixed with itself"
            found.add((g, *others))
    assert found == set(permutations(range(5), 2))


def test_missing_tasks_stay_missing():
    packed = labelled([random_graph(np.random.default_rng(0), 4, y=[[0.0, float("nan")]]) for _ in range(2)])
    made = overlay(packed, torch.tensor([0]), torch.tensor([1]), torch.tensor([0.5]))
    assert made.y[0, 0] == 0
    assert made.y[0, 1].isnan()


def test_structure_alone_is_enough():
    originals = graphs(6, x=None, edge_width=None)
    out = IfMixup(num_classes=3, degree_features=False)(originals)
    assert out.num_graphs == 6
    assert float(out.edge_weight.min()) > 0


def test_a_lone_graph_stays():
    (only,) = graphs(1)
    with pytest.warns(UserWarning, match="adds nothing to a batch of one"):
        assert torch.equal(IfMixup(num_classes=3)([only]).edge_index, only.edge_index)


def test_refuses_a_wrong_strength():
    with pytest.raises(InputError, match="alpha must be a positive number, got 0"):
        IfMixup(0)
