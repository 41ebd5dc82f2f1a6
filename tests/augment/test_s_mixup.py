from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import beta as beta_function

from epic import InputError
from epic.augment import SMixup
from epic.augment.s_mixup import blend, plans
from epic.graphs.convert import pack
from epic.nn.matching_network import blocks
from epic.testing import AugmentationTester
from epic.testing import augmented_graphs as made
from epic.testing import random_graphs as graphs
from tests.sample_graphs import random_graph

QUICK = {"epochs": 1, "triplets": 8, "progress": False}


class TestSMixup(AugmentationTester):
    refuses = ("integer categories",)
    keeps_attributes = False
    fit_options = QUICK

    def method(self):
        return SMixup(temperature=0.1, hidden_channels=8, num_layers=2, seed=0)


def slow(one, two, h1, h2, share, temperature, cut):
    """The formulas for one pair, with loops."""
    n, m = one.num_nodes, two.num_nodes
    cosine = np.zeros((n, m))
    for a in range(n):
        for b in range(m):
            cosine[a, b] = h1[a] @ h2[b] / np.linalg.norm(h1[a]) / np.linalg.norm(h2[b])
    plan = np.exp(cosine / temperature)
    plan /= plan.sum(0)

    def matrices(data):
        a, e = np.zeros((data.num_nodes,) * 2), np.zeros((data.num_nodes,) * 2 + (2,))
        for (u, v), value in zip(data.edge_index.T.tolist(), data.edge_attr.numpy(), strict=True):
            a[u, v], e[u, v] = 1, value
        return a, e

    (a1, e1), (a2, e2) = matrices(one), matrices(two)
    weight = share * a1 + (1 - share) * plan @ a2 @ plan.T
    x = share * one.x.numpy() + (1 - share) * plan @ two.x.numpy()
    edges = {}
    for u in range(n):
        for v in range(n):
            if weight[u, v] >= cut:
                total = share * a1[u, v] * e1[u, v]
                for i in range(m):
                    for j in range(m):
                        total = total + (1 - share) * plan[u, i] * a2[i, j] * plan[v, j] * e2[i, j]
                edges[u, v] = (weight[u, v], total / weight[u, v])
    return x, edges


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1.0, 0.1, 0.02]), st.booleans())
def test_against_loops(seed, temperature, directed):
    """Four graphs, 0 with 2 and 1 with 3, each way."""
    rng = np.random.default_rng(seed)
    four = [random_graph(rng, int(rng.integers(1, 7)), directed=directed, loops=seed % 2 == 0, y=[0]) for _ in range(4)]
    packed = pack(four)
    h = torch.from_numpy(rng.normal(size=(packed.num_nodes, 5)))
    share = torch.from_numpy(rng.uniform(0.5, 1, 4))
    cut = 0.0731
    got = blend(packed, h, blocks(packed.ptr), share, temperature, cut)
    assert got.ptr.tolist() == packed.ptr.tolist()
    rows = h.numpy()
    for g, data in enumerate(four):
        o = (g + 2) % 4
        mine, theirs = (rows[packed.ptr[k] : packed.ptr[k + 1]] for k in (g, o))
        x, edges = slow(data, four[o], mine, theirs, float(share[g]), temperature, cut)
        out = got.graph(g)
        np.testing.assert_allclose(out.x, x, atol=1e-5)
        assert sorted(map(tuple, out.edge_index.T.tolist())) == sorted(edges)
        for (u, v), weight, attr in zip(out.edge_index.T.tolist(), out.edge_weight, out.edge_attr, strict=True):
            np.testing.assert_allclose(float(weight), edges[u, v][0], atol=1e-5)
            np.testing.assert_allclose(attr, edges[u, v][1], atol=1e-4)


def test_plan_by_hand():
    """Two nodes against one: a column of two, with cosines 1 and 0; the other way the single row takes all."""
    h = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    (part,) = blocks(torch.tensor([0, 2, 3]))
    onto, back = plans(h, part, 1.0)
    e = np.e
    np.testing.assert_allclose(onto[0], [[e / (e + 1), 0], [1 / (e + 1), 0]], atol=1e-6)
    np.testing.assert_allclose(back[0], [[1, 1], [0, 0]], atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1.0, 0.01]))
