import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from epic import EdgeCost, FeatureCost, UnitCost, edit_distance
from epic._kernels import backend
from epic.distance.edges import PricedGraphs
from epic.distance.pairs import Pairs, embed_all, node_distances
from epic.graphs import pack
from epic.matching import edges as module
from epic.matching.edges import Edges, edge_edits
from tests.conftest import without_numba
from tests.distance.reference import edge_cost
from tests.sample_graphs import random_graph, random_graphs

seeds = st.integers(0, 2**31)


def priced(graphs, cost, edges):
    packed = pack(graphs)
    nodes = embed_all(cost, packed)
    return PricedGraphs.of(cost, edges, nodes, nodes, packed, packed)


def all_pairs(count):
    return torch.cartesian_prod(torch.arange(count), torch.arange(count)).T


KINDS = [
    {},
    {"directed": True},
    {"loops": True, "edge_width": 1},
    {"directed": True, "loops": True, "edge_width": None},
    {"nodes": 1},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("directed", [False, True])
def test_totals_are_those_of_a_slow_count(kind, directed, both_ways):
    graphs = random_graphs(5, seed=2, x="onehot", **kind)
    for g in graphs:
        if g.edge_attr is not None:
            g.edge_attr = g.edge_attr.round()
    i, j = all_pairs(5)
    price = EdgeCost(insertion=0.5, deletion=2.0, substitution=0.75, directed=directed)
    found = priced(graphs, UnitCost(), price).match(i, j, rounds=3)
    for p, (a, b) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        first, last = found.assignment.source_ptr[p : p + 2]
        match = found.assignment.partner[first:last]
        match = np.where(match >= 0, match - found.assignment.target_ptr[p], -1).tolist()
        slow = edge_cost(graphs[a], graphs[b], match, price=(0.5, 2.0, 0.75), directed=directed)
        assert found.edges.distance[p] == pytest.approx(slow)
        assert found.lower[p] <= float(found.distance[p]) + 1e-9
    assert found.distance[:: len(graphs) + 1] == pytest.approx(0)  # each with itself


@settings(max_examples=25)
@given(seeds, st.sampled_from([UnitCost(), FeatureCost()]), st.sampled_from([0.3, 1.0]), st.sampled_from(KINDS))
def test_with_and_without_numba_the_same(seed, cost, price, kind):
    if not backend.enabled():
        pytest.skip("needs numba: pip install 'epic-graph[fast]'")
    rng = np.random.default_rng(seed)
    graphs = random_graphs(4, seed=seed % 1000, x=str(rng.choice(["float", "onehot"])), **kind)
    g = priced(graphs, cost, EdgeCost(price))
    i, j = all_pairs(4)
    ours = g.match(i, j, rounds=4)
    with without_numba():
        theirs = g.match(i, j, rounds=4)
    assert ours.assignment.partner.tolist() == theirs.assignment.partner.tolist()
    assert ours.lower == pytest.approx(theirs.lower)


def test_a_pair_has_the_same_answer_in_any_company():
    graphs = random_graphs(6, seed=4, x="onehot", nodes=9)
    g = priced(graphs, UnitCost(), EdgeCost())
    i, j = all_pairs(6)
    together = g.match(i, j)
    for p in range(i.numel()):
        alone = g.match(i[p : p + 1], j[p : p + 1])
        first, last = together.assignment.source_ptr[p : p + 2]
        partner = together.assignment.partner[first:last]
        shift = together.assignment.target_ptr[p]
        assert np.where(partner >= 0, partner - shift, -1).tolist() == alone.assignment.partner.tolist()


def test_edges_of_other_graphs_have_no_say():
    graphs = random_graphs(6, seed=4, x="float", nodes=7, edge_width=1)
    stranger = random_graph(np.random.default_rng(0), 5, x="float", edge_width=1, y=[0])
    stranger.edge_attr = torch.full_like(stranger.edge_attr, 1e3)
    dear = EdgeCost(insertion=lambda a: a[:, 0].abs(), deletion=lambda a: 2 * a[:, 0].abs(), substitution=0.5)
    i, j = all_pairs(6)
    among, alone = (priced(some, FeatureCost(edit=2.0), dear).match(i, j) for some in ([*graphs, stranger], graphs))
    assert among.assignment.partner.tolist() == alone.assignment.partner.tolist()


@pytest.mark.skipif(not backend.enabled(), reason="needs numba: pip install 'epic-graph[fast]'")
def test_a_pair_that_is_long_and_thin_takes_little_memory():
    """A square of the longer side would have 36 GB."""
    many = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=70_000)
    one = Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=1)
    assert edit_distance(many, one, UnitCost(), method="edges") == 70_000
    assert edit_distance(one, many, UnitCost(), method="edges") == 70_000


