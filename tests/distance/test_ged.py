import pickle

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from epic import EdgeCost, FeatureCost, InputError, UnitCost, edit_distance
from epic.distance.ged import METHODS
from tests.distance.reference import brute_force, edge_cost, justice_hero, node_cost, unit_prices
from tests.sample_graphs import random_graph

seeds = st.integers(0, 2**31)


def two(seed, most=4, count=2, **kind):
    rng = np.random.default_rng(seed)
    kind = {"x": "onehot", "edge_width": None, "density": float(rng.choice([0.3, 0.6])), **kind}
    made = [random_graph(rng, int(rng.integers(1, most + 1)), **kind) for _ in range(count)]
    for g in made:
        if g.edge_attr is not None:
            g.edge_attr = g.edge_attr.round()  # some are equal
    return made


@settings(max_examples=60)
@given(seeds, st.booleans(), st.booleans(), st.booleans(), st.sampled_from([(1, 1, 1), (0.5, 2, 0.7), (1, 1, 5)]))
def test_exact_is_the_least_over_all_assignments(seed, attributes, directed, loops, price):
    one, other = two(seed, edge_width=1 if attributes else None, directed=directed, loops=loops)
    edges = EdgeCost(insertion=price[0], deletion=price[1], substitution=price[2], directed=directed)
    found = edit_distance(one, other, method="exact", edge_cost=edges)
    prices = unit_prices(one, other)
    assert found.exact
    assert found == pytest.approx(brute_force(one, other, *prices, price=price, directed=directed))
    spent = node_cost(*prices, found.match) + edge_cost(one, other, found.match, price=price, directed=directed)
    assert found.upper == pytest.approx(spent)


@settings(max_examples=60)
@given(seeds, st.booleans())
def test_bounds_hold_and_methods_come_close(seed, attributes):
    one, other = two(seed, most=6, edge_width=1 if attributes else None)
    exact = edit_distance(one, other, method="exact")
    for method in METHODS:
        found = edit_distance(one, other, method=method)
        assert found.lower <= exact + 1e-9, method
        assert method == "nodes" or found.upper >= exact - 1e-9
    near = edit_distance(one, other, method="edges")
    assert near <= edit_distance(one, other, method="bipartite") + 1e-9
    assert near <= 1.25 * exact


@pytest.mark.slow
def test_edges_is_nearly_always_exact_on_small_graphs():
    pairs = [two(seed, most=7) for seed in range(150)]
    exact, near = (np.array([edit_distance(*p, method=m) for p in pairs]) for m in ("exact", "edges"))
    assert (near >= exact - 1e-9).all()
    assert (near < exact + 1e-9).mean() >= 0.97
    assert near.sum() <= 1.005 * exact.sum()


@pytest.mark.parametrize("seed", range(8))
def test_exact_equals_the_binary_linear_program(seed):
    one, other = two(seed)
    assert edit_distance(one, other, method="exact") == pytest.approx(justice_hero(one, other))


@settings(max_examples=40)
@given(seeds)
def test_symmetric_costs_give_symmetric_distances(seed):
    one, other = two(seed, most=6, edge_width=1)
    for method in ("exact", "hausdorff"):
        there, back = (edit_distance(*pair, method=method) for pair in ((one, other), (other, one)))
        assert there == pytest.approx(back)


@settings(max_examples=40)
@given(seeds)
def test_exact_distances_keep_the_triangle_inequality(seed):
    a, b, c = two(seed, most=5, count=3, edge_width=1)
    ab, bc, ac = (edit_distance(*pair, method="exact") for pair in ((a, b), (b, c), (a, c)))
    assert ac <= ab + bc + 1e-9
    assert edit_distance(a, a, method="exact") == 0


@settings(max_examples=40)
@given(seeds)
def test_relabelling_nodes_changes_nothing(seed):
    one, other = two(seed, most=7)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(one.num_nodes))
    moved = Data(x=one.x[order], edge_index=order.argsort()[one.edge_index])
    assert edit_distance(moved, other, method="exact") == edit_distance(one, other, method="exact")
    assert edit_distance(moved, one, method="edges") == 0 or one.num_nodes > 6


@settings(max_examples=40)
@given(seeds, st.sampled_from([UnitCost(), FeatureCost()]))
def test_free_edges_leave_the_distance_of_nodes(seed, cost):
    one, other = two(seed, most=8, x="float", edge_width=2)
    nodes = edit_distance(one, other, cost)
    assert nodes == cost.distance(one, other)
    free = edit_distance(one, other, cost, method="edges", edge_cost=0.0)
    assert free == pytest.approx(nodes)
    assert free.match == nodes.match
    assert free.exact
    assert edit_distance(one, other, cost, method="exact", edge_cost=0.0) == pytest.approx(nodes)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sizes", [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_empty_and_single_nodes(method, sizes):
    one, other = (Data(x=torch.ones(n, 1), edge_index=torch.zeros(2, 0, dtype=torch.long)) for n in sizes)
    found = edit_distance(one, other, method=method)
    assert found == sum(sizes) * (sizes != (1, 1))


def test_a_time_limit_leaves_true_bounds():
    rng = np.random.default_rng(3)
    one, other = (random_graph(rng, 30, density=0.3, x="onehot", edge_width=None) for _ in range(2))
    found = edit_distance(one, other, method="exact", time_limit=0.2)
    assert not found.exact
    assert edit_distance(one, other, method="bipartite").lower <= found.lower < found.upper
    assert found <= edit_distance(one, other, method="edges")
    assert found.seconds < 20


def test_the_result_is_a_number_that_does_not_change():
    one, other = two(1, most=6)
    found = edit_distance(one, other, method="edges")
    assert isinstance(found, float)
    assert found + 1 == float(found) + 1
    assert found.lower <= found.upper == float(found)
    assert str(float(found)) in f"{float(found)}"
    assert "edges" in repr(found)
    with pytest.raises(AttributeError, match="does not change"):
        found.lower = 0
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.match == found.match


def test_hausdorff_of_a_worked_example():
    """A path of three against a triangle: two ends lack an edge, seen from both sides at a quarter each."""
    found = edit_distance(nx.path_graph(3), nx.complete_graph(3), method="hausdorff")
    assert found == pytest.approx(2 * 1 / 4)
    assert found.upper == np.inf
    assert found.match is None
    assert not found.exact


def test_networkx_graphs_of_every_kind():
    one, other = nx.path_graph(3), nx.Graph([(0, 1)])
    assert edit_distance(one, other, method="exact") == 2
    nx.set_node_attributes(one, "C", "element")
    nx.set_node_attributes(other, {0: "C", 1: "N"}, "element")
    assert edit_distance(one, other, method="exact") == 3
    nx.set_edge_attributes(one, 1.5, "order")
    nx.set_edge_attributes(other, 1.0, "order")
    assert edit_distance(one, other, method="exact") == 4
    assert edit_distance(nx.DiGraph([(0, 1)]), nx.DiGraph([(0, 1), (1, 0)]), method="exact") == 1


def test_wrong_arguments_are_named():
    one, other = two(0)
    with pytest.raises(InputError, match="unknown method 'edge'; did you mean 'edges'"):
        edit_distance(one, other, method="edge")
    with pytest.raises(InputError, match="time_limit must be positive, got 0"):
        edit_distance(one, other, method="exact", time_limit=0)
    with pytest.raises(InputError, match="edge_cost must be an EdgeCost or a number, got 'unit'"):
        edit_distance(one, other, edge_cost="unit")
    with pytest.raises(InputError, match="the target must be one graph, got 2"):
        edit_distance(one, [other, other])
