import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

from epic import InputError
from epic.augment import GMixup
from epic.testing import AugmentationTester
from epic.testing import augmented_graphs as made
from epic.testing import random_graphs as graphs
from tests.sample_graphs import random_graph


class TestGMixup(AugmentationTester):
    refuses = ("integer categories",)
    keeps_attributes = False

    def method(self):
        return GMixup(ratio=0.5, seed=0)


def blocks(count=30):
    """Class 0: complete graphs of 6 nodes with features 0; class 1: six nodes without edges, features 1."""
    rng = np.random.default_rng(0)
    out = []
    for k in range(count):
        data = random_graph(rng, 6, density=1.0 - k % 2, x=None, edge_width=None, y=[k % 2])
        data.x = torch.full((6, 1), float(k % 2))
        out.append(data)
    return out


def test_labels_features_and_edges_are_mixed_by_one_share():
    """All nodes are alike here, so that features tell the share of class 1, which the label must tell too."""
    originals = blocks()
    method = GMixup(0.2, ratio=40, degree_features=False).fit(originals)
    near_full = near_empty = 0
    edges = []
    for data in made(method, originals):
        share = float(data.x[0, 0])
        assert torch.allclose(data.x, torch.tensor(share))
        assert torch.allclose(data.y, torch.tensor([[1 - share, share]]), atol=1e-6)
        assert 0.1 - 1e-6 <= min(share, 1 - share) <= 0.2 + 1e-6
        near_full += share < 0.5
        near_empty += share > 0.5
        edges.append(data.num_edges / 30 - (1 - share))  # the chance of an edge is the share of class 0
    assert near_full > 500
    assert near_empty > 500
    assert abs(np.mean(edges)) < 0.01


def test_degree_features_follow():
    originals = graphs(12, x=None, edge_width=None)
    for data in originals:
        data.x = torch.eye(20)[torch.bincount(data.edge_index[0], minlength=data.num_nodes)]
    for data in made(GMixup(ratio=1, degree_features=True).fit(originals), originals):
        assert torch.equal(data.x.argmax(1), torch.bincount(data.edge_index[0], minlength=data.num_nodes))


def test_structure_alone_is_enough():
    originals = graphs(12, x=None, edge_width=None)
    assert all(g.num_nodes > 0 for g in made(GMixup(ratio=1).fit(originals), originals))


def test_other_attributes_are_dropped_from_originals_too():
    originals = graphs(12)
    for data in originals:
        data.place = torch.arange(data.num_nodes)
    out = GMixup().fit(originals)(Batch.from_data_list(originals))
    assert "place" not in out
    assert out.num_graphs == 14


def test_fit_comes_first():
    with pytest.raises(InputError, match=r"call fit\(train\) first"):
        GMixup(num_classes=3)(graphs())


def test_real_values_are_refused():
    originals = [random_graph(np.random.default_rng(k), 4, y=[[0.5 * k]]) for k in range(4)]
    with pytest.raises(InputError, match="needs classes, but y holds real values such as 0"):
        GMixup().fit(originals)


def test_a_batch_unlike_the_fitted_graphs_is_refused():
    method = GMixup(ratio=1).fit(graphs())
    with pytest.raises(InputError, match="edge_attr of the batch has width None, but 2 in fit"):
        method(graphs(edge_width=None))
    other = [
        Data(x=torch.ones(2, 7), edge_index=g.edge_index[:, :0], edge_attr=g.edge_attr[:0], y=g.y) for g in graphs()
    ]
    with pytest.raises(InputError, match="x of the batch has width 7, but 3 in fit"):
        method(other)
    coded = [Data(**{**g.to_dict(), "x": g.x.long()}) for g in graphs()]
    with pytest.raises(InputError, match=r"x holds torch.int64 categories"):  # mixtures would be cut to whole numbers
        method(coded)
