import networkx as nx
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.utils import to_networkx

from epic import InputError
from epic.augment import GEDMixup
from epic.data import lollipop
from epic.paths.edge_level import EdgePaths
from epic.testing import AugmentationTester
from epic.testing import augmented_graphs as made
from epic.testing import random_graphs as graphs


class TestGEDMixup(AugmentationTester):
    def method(self):
        return GEDMixup(seed=0, ratio=1)


def ring(n, y, edges=True):
    there = torch.arange(n)
    index = torch.stack([there, there.roll(1)])
    index = torch.cat([index, index.flip(0)], 1) if edges else index[:, :0]
    return Data(x=torch.ones(n, 1), edge_index=index, y=torch.tensor([y]))


def test_the_label_is_the_share_of_operations_done():
    """Five bare nodes to a ring of five: each edge is one operation of five."""
    method = GEDMixup(ratio=30, num_classes=2, degree_features=False)
    seen = set()
    for data in made(method, [ring(5, 0, edges=False), ring(5, 1)]):
        done = data.num_edges // 2
        assert data.y[0].tolist() == pytest.approx([1 - done / 5, done / 5])
        seen.add(done)
    assert seen == set(range(6))  # both ends and all between


@pytest.mark.slow
def test_shares_are_uniform_where_nothing_is_refused():
    method = GEDMixup(ratio=1000, num_classes=2, degree_features=False, pairs="different")
    share = torch.stack([g.y[0, 1] for g in made(method, 4 * [ring(5, 0, edges=False), ring(5, 1)])])
    counts = torch.bincount((5 * share).round().long(), minlength=6) / share.numel()
    # Rounding gives each end half of what each step between has.
    assert torch.allclose(counts, torch.tensor([0.1, 0.2, 0.2, 0.2, 0.2, 0.1]), atol=0.02)


def test_graphs_that_do_not_differ_are_mixed_by_the_draw():
    method = GEDMixup(ratio=200, num_classes=2, degree_features=False)
    out = made(method, [ring(4, 0), ring(4, 1)])
    assert all(g.num_edges == 8 for g in out)
    share = torch.stack([g.y[0, 1] for g in out])
    assert float(share.std()) == pytest.approx(12**-0.5, abs=0.03)


def connected(data):
    return nx.is_connected(nx.Graph(to_networkx(data)))


@pytest.mark.parametrize("tries", [1, 5])
def test_nothing_falls_apart_between_connected_graphs(tries, monkeypatch):
    data = lollipop(24, seed=0)
    method = GEDMixup(ratio=4, tries=tries, num_classes=4)
    out = made(method, data)
    assert all(connected(g) for g in out)
    assert sum(float(g.y.max()) < 1 for g in out) > 20
    # Without the check most of them would: what is tested does happen.
    monkeypatch.setattr(EdgePaths, "connected", lambda self, done, among: among)
    assert sum(not connected(g) for g in made(method, data)) > 20


def test_graphs_in_pieces_may_give_graphs_in_pieces():
    out = made(GEDMixup(ratio=4, num_classes=3), graphs(x="onehot", density=0.1))
    assert any(not connected(g) for g in out)


def test_degree_features_do_not_count_and_follow():
    data = [ring(4, 0), ring(7, 1), ring(5, 0, edges=False), ring(6, 1)]
    for g in data:
        g.x = torch.bincount(g.edge_index[0], minlength=g.num_nodes)[:, None].float()
    method = GEDMixup(ratio=10, degree_features=True).fit(data)
    for g in made(method, data):
        assert torch.equal(g.x[:, 0].long(), torch.bincount(g.edge_index[0], minlength=g.num_nodes))
    # 5 bare nodes against a ring of 6: 1 node and 6 edges; were degrees labels, 5 substitutions more.
    share = {round(float(g.y[0, 1]) * 7, 4) for g in made(method, data[2:])}
    assert share <= set(range(8))
    assert len(share) > 3


def test_empty_graphs_have_nothing_to_do_with_it():
    """Even if one end has no node, no graph is empty."""
    nothing = Data(x=torch.ones(0, 1), edge_index=torch.zeros(2, 0).long(), y=torch.tensor([0]))
    out = made(GEDMixup(ratio=50, num_classes=2, degree_features=False), [nothing, ring(3, 1)])
    assert len(out) == 100
    assert min(g.num_nodes for g in out) == 1


def test_missing_labels_stay_missing_only_where_they_have_a_part():
    data = graphs(6, x="onehot")
    for i, g in enumerate(data):
        g.y = torch.tensor([[float(i % 2), float("nan")]])
    out = GEDMixup(ratio=1).fit(data)(Batch.from_data_list(data))
    assert not torch.isnan(out.y[:, 0]).any()
    assert torch.isnan(out.y[:, 1]).all()


def test_without_features():
    data = graphs(8, x=None, edge_width=None)
    for g in made(GEDMixup(ratio=2, num_classes=3), data):
        assert g.num_nodes > 0
        assert float(g.y.sum()) == pytest.approx(1.0)


@pytest.mark.parametrize("wrong", [{"tries": 0}, {"pairs": "rnd"}, {"ratio": -1}])
def test_bad_settings(wrong):
    with pytest.raises(InputError, match=str(next(iter(wrong)))):
        GEDMixup(**wrong)
