import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from epic import InputError, pack
from epic.augment import FGWMixup
from epic.augment.dense import Dense
from epic.augment.fgw_mixup import densest
from epic.testing import AugmentationTester
from tests.sample_graphs import random_graph

pytest.importorskip("ot", reason="the extra `ot` is not installed")


class TestFGWMixup(AugmentationTester):
    refuses = ("integer categories",)
    keeps_attributes = False
    keeps_features = False
    fit_options = {"progress": False}

    def method(self):
        return FGWMixup(ratio=0.5, seed=0)


def mixed(one, two, share, **options):
    packed = pack([one, two])
    return FGWMixup(**options).mix_pair(Dense.of(packed, 0), Dense.of(packed, 1), share)


def drawn(seed, directed=False, nodes=None):
    rng = np.random.default_rng(seed)
    return random_graph(rng, nodes or int(rng.integers(1, 8)), directed=directed, y=[0])


def edges(data):
    return {(u, v) for u, v in data.edge_index.T.tolist() if u != v}


def path_and_triangle():
    """Three nodes whose features say who is who."""
    x = torch.tensor([[0.0], [4.0], [8.0]])
    path = Data(x=x, edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), y=torch.tensor([0]))
    ends = torch.tensor([[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]])
    return path, Data(x=x + 1, edge_index=ends, y=torch.tensor([1]))


@pytest.mark.parametrize(("share", "there"), [(0.75, False), (0.25, True)])
def test_by_hand(share, there):
    """A path has 2 edges, a triangle 3: a mixture has the third edge if 2.25 or 2.75 are rounded up."""
    data = mixed(*path_and_triangle(), share)
    assert edges(data) == {(0, 1), (1, 0), (1, 2), (2, 1)} | ({(0, 2), (2, 0)} if there else set())
    assert data.x[:, 0].tolist() == pytest.approx([1 - share, 5 - share, 9 - share])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_a_graph_with_itself_is_itself(seed, share):
    """Up to the order of nodes; features are as decisive as edges."""
    graph = drawn(seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(graph.num_nodes))
    place = torch.argsort(order)
    other = Data(x=graph.x[order], edge_index=place[graph.edge_index], edge_attr=graph.edge_attr, y=graph.y)
    data = mixed(graph, other, share, structure=0.2)
    drawings = [to_networkx(g, node_attrs=["x"]) for g in (data, graph)]
    assert nx.is_isomorphic(*drawings, node_match=lambda u, v: np.allclose(u["x"], v["x"], atol=1e-4))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0, 1]), st.booleans())
def test_all_of_one_graph_is_that_graph(seed, share, directed):
    pair = drawn(seed, directed), drawn(seed + 1, directed)
    mine, data = pair[1 - share], mixed(*pair, float(share))
    assert edges(data) == edges(mine)
    assert torch.allclose(data.x, mine.x, atol=1e-6)
    attr = dict(zip(map(tuple, mine.edge_index.T.tolist()), mine.edge_attr, strict=True))
    for ends, value in zip(data.edge_index.T.tolist(), data.edge_attr, strict=True):
        assert torch.allclose(value, attr[tuple(ends)], atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1), st.booleans())
def test_size_and_density_are_mixed(seed, share, directed):
    """As many edges as the mixed density gives, but none whose entry is 0."""
    pair = drawn(seed, directed), drawn(seed + 1, directed)
    data, (n, m) = mixed(*pair, share), (g.num_nodes for g in pair)
    assert data.num_nodes == max(1, round(share * n + (1 - share) * m))
    density = share * len(edges(pair[0])) / n**2 + (1 - share) * len(edges(pair[1])) / m**2
    wanted = density * data.num_nodes**2
    assert data.num_edges == len(edges(data)), "no self-loops and no double edges"
    assert data.num_edges <= wanted + 1 + 1e-9
    if share in (0, 1) or (n == m and not directed):
        assert abs(data.num_edges - wanted) <= 1 + 1e-9
    both = [{(v, u) for u, v in edges(g)} == edges(g) for g in pair]
    if all(both):
        assert {(v, u) for u, v in edges(data)} == edges(data)


@given(st.integers(0, 1000), st.integers(1, 6), st.booleans(), st.integers(0, 40))
def test_densest_takes_the_largest(seed, nodes, symmetric, count):
    rng = np.random.default_rng(seed)
    a = rng.random((nodes, nodes)) * (rng.random((nodes, nodes)) < 0.6)
    a = a + a.T if symmetric else a
    u, v = densest(a, count)
    assert (u != v).all()
    taken = set(zip(u.tolist(), v.tolist(), strict=True))
    rest = [a[i, j] for i in range(nodes) for j in range(nodes) if i != j and (i, j) not in taken]
    assert min(a[u, v], default=np.inf) >= max(rest, default=0) - 1e-9
    assert a[u, v].min(initial=1) > 0
    possible = int((a > 0).sum() - (np.diag(a) > 0).sum())
    symmetric = bool((a == a.T).all())
    assert len(taken) == u.size == min(possible, 2 * round(count / 2) if symmetric else count)


def test_labels_have_the_shares_of_the_graphs():
    graphs = [drawn(k, nodes=5) for k in range(6)]
    for k, graph in enumerate(graphs):
        graph.y = torch.tensor([k])
    method = FGWMixup(5.0, ratio=1.0, seed=3).fit(graphs, progress=False)
    made = method(graphs)
    made = made.y[made.augmented]
    rows = {tuple(row) for row in made.sort(1).values[:, -2:].double().round(decimals=5).tolist()}
    shares = method.pool_.y[:, 2].float()
    assert rows == {
        tuple(row) for row in torch.stack([shares, 1 - shares], 1).sort(1).values.double().round(decimals=5).tolist()
    }
    assert ((made > 0).sum(1) == 2).all(), "of two different classes"


def test_shares_follow_beta():
    share = FGWMixup(0.2).draw_shares(20_000, torch.Generator().manual_seed(0))
    assert float(share.mean()) == pytest.approx(0.5, abs=0.01)
    assert float(share.var()) == pytest.approx(1 / (4 * (2 * 0.2 + 1)), abs=0.005)


@pytest.mark.parametrize("options", [{"alpha": 0}, {"structure": 1.5}, {"pool_size": 0}, {"pairs": "other"}])
def test_refuses_wrong_settings(options):
    with pytest.raises(InputError, match=next(iter(options))):
        FGWMixup(**options)
