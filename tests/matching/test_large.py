"""Assignments of large pairs against exact ones, and what must hold of them whatever the costs."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from epic import Cost, FeatureCost, UnitCost, edit_distance, edit_path, pack
from epic.distance import pairs as room
from epic.distance.pairs import Pairs, assign_pairs, embed_all, node_distances, operation_costs, soft_distances
from epic.errors import InputError
from epic.matching import large
from epic.matching.large import assign_large
from epic.matching.reduced import EuclideanReducedCosts
from epic.matching.types import NodeCosts
from tests.conftest import without_numba
from tests.sample_graphs import random_graph

BOTH = {"i": torch.tensor([0]), "j": torch.tensor([1])}


def clustered(rng, n, m, *, width=16, clusters=12, noise=0.2, alike=0.0, precision=torch.float64):
    """Two graphs whose nodes lie about the same centres, a share of them right there."""
    centre = 3 * rng.normal(size=(clusters, width))
    kind = rng.integers(0, clusters, n + m)
    spread = rng.gamma(2.0, noise / 2, n + m) * (rng.random(n + m) >= alike)
    h = centre[kind] + spread[:, None] * rng.normal(size=(n + m, width))
    price = rng.uniform(0.5, 1.5, clusters)[kind] + 0.1 * spread
    h, price = torch.from_numpy(h).to(precision), torch.from_numpy(price).to(precision)
    return NodeCosts(h, price, price, torch.tensor([0, n, n + m]))


def in_parts(nodes):
    n, m = nodes.ptr.diff().tolist()
    return assign_large(EuclideanReducedCosts(nodes, nodes), u=0, n=n, v=n, m=m)


def cost_of(nodes, column):
    n, m = nodes.ptr.diff().tolist()
    pairs = Pairs(FeatureCost(), source=nodes, target=nodes, **BOTH)
    where = {"u": np.array([0]), "n": np.array([n]), "v": np.array([n]), "m": np.array([m])}
    return float(operation_costs(pairs, room.assignment_of(column, **where)).distance)


def exact_cost(nodes):
    return float(node_distances(Pairs(FeatureCost(), source=nodes, target=nodes, **BOTH), exact=True))


@pytest.fixture
def all_large(monkeypatch):
    """Every pair counts as large, and nothing has been said of that."""
    monkeypatch.setattr(room, "LARGE", 0)
    room._tell_of_large_pairs.cache_clear()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "nodes of large graphs")
        yield
    room._tell_of_large_pairs.cache_clear()


@given(st.integers(0, 10**6), st.integers(0, 300), st.integers(0, 300), st.sampled_from([0.0, 0.5, 1.0]))
def test_parts_give_an_assignment_near_the_cheapest(seed, n, m, alike):
    nodes = clustered(np.random.default_rng(seed), n, m, alike=alike)
    column = in_parts(nodes)
    kept = column[column >= 0]
    assert column.shape == (n,)
    assert kept.size == np.unique(kept).size
    assert ((column >= -1) & (column < m)).all()
    found, least = cost_of(nodes, column), exact_cost(nodes)
    assert least * (1 - 1e-9) - 1e-9 <= found <= least * 1.005 + 1e-9


@pytest.mark.parametrize(("n", "m"), [(900, 900), (1500, 600)])
def test_large_pairs_are_near_the_cheapest(n, m):
    for seed, alike in ((0, 0.0), (1, 0.7)):
        nodes = clustered(np.random.default_rng(seed), n, m, clusters=40, alike=alike)
        found, least = cost_of(nodes, in_parts(nodes)), exact_cost(nodes)
        assert least * (1 - 1e-9) <= found <= least * 1.01


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.4]))
def test_relabelling_changes_the_cost_by_ties_only(seed, alike):
    rng = np.random.default_rng(seed)
    nodes = clustered(rng, 150, 170, alike=alike)
    order = torch.from_numpy(np.concatenate([rng.permutation(150), 150 + rng.permutation(170)]))
    other = NodeCosts(nodes.embedding[order], nodes.deletion[order], nodes.insertion[order], nodes.ptr)
    close = 0.01 if alike else 1e-9  # rounding decides which of equally good partners a node gets
    assert cost_of(other, in_parts(other)) == pytest.approx(cost_of(nodes, in_parts(nodes)), rel=close)


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [3, 96, 700])
def test_parts_are_the_same_with_and_without_numba(precision, width):
    nodes = clustered(np.random.default_rng(0), 260, 330, width=width, alike=0.2, precision=precision)
    ours = in_parts(nodes)
    assert in_parts(nodes).tolist() == ours.tolist()
    with without_numba():
        assert in_parts(nodes).tolist() == ours.tolist()


def test_a_pair_has_its_own_answer(all_large):
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, n, density=0.05) for n in (90, 70, 120)]
    nodes = embed_all(FeatureCost(), pack(graphs))
    i, j = torch.tensor([0, 2, 1]), torch.tensor([1, 0, 1])
    whole = node_distances(Pairs(FeatureCost(), source=nodes, target=nodes, i=i, j=j))
    for p in range(3):
        alone = Pairs(FeatureCost(), source=nodes, target=nodes, i=i[p : p + 1], j=j[p : p + 1])
        assert float(node_distances(alone)) == pytest.approx(float(whole[p]), rel=1e-12)


@pytest.mark.parametrize("x", ["int", "onehot", None])
@pytest.mark.parametrize("cost", [UnitCost(), FeatureCost(), FeatureCost(edit=0.8)], ids=repr)
def test_categories_are_matched_exactly_in_parts(all_large, cost, x):
    rng = np.random.default_rng(0)
    for n, m in ((200, 180), (40, 200), (150, 150)):
        one, other = (random_graph(rng, k, density=4 / k, x=x, edge_width=None) for k in (n, m))
        assert cost.distance(one, other) == pytest.approx(cost.distance(one, other, exact=True), rel=1e-9)


class Own(Cost):
    """A cost of which nothing is known but its prices."""

    def embed(self, graphs):
        price = torch.ones(graphs.num_nodes)
        return NodeCosts(graphs.x.float(), price, price, graphs.ptr)

    def substitution(self, source, target):
        return 2 - (source[..., :, None, :] - target[..., None, :, :]).abs().amax(-1).clamp(max=2)  # far is cheap


def test_a_cost_without_metric_is_always_exact(all_large):
    rng = np.random.default_rng(0)
    one, other = random_graph(rng, 100), random_graph(rng, 90)
    room._tell_of_large_pairs.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Own().distance(one, other)
        assert edit_path(one, other, Own()).exact
    assert found == pytest.approx(Own().distance(one, other, exact=True))


def test_large_pairs_are_said_once_and_flagged(monkeypatch):
    rng = np.random.default_rng(0)
    one, other = random_graph(rng, 800, density=0.005), random_graph(rng, 760, density=0.005)
    room._tell_of_large_pairs.cache_clear()
    with pytest.warns(UserWarning, match="matched in parts") as said:
        path, again = (edit_path(one, other, FeatureCost(), seed=0) for _ in range(2))
    assert len(said) == 1
    assert not path.exact
    assert path.operations == again.operations
    least = edit_path(one, other, FeatureCost(), exact=True)
    assert least.exact
    assert least.distance <= path.distance <= least.distance * 1.03
    found = edit_distance(one, other, FeatureCost())
    assert found.lower <= least.distance <= found.upper == pytest.approx(path.distance)
    assert not found.exact
    assert float(path[len(path)].x.sum()) == pytest.approx(float(other.x.sum()), rel=1e-5)


def test_matrices_and_neighbours_of_large_graphs(all_large):
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, n, density=0.1) for n in (30, 80, 75, 40)]
    cost = FeatureCost()
    matrix, least = cost.distances(graphs), cost.distances(graphs, exact=True)
    assert torch.equal(matrix, matrix.T)
    assert (matrix >= least - 1e-4).all()
    assert (matrix <= 1.03 * least + 1e-4).all()
    assert matrix[1, 2] == pytest.approx(cost.distance(graphs[1], graphs[2]), rel=1e-5)
    near = cost.nearest(graphs, k=2)
    far = matrix.clone().fill_diagonal_(torch.inf)
    assert near.index.tolist() == far.argsort(dim=1, stable=True)[:, :2].tolist()
    assert cost.nearest(graphs, k=2, exact=True).distance.shape == (4, 2)


def test_small_pairs_are_exact_and_nothing_is_said(monkeypatch):
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, n, density=0.1) for n in (60, 90, 75)]
    nodes = embed_all(FeatureCost(), pack(graphs))
    pairs = Pairs(FeatureCost(), source=nodes, target=nodes, i=torch.tensor([0, 1]), j=torch.tensor([1, 2]))
    monkeypatch.setattr(room, "assign_large", lambda *_, **__: pytest.fail("a small pair was matched in parts"))
    assert assign_pairs(pairs).partner.tolist() == assign_pairs(pairs, exact=True).partner.tolist()


def test_exact_is_refused_where_edges_count():
    graph = random_graph(np.random.default_rng(0), 4)
    for call in (UnitCost().distance, UnitCost().distances, edit_path):
        with pytest.raises(InputError, match="method='exact'"):
            call(graph, graph, matching="edges", exact=True)


def test_soft_distances_of_large_pairs_have_the_same_gradient(monkeypatch):
    nodes = clustered(np.random.default_rng(0), 12, 9)
    grads = []
    for limit in (1 << 19, 0):
        monkeypatch.setattr(room, "LARGE", limit)
        h = nodes.embedding.clone().requires_grad_()
        given = NodeCosts(h, nodes.deletion, nodes.insertion, nodes.ptr)
        soft_distances(Pairs(FeatureCost(), source=given, target=given, **BOTH)).sum().backward()
        grads.append(h.grad)
    assert torch.equal(*grads)


def test_the_bound_of_large_pairs_is_that_of_the_whole_matrix(monkeypatch):
    nodes = clustered(np.random.default_rng(0), 50, 70)
    one = NodeCosts(*(t[:50] for t in (nodes.embedding, nodes.deletion, nodes.insertion)), torch.tensor([0, 50]))
    other = NodeCosts(*(t[50:] for t in (nodes.embedding, nodes.deletion, nodes.insertion)), torch.tensor([0, 70]))
    reduced = EuclideanReducedCosts(one, other)
    field = np.minimum(reduced(slice(0, 50), slice(0, 70)), 0)
    expected = min(-field.min(1).sum(), -field.min(0).sum())
    monkeypatch.setattr(large, "LARGE", 500)
    assert large.most_saved(reduced, n=50, m=70) == pytest.approx(expected)
