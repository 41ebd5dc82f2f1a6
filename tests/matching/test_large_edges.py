"""Assignments of large pairs that count edges: what must hold of them, and how they compare with the dense method."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from epic import EdgeCost, FeatureCost, UnitCost, edit_distance, edit_path, pack
from epic._kernels import backend, regions
from epic.distance import pairs as room
from epic.distance.edges import PricedGraphs
from epic.distance.pairs import Pairs, embed_all, node_distances
from epic.matching import large_edges
from epic.matching.large import assign_large, most_saved
from tests.conftest import without_numba
from tests.distance.reference import edge_cost, node_cost
from tests.sample_graphs import random_graph

CLOSE = 1e-6
"""Matrices of Euclidean distances round more than prices taken one by one."""
I, J = torch.tensor([0]), torch.tensor([1])
KINDS = [
    {"edge_width": None},
    {"edge_width": 1},
    {"directed": True, "loops": True, "edge_width": None},
    {"loops": True, "edge_width": 1},
]


@pytest.fixture(autouse=True, scope="module")
def all_large():
    """Every pair counts as large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "LARGE", 0)
        room._tell_of_large_pairs.cache_clear()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "nodes of large graphs")
            room._tell_of_large_pairs()  # said once
        yield
        room._tell_of_large_pairs.cache_clear()


def draw(seed, kind, *, sizes=(45, 55), cost=None, price=1.0, x="onehot"):
    """Two random graphs with priced nodes and edges."""
    rng = np.random.default_rng(seed)
    sizes = [int(rng.integers(size // 2, size)) for size in sizes]
    graphs = [random_graph(rng, n, density=4 / n, x=x, **kind) for n in sizes]
    for g in graphs:
        if g.edge_attr is not None:
            g.edge_attr = g.edge_attr.round()
    cost, packed = cost or UnitCost(), pack(graphs)
    nodes = embed_all(cost, packed)
    return graphs, PricedGraphs.of(cost, EdgeCost.of(price), nodes, nodes, packed, packed)


def columns(found):
    return found.assignment.partner.tolist()


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from(KINDS),
    st.sampled_from([0.1, 1.0, 3.0]),
    st.sampled_from([UnitCost(), FeatureCost()]),
    st.integers(0, 6),
)
def test_the_cost_is_that_of_a_slow_count_and_never_rises(seed, kind, price, cost, rounds):
    (one, other), g = draw(seed, kind, cost=cost, price=price)
    found, first = g.match(I, J, rounds=rounds), g.match(I, J, rounds=0)
    match = columns(found)
    kept = [v for v in match if v >= 0]
    assert len(kept) == len(set(kept))
    nodes, n = g.a, one.num_nodes
    substitution = cost.substitution(nodes.embedding[:n], nodes.embedding[n:]).tolist()
    slow = node_cost(substitution, nodes.deletion[:n].tolist(), nodes.insertion[n:].tolist(), match)
    slow += edge_cost(one, other, match, price=(price,) * 3)
    assert float(found.distance[0]) == pytest.approx(slow, rel=CLOSE)
    assert float(found.distance[0]) <= float(first.distance[0]) * (1 + CLOSE)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.sampled_from([UnitCost(), FeatureCost()]))
def test_what_regions_gain_is_what_the_whole_gains(seed, kind, cost):
    (one, other), g = draw(seed, kind, cost=cost)
    p, base = g.pairs(I.numpy(), J.numpy())
    names, total = vars(regions) if backend.enabled() else regions.PLAIN, []
    improve = names["improve_region"]

    def counted(*args):
        total.append(improve(*args))
        return total[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(names, "improve_region", counted)
        end = g.match(I, J, rounds=4)
    begin = g.match(I, J, rounds=0)
    assert min(total) >= 0
    assert float(begin.distance[0] - end.distance[0]) == pytest.approx(sum(total), abs=1e-6)
    assert most_saved(large_edges.local_costs(p), n=one.num_nodes, m=other.num_nodes) <= float(base[0]) + 1e-9


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.sampled_from([UnitCost(), FeatureCost()]))
def test_regions_are_the_same_with_and_without_numba(seed, kind, cost):
    if not backend.enabled():
        pytest.skip("needs numba: pip install 'epic-graph[fast]'")
    _, g = draw(seed, kind, cost=cost, x="float")
    ours = columns(g.match(I, J, rounds=3))
    assert columns(g.match(I, J, rounds=3)) == ours
    with without_numba():
        assert columns(g.match(I, J, rounds=3)) == ours


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(KINDS))
def test_free_edges_give_the_matching_of_nodes(seed, kind):
    (one, other), g = draw(seed, kind, price=0.0)
    nodes = float(node_distances(Pairs(g.cost, source=g.a, target=g.a, i=I, j=J)))
    assert float(g.match(I, J).distance[0]) == pytest.approx(nodes)
    start = assign_large(g.pairs(I.numpy(), J.numpy())[0].reduced, u=0, n=one.num_nodes, v=one.num_nodes,
                         m=other.num_nodes)  # fmt: skip
    assert columns(g.match(I, J)) == start.tolist()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_regions_cost_about_as_much_as_whole_matrices(kind, monkeypatch):
    large, dense, start = [], [], []
    for seed in range(4):
        _, g = draw(seed, kind, sizes=(150, 150))
        start.append(float(g.match(I, J, rounds=0).distance[0]))
        large.append(float(g.match(I, J).distance[0]))
        with monkeypatch.context() as patch:
            patch.setattr(room, "LARGE", 1 << 19)
            dense.append(float(g.match(I, J).distance[0]))
    assert sum(large) <= 1.05 * sum(dense)
    assert sum(large) < 0.9 * sum(start)