def test_every_node_of_the_other_graph_is_shared_out_whole(seed, temperature):
    generator = torch.Generator().manual_seed(seed)
    size = torch.randint(1, 9, (10,), generator=generator)
    ptr = torch.cat([torch.zeros(1, dtype=torch.long), size.cumsum(0)])
    h = torch.nn.functional.normalize(torch.randn(int(ptr[-1]), 4, generator=generator), dim=1)
    for part in blocks(ptr, area=100):
        for plan, rows, columns in zip(plans(h, part, temperature), part.real, part.real.flip(0), strict=True):
            assert torch.allclose(plan.sum(1), columns.float(), atol=1e-5)
            assert bool((plan[~rows] == 0).all())


def test_labels_are_mixed_by_the_share():
    """Classes differ, so that a label tells the share of its own graph: at least half, which the cut never takes."""
    originals = graphs(2, x="onehot", edge_width=None)
    method = SMixup(hidden_channels=8, num_layers=1, seed=0, degree_features=False).fit(originals * 2, **QUICK)
    for seed in range(20):
        for data in made(method, originals, seed):
            top, share = int(data.y.argmax()), float(data.y.max())
            own = originals[top]
            assert data.num_nodes == own.num_nodes
            assert share >= 0.5
            assert abs(float(data.y.sum()) - 1) < 1e-6
            kept = dict(zip(map(tuple, data.edge_index.T.tolist()), data.edge_weight.tolist(), strict=True))
            for edge in map(tuple, own.edge_index.T.tolist()):
                assert kept[edge] >= share - 1e-5
            # M X2 keeps the mass of the other graph's features.
            want = share * own.x.sum(0) + (1 - share) * originals[1 - top].x.sum(0)
            assert torch.allclose(data.x.sum(0), want, atol=1e-4)


@pytest.mark.parametrize("alpha", [0.05, 1.0, 50.0])
def test_shares_are_those_of_beta(alpha):
    """The mean of max(b, 1 - b) is 0.5 plus the mean absolute deviation of Beta(alpha, alpha): 0.97, 0.75, 0.54."""
    originals = graphs(2, nodes=3, x="onehot")
    method = SMixup(alpha, hidden_channels=8, num_layers=1, seed=0).fit(originals * 2, **QUICK)
    packed = replace(pack(originals), y=torch.eye(2))
    out = method.augment_graphs(packed, torch.tensor([0, 1]).repeat(1000), torch.Generator().manual_seed(0))
    mean = 0.5 + 4**-alpha / (alpha * beta_function(alpha, alpha))
    assert abs(float(out.y.max(1).values.mean()) - mean) < 0.02  # standard deviation 0.003 at most


def test_both_directions_of_an_edge_live_or_go_together():
    originals = graphs(24, density=0.5)
    method = SMixup(temperature=0.1, hidden_channels=8, num_layers=2, seed=0).fit(originals, **QUICK)
    for data in made(method, originals):
        weight = dict(zip(map(tuple, data.edge_index.T.tolist()), data.edge_weight.tolist(), strict=True))
        assert all(weight[v, u] == w for (u, v), w in weight.items())


@pytest.mark.parametrize(
    ("count", "picked"), [(5, [4, 1, 0, 3, 2]), (2, [0, 1, 1, 0, 0, 1]), (3, [2]), (3, [1, 0, 2, 1, 2, 2, 1])]
)
def test_one_graph_for_each_that_is_picked(count, picked):
    originals = graphs(6, x="onehot")
    method = SMixup(hidden_channels=8, num_layers=1, seed=0).fit(originals, **QUICK)
    packed = pack(originals[:count])
    packed = replace(packed, y=torch.eye(count))  # a class for each, so that labels tell who met whom
    out = method.augment_graphs(packed, torch.tensor(picked), torch.Generator().manual_seed(0))
    assert out.sizes.tolist() == packed.sizes[picked].tolist()
    assert bool((out.y.argmax(1) == packed.y[picked].argmax(1)).all())
    assert bool((out.y.max(1).values < 1).all()), "a graph was mixed with itself"


def test_structure_alone_is_enough():
    originals = graphs(12, x=None, edge_width=None)
    out = SMixup(hidden_channels=8, num_layers=1).fit(originals, **QUICK)(originals)
    assert out.num_graphs == 12
    assert torch.isfinite(out.edge_weight).all()


def test_fit_comes_first():
    with pytest.raises(InputError, match=r"call fit\(train\) first"):
        SMixup(num_classes=3)(graphs())


def test_wrong_settings_are_named():
    with pytest.raises(InputError, match="temperature must be a positive number, got 0"):
        SMixup(temperature=0)
    with pytest.raises(InputError, match="unknown option of fit 'epoch'; did you mean 'epochs'"):
        SMixup().fit(graphs(), epoch=3)
    with pytest.raises(InputError, match="epochs must be positive, got 0"):
        SMixup().fit(graphs(), epochs=0)
