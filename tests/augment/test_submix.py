from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data
from torch_geometric.utils import to_dense_adj, to_networkx

from epic import InputError
from epic.augment import SubMix
from epic.augment.submix import graft
from epic.graphs.convert import pack
from epic.testing import AugmentationTester
from epic.testing import augmented_graphs as made
from epic.testing import random_graphs as graphs
from tests.augment.test_regions import dense
from tests.sample_graphs import random_graph


class TestSubMix(AugmentationTester):
    def method(self):
        return SubMix(0.6, seed=0)


def both_ways(edges, **more):
    e = torch.tensor(edges).T
    return Data(edge_index=torch.cat([e, e.flip(0)], 1), **more)


def test_a_triangle_in_a_path_by_hand():
    line = both_ways([(0, 1), (1, 2), (2, 3)], x=torch.tensor([[0.0], [1], [2], [3]]), y=torch.tensor([[1.0, 0]]))
    ring = both_ways([(0, 1), (1, 2), (2, 0)], x=torch.tensor([[7.0], [8], [9]]), y=torch.tensor([[0.0, 1]]))
    # Ranks: 2, 1, ... in the line; 0, 1, 2 in the ring. The edge 1-2 goes, another comes: one of three.
    out = graft(pack([line, ring]), np.array([2, 1, 0, 3, 4, 5, 6]), np.array([2]))
    assert out.x[:, 0].tolist() == [0, 8, 7, 3]
    assert out.edge_index.T.tolist() == [[0, 1], [2, 3], [1, 0], [3, 2], [2, 1], [1, 2]]
    assert out.y.tolist() == [[pytest.approx(2 / 3), pytest.approx(1 / 3)]]
    # Three nodes: both edges among 0, 1, 2 go and a triangle comes: three of four.
    out = graft(pack([line, ring]), np.array([2, 1, 0, 3, 4, 5, 6]), np.array([3]))
    assert out.y.tolist() == [[0.25, 0.75]]


def slow_graft(one, other, old, new):
    """Node by node and edge by edge: features, edges with attributes, share."""
    x = one.x.clone()
    for a, b in zip(old, new, strict=True):
        x[a] = other.x[b]
    edges, came = [], 0
    for (u, v), a in zip(one.edge_index.T.tolist(), one.edge_attr.tolist(), strict=True):
        if not (u in old and v in old):
            edges.append((u, v, *a))
    for (u, v), a in zip(other.edge_index.T.tolist(), other.edge_attr.tolist(), strict=True):
        if u in new and v in new:
            edges.append((old[new.index(u)], old[new.index(v)], *a))
            came += 1
    return x, sorted(edges), came / len(edges) if edges else len(old) / one.num_nodes


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_as_the_slow_way_does_it(seed, directed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 9, size=6)
    both = [random_graph(rng, int(k), density=0.3, directed=directed, loops=True) for k in n]
    for g, data in enumerate(both):
        data.y = torch.tensor([[float(g < 3), float(g >= 3)]])
    packed = pack(both)
    order = np.concatenate([p + rng.permutation(k) for p, k in zip(packed.ptr.tolist(), n, strict=False)])
    size = np.array([rng.integers(0, min(n[i], n[i + 3]) + 1) for i in range(3)])
    out = graft(packed, order, size)
    assert out.edge_ptr[-1] == out.edge_index.shape[1]
    for i in range(3):
        p, q = int(packed.ptr[i]), int(packed.ptr[i + 3])
        old, new = (order[s : s + size[i]] - s for s in (p, q))
        x, edges, share = slow_graft(both[i], both[i + 3], old.tolist(), new.tolist())
        got = out.graph(i)
        assert torch.equal(got.x, x)
        found = zip(got.edge_index.T.tolist(), got.edge_attr.tolist(), strict=True)
        assert sorted((u, v, *a) for (u, v), a in found) == edges
        assert got.y[0].tolist() == pytest.approx([1 - share, share])