def test_bounds_hold_the_exact_distance(monkeypatch):
    for seed in range(6):
        (one, other), _ = draw(seed, KINDS[seed % 4], sizes=(8, 8))
        found = edit_distance(one, other, method="edges")
        with monkeypatch.context() as patch:
            patch.setattr(room, "LARGE", 1 << 19)
            exact = edit_distance(one, other, method="exact", time_limit=20.0)
        assert exact.exact
        assert 0 < found.lower <= float(exact) + 1e-9
        assert float(exact) <= found.upper + 1e-9


def test_a_large_pair_has_its_own_answer_in_any_company(monkeypatch):
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, n, density=4 / n, x="onehot", edge_width=None) for n in (60, 12, 70, 9)]
    packed = pack(graphs)
    nodes = embed_all(UnitCost(), packed)
    g = PricedGraphs.of(UnitCost(), EdgeCost(), nodes, nodes, packed, packed)
    monkeypatch.setattr(room, "LARGE", 1000)  # two of the four pairs
    i, j = torch.tensor([0, 1, 2, 3]), torch.tensor([2, 3, 0, 1])
    whole = g.match(i, j, rounds=4)
    for p in range(4):
        alone = g.match(i[p : p + 1], j[p : p + 1], rounds=4)
        first, last = whole.assignment.source_ptr[p : p + 2]
        partner = whole.assignment.partner[first:last]
        assert np.where(partner >= 0, partner - whole.assignment.target_ptr[p], -1).tolist() == columns(alone)
    assert (whole.lower > 0).tolist() == [False, True, False, True]  # large pairs have none here


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_path_of_a_large_pair_joins_source_and_target(kind):
    (one, other), _ = draw(3, kind, sizes=(80, 60))
    path = edit_path(one, other, UnitCost(), matching="edges", seed=0)
    assert not path.exact
    for made, given_ in ((path[0], one), (path[len(path)], other)):
        assert made.num_nodes == given_.num_nodes
        assert made.num_edges == given_.num_edges
        assert sorted(map(tuple, made.x.tolist())) == sorted(map(tuple, given_.x.tolist()))
    assert torch.equal(path[0].x, one.x)
    assert torch.equal(path[0].edge_index, one.edge_index)
    total = edit_distance(one, other, UnitCost(), method="edges", edge_cost=EdgeCost(scale="nodes"))
    assert path.distance == pytest.approx(float(total), rel=0.05)  # two searches, each with its own ties


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(["onehot", "float"]))
def test_a_graph_meets_its_copy_in_another_order(seed, x):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 90))
    graph, order = random_graph(rng, n, density=3 / n, x=x, edge_width=None), torch.from_numpy(rng.permutation(n))
    copy = graph.clone()
    copy.x, copy.edge_index = graph.x[order], order.argsort()[graph.edge_index]
    assert float(edit_distance(graph, copy, method="edges")) == 0.0


def test_graphs_without_edges_or_nodes_are_matched():
    rng = np.random.default_rng(0)
    for n, m in ((0, 5), (5, 0), (0, 0), (40, 30)):
        graphs = [random_graph(rng, k, density=0.0 if k == n else 0.2, x="onehot", edge_width=None) for k in (n, m)]
        found = edit_distance(*graphs, method="edges")
        assert found.lower <= found.upper
        assert found.upper == pytest.approx(edit_distance(*graphs, method="nodes") + graphs[1].num_edges / 2)
