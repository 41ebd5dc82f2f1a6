import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import to_dense_adj

from epic import InputError, pack
from epic.augment import GeoMix
from epic.augment.dense import Dense
from epic.testing import AugmentationTester, random_graphs
from tests.augment.test_fgw_mixup import drawn, path_and_triangle

ot = pytest.importorskip("ot", reason="the extra `ot` is not installed")


class TestGeoMix(AugmentationTester):
    refuses = ("integer categories",)
    keeps_attributes = False
    keeps_features = False
    fit_options = {"progress": False}

    def method(self):
        return GeoMix(seed=0)


def mixed(one, two, share, **options):
    packed = pack([one, two])
    method = GeoMix(**options)
    method.look(packed)
    return method.mix_pair(Dense.of(packed, 0), Dense.of(packed, 1), share)


def weights(data):
    return to_dense_adj(data.edge_index, edge_attr=data.edge_weight, max_num_nodes=data.num_nodes)[0].double().numpy()


def test_by_hand():
    """The third edge of the triangle has the triangle's share; the other two are in both."""
    data = mixed(*path_and_triangle(), 0.75, structure=0.5)
    assert weights(data).tolist() == [[0, 1, 0.25], [1, 0, 1], [0.25, 1, 0]]
    assert data.x[:, 0].tolist() == pytest.approx([0.25, 4.25, 8.25])


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_distances_to_both_ends_have_the_ratio_of_labels(share):
    """On a geodesic, the Gromov-Wasserstein distance to an end is what its label lacks of it; POT measures."""
    pair = path_and_triangle()
    one, two = (to_dense_adj(g.edge_index)[0].double().numpy() for g in pair)
    between = weights(mixed(*pair, share))

    def apart(a, b):
        return float(ot.gromov.gromov_wasserstein2(a, b, symmetric=True)) ** 0.5

    assert apart(between, one) == pytest.approx((1 - share) * apart(one, two), abs=1e-6)
    assert apart(between, two) == pytest.approx(share * apart(one, two), abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_a_graph_with_itself_is_itself(seed, share):
    graph = drawn(seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(graph.num_nodes))
    other = Data(
        x=graph.x[order], edge_index=torch.argsort(order)[graph.edge_index], edge_attr=graph.edge_attr, y=graph.y
    )
    data = mixed(graph, other, share, structure=0.2)
    assert torch.allclose(data.edge_weight, torch.ones(data.num_edges))
    drawings = [nx.Graph(g.edge_index.T.tolist()) for g in (data, graph)]
    assert nx.is_isomorphic(*drawings)
    assert torch.allclose(data.x.sort(0).values, graph.x.sort(0).values, atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9), st.floats(0, 1), st.booleans())
def test_masses_are_kept(seed, size, share, directed):
    """The mean of all entries of A and of all rows of X are those of both graphs, mixed."""
    pair = drawn(seed, directed), drawn(seed + 1, directed)
    data = mixed(*pair, share, size=size, cut=0.0)
    assert data.num_nodes == size
    parts = (share, 1 - share)
    mean = sum(p * g.num_edges / g.num_nodes**2 for p, g in zip(parts, pair, strict=True))
    assert weights(data).mean() == pytest.approx(mean, abs=1e-6)
    x = sum(p * g.x.mean(0) for p, g in zip(parts, pair, strict=True))
    assert torch.allclose(data.x.mean(0), x, atol=1e-5)
    if data.num_edges:
        brought = sum(p * g.edge_attr.sum(0) / g.num_nodes**2 for p, g in zip(parts, pair, strict=True))
        assert torch.allclose((data.edge_attr * data.edge_weight[:, None]).sum(0) / size**2, brought, atol=1e-5)


def test_light_edges_are_cut():
    pair = path_and_triangle()
    assert mixed(*pair, 0.75, cut=0.2).num_edges == 6
    assert mixed(*pair, 0.75, cut=0.3).num_edges == 4


def test_mixtures_have_the_average_size():
    graphs = random_graphs(9)
    mean = round(sum(g.num_nodes for g in graphs) / 9)
    assert set(GeoMix().fit(graphs, progress=False).pool_.sizes.tolist()) == {mean}
    assert set(GeoMix(size=4).fit(graphs, progress=False).pool_.sizes.tolist()) == {4}


def test_the_second_graph_has_a_small_share():
    share = GeoMix(0.3).draw_shares(10_000, torch.Generator().manual_seed(0))
    assert 0.7 <= float(share.min()) < 0.701
    assert float(share.mean()) == pytest.approx(0.85, abs=0.005)


def test_partners_are_near_in_size():
    graphs = [drawn(k, nodes=3 + 5 * (k % 2)) for k in range(40)]
    for k, graph in enumerate(graphs):
        graph.y = torch.tensor([k // 20])
    one, two = GeoMix().fit(graphs, progress=False).pool_.y[:, :2].long().T
    sizes = torch.tensor([g.num_nodes for g in graphs])
    assert float((sizes[one] == sizes[two]).double().mean()) > 0.9  # one of eight is, but for 1 of 256
    assert ((one < 20) != (two < 20)).all()


@pytest.mark.parametrize("options", [{"share": -0.1}, {"structure": 2}, {"size": 0}, {"cut": -1}])
def test_refuses_wrong_settings(options):
    with pytest.raises(InputError, match=next(iter(options))):
        GeoMix(**options)