def test_regions_are_the_first_by_pagerank_paired_by_rank():
    rng = np.random.default_rng(1)
    originals = [random_graph(rng, n, density=0.3, edge_width=None, y=[n % 2]) for n in (14, 11)]
    sizes, ranks = set(), []
    for g, data in enumerate(originals):
        data.node = 100 * g + torch.arange(data.num_nodes)
        a = to_dense_adj(data.edge_index, max_num_nodes=data.num_nodes)[0].double().numpy()
        assert nx.is_connected(to_networkx(data, to_undirected=True))
        rank = [dense(a, root, 0.15) for root in range(data.num_nodes)]
        assert min(np.diff(np.sort(r)).min() for r in rank) > 1e-9
        ranks.append([np.argsort(-r).tolist() for r in rank])
    for seed in range(40):
        for out in made(SubMix(0.6, num_classes=2), originals, seed):
            g = int(out.num_nodes == 11)
            new = (out.node // 100 != g).nonzero()[:, 0].tolist()
            donors = {v: int(out.node[v]) - 100 * (1 - g) for v in new}
            k = len(new)
            sizes.add(k)
            mine = [r[:k] for r in ranks[g] if set(r[:k]) == set(new)]
            theirs = [r[:k] for r in ranks[1 - g]]
            assert any([donors[v] for v in r] in theirs for r in mine)
    assert sizes == set(range(1, 8))  # up to ceil(0.6 * 11)


def test_sizes_of_regions_are_even_up_to_p_of_the_smaller_graph():
    """Rings of 20 and 25 nodes: 0.4 of 20 are 8, so that U(0, 8), rounded up, is any of 1 to 8 alike."""
    rings = [both_ways([(v, (v + 1) % n) for v in range(n)], x=torch.full((n, 1), float(n))) for n in (20, 25)]
    packed = replace(pack(rings), y=torch.eye(2))
    out = SubMix(0.4).augment_graphs(packed, torch.tensor([0, 1]).repeat(1000), torch.Generator().manual_seed(0))
    new = out.x[:, 0] != out.sizes[out.graph_of_node]
    sizes = torch.bincount(out.graph_of_node[new], minlength=2000).numpy()
    assert set(sizes) == set(range(1, 9))
    assert abs(np.mean(sizes) - 4.5) < 5 * np.sqrt((8**2 - 1) / 12 / len(sizes))  # five standard deviations


def test_the_region_stays_within_the_component_of_the_root():
    # Two edges, far apart, beside a clique: with the root on an edge at most that edge can be replaced.
    pairs = both_ways([(0, 1), (2, 3)], x=torch.zeros(4, 1), y=torch.tensor([0]))
    clique = both_ways([(a, b) for a in range(6) for b in range(a)], x=torch.ones(6, 1), y=torch.tensor([1]))
    for seed in range(30):
        for out in made(SubMix(1.0, num_classes=2), [pairs, clique], seed):
            if out.num_nodes == 4:
                new = (out.x[:, 0] == 1).nonzero()[:, 0].tolist()
                assert new in ([0], [1], [2], [3], [0, 1], [2, 3])
            else:
                assert 1 <= int((out.x == 0).sum()) <= 2


def test_labels_without_edges_go_by_nodes():
    lone = [Data(edge_index=torch.zeros(2, 0, dtype=torch.long), x=torch.full((n, 1), float(n))) for n in (2, 3)]
    lone[0].y, lone[1].y = torch.tensor([[0.0, torch.nan]]), torch.tensor([[1.0, 1.0]])
    out = graft(pack(lone), np.arange(5), np.array([1]))
    assert out.y[0, 0] == 0.5
    assert torch.isnan(out.y[0, 1])
    unchanged = graft(pack([lone[1], lone[0]]), np.arange(5), np.array([0]))
    assert unchanged.y.tolist() == [[1.0, 1.0]]  # not NaN: nothing came from the other


def test_a_graph_is_never_its_own_partner():
    originals = graphs(5, nodes=6)
    for g, data in enumerate(originals):
        data.owner = torch.full((6,), g)
    partners = set()
    for seed in range(30):
        for out in made(SubMix(0.1, num_classes=3), originals, seed):  # one node of six
            owners, count = out.owner.unique(return_counts=True)
            assert sorted(count.tolist()) == [1, 5]
            partners.add(tuple(owners.tolist()))
    assert len(partners) == 10  # all pairs


def test_one_graph_alone_stays_what_it_is():
    (only,) = graphs(1)
    with pytest.warns(UserWarning, match="adds nothing to a batch of one"):
        out = SubMix(num_classes=3)(Batch.from_data_list([only]))
    assert out.num_graphs == 1
    assert not out.augmented.any()
    assert torch.equal(out.x, only.x)


def test_works_on_structure_alone():
    assert len(made(SubMix(num_classes=3), graphs(x=None))) == 12


def test_arguments_are_checked():
    with pytest.raises(InputError, match="p must lie between 0 and 1, got 2"):
        SubMix(2)
    with pytest.raises(InputError, match="restart must lie between 0 and 1"):
        SubMix(restart=1)