def test_many_kinds_of_edges_are_matched_in_parts(monkeypatch):
    graphs = random_graphs(6, seed=5, x="onehot", edge_width=2)  # every edge is of a kind of its own
    g = priced(graphs, UnitCost(), EdgeCost())
    i, j = all_pairs(6)
    whole = g.match(i, j, rounds=2)
    monkeypatch.setattr("epic.distance.edges.CELLS", 300)
    assert len(g._runs(i.numpy(), j.numpy(), alone=np.zeros(36, bool))) > 6
    parts = g.match(i, j, rounds=2)
    assert parts.assignment.partner.tolist() == whole.assignment.partner.tolist()
    assert parts.distance.tolist() == pytest.approx(whole.distance.tolist())
    assert parts.edges.edits.tolist() == whole.edges.edits.tolist()


def test_more_rounds_never_cost_more():
    graphs = random_graphs(8, seed=6, x="onehot", nodes=12, edge_width=None)
    g = priced(graphs, UnitCost(), EdgeCost())
    i, j = all_pairs(8)
    few, some, many = (g.match(i, j, rounds=r).distance for r in (0, 10, 40))
    assert (some <= few + 1e-9).all()
    assert (many <= some + 1e-9).all()
    assert many.sum() < few.sum()


def test_edges_cost_less_than_where_only_nodes_count():
    graphs = random_graphs(8, seed=7, x="onehot", nodes=10, edge_width=None)
    g = priced(graphs, UnitCost(), EdgeCost())
    i, j = all_pairs(8)
    found = g.match(i, j)
    least = node_distances(Pairs(g.cost, source=g.a, target=g.b, i=i, j=j))
    assert (found.nodes.distance >= least - 1e-9).all()  # nodes give way to edges
    pairs, _ = g.pairs(i.numpy(), j.numpy())
    alone, _ = g.match(i, j, rounds=-1).assignment, None
    shift = alone.target_ptr[:-1].repeat(np.diff(alone.source_ptr))
    bipartite = edge_edits(pairs, np.where(alone.partner >= 0, alone.partner - shift, -1))
    assert found.edges.distance.sum() < 0.8 * bipartite.distance.sum()


def test_prices_scale_with_those_of_nodes():
    """Ten times the node costs, ten times everything: the same assignments."""
    graphs = random_graphs(5, seed=8, x="onehot")
    i, j = all_pairs(5)
    plain = priced(graphs, FeatureCost(1.0), EdgeCost()).match(i, j)
    scaled = priced(graphs, FeatureCost(1.0), EdgeCost(scale="nodes")).match(i, j)
    assert scaled.distance.tolist() == pytest.approx(plain.distance.tolist())
    big = [g.clone() for g in graphs]
    for g in big:
        g.x = g.x * 10
    large = priced(big, FeatureCost(10.0), EdgeCost(scale="nodes")).match(i, j)
    assert large.distance.tolist() == pytest.approx((10 * plain.distance).tolist())


def test_edges_as_they_are_read():
    """0 -> 1 one way, 1 <-> 2 both ways, a loop at 2; the edge 0 -> 1 is listed twice."""
    graph = random_graph(np.random.default_rng(0), 3, x="onehot", edge_width=None)
    graph.edge_index = torch.tensor([[0, 1, 2, 2, 0], [1, 2, 1, 2, 1]])
    graph.edge_attr = torch.tensor([[7.0], [8.0], [8.0], [9.0], [5.0]])
    found = Edges.of(pack(graph))
    assert found.ptr.tolist() == [0, 1, 3, 4]
    assert found.to.tolist() == [1, 0, 2, 1]
    carried = found.attributes[:, 0].tolist()
    ways = [tuple(carried[w - 1] if w else None for w in way) for way in found.ways.tolist()]
    assert [ways[c] for c in found.code] == [(7.0, None), (None, 7.0), (8.0, 8.0), (8.0, 8.0)]
    assert [ways[c] for c in found.loop] == [(None, None), (None, None), (9.0, 9.0)]


def test_infinity_forbids_a_substitution():
    class Never(UnitCost):
        def substitution(self, source, target):
            differ = super().substitution(source, target)
            return torch.where(differ > 0, torch.inf, differ)

    graphs = random_graphs(5, seed=9, x="onehot", edge_width=None)
    i, j = all_pairs(5)
    found = priced(graphs, Never(), EdgeCost()).match(i, j)
    a = found.assignment
    kept = np.flatnonzero(a.partner >= 0)
    x = torch.cat([g.x for g in graphs])
    assert kept.size > 20
    assert torch.equal(x[a.source[kept]], x[a.target[a.partner[kept]]])
    assert torch.isfinite(found.distance).all()


def test_the_compiled_loop_refuses_what_is_not_there():
    graphs = random_graphs(2, seed=1, x="onehot", edge_width=None)
    pairs, _ = priced(graphs, UnitCost(), EdgeCost()).pairs(np.array([0]), np.array([1]))
    for name, wrong in (("to", pairs.source.to + 99), ("code", pairs.source.code + 99)):
        broken = module.replace(pairs, source=module.replace(pairs.source, **{name: wrong}))
        with pytest.raises(IndexError, match="not there"):
            broken.match()
    vars(pairs)["field"] = pairs.field[:1]
    with pytest.raises(IndexError, match="not in the field"):
        pairs.match()
