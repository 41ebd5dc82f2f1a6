"""Paths whose edges have a price."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch

from epic import EPIC, EdgeCost, InputError, UnitCost, edit_distance, edit_path
from tests.sample_graphs import random_graph


def two(seed, **options):
    rng = np.random.default_rng(seed)
    return [
        random_graph(rng, int(rng.integers(2, 9)), density=0.4, x="onehot", edge_width=None, y=[k], **options)
        for k in (0, 1)
    ]


def edges(graph, names):
    """Undirected edges between named nodes."""
    pairs = graph.edge_index.T.tolist()
    return {frozenset((names[u], names[v])) for u, v in pairs if names[u] >= 0 and names[v] >= 0}


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.sampled_from(["random", "bfs"]))
def test_edge_prices_are_paid_when_the_graph_changes(seed, order):
    """Against the graphs on the path: source edges that are gone and target edges that have come, step by step."""
    source, target = two(seed)
    path = edit_path(source, target, UnitCost(), matching="edges", edge_cost=1.0, order=order, seed=seed)
    match = {op.source: op.target for op in path.operations if op.kind == "substitute"}
    first = edges(source, range(source.num_nodes))
    last = edges(target, range(target.num_nodes))
    stays = {e for e in first if all(v in match for v in e) and frozenset(match[v] for v in e) in last}
    comes = last - {frozenset(match[v] for v in e) for e in stays}
    spent = 0.0
    for k, graph in enumerate(path):
        if k:
            op = path.operations[k - 1]
            spent += op.cost + sum(e.cost for e in op.edges)
        # A node that is substituted is both; it counts as the target's once its operation is done.
        done = {op.target for op in path.operations[:k] if op.target is not None}
        new = [t if t in done else -1 for t in graph.target_node.tolist()]
        there = edges(graph, new)
        old = {s: i for i, s in enumerate(graph.source_node.tolist()) if s >= 0}
        pairs = {frozenset(p) for p in graph.edge_index.T.tolist()}
        gone = sum(not (all(v in old for v in e) and frozenset(old[v] for v in e) in pairs) for e in first - stays)
        came = len(there & comes)
        edge_cost = sum(e.cost for op in path.operations[:k] for e in op.edges)
        assert edge_cost == pytest.approx(gone + came)
        if path.distance:
            assert path.fraction(k) == pytest.approx(spent / path.distance)
    assert spent == pytest.approx(path.distance)


def test_a_path_costs_what_the_distance_says():
    for seed in range(20):
        source, target = two(seed)
        found = edit_distance(source, target, UnitCost(), method="edges", edge_cost=0.7)
        path = edit_path(source, target, UnitCost(), matching="edges", edge_cost=0.7)
        assert path.distance == pytest.approx(float(found))
        assert UnitCost().distance(source, target, matching="edges", edge_cost=0.7) == pytest.approx(float(found))


def test_free_edges_leave_the_paper_s_distance():
    for seed in range(10):
        source, target = two(seed)
        path = edit_path(source, target, UnitCost(), matching="edges", edge_cost=0.0)
        assert path.distance == pytest.approx(edit_path(source, target, UnitCost()).distance)
        assert not any(op.edges for op in path.operations)


def test_edge_operations_name_their_nodes():
    source, target = two(3)
    path = edit_path(source, target, UnitCost(), matching="edges", edge_cost=EdgeCost(2))
    for op in path.operations:
        for edge in op.edges:
            assert edge.cost == 2
            assert (edge.source is None, edge.target is None) == (edge.kind == "insert", edge.kind == "delete")
            assert {op.source} & set(edge.source or ()) or {op.target} & set(edge.target or ())


def test_epic_takes_prices_of_edges_and_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, 12, density=0.2, x="onehot", edge_width=None, y=[k % 2]) for k in range(16)]
    augment = EPIC(UnitCost(), ratio=1.0, matching="edges", edge_price=0.5, degree_features=False).fit(graphs)
    batch = augment(Batch.from_data_list(graphs))
    assert batch.num_graphs == 32
    augment.save(tmp_path / "a.safetensors")
    again = EPIC.load(tmp_path / "a.safetensors")
    assert (again.matching, again.edge_price) == ("edges", 0.5)
    assert augment.path(*graphs[:2]).distance == pytest.approx(
        UnitCost().distance(*graphs[:2], matching="edges", edge_cost=EdgeCost(0.5, scale="nodes"))
    )
    with pytest.raises(InputError, match="did you mean 'edges'"):
        EPIC(matching="edge")
    with pytest.raises(InputError, match="unknown matching"):
        edit_path(*graphs[:2], matching="triangles")


def test_matrix_and_neighbours_by_edges():
    rng = np.random.default_rng(1)
    graphs = [random_graph(rng, int(rng.integers(2, 8)), density=0.4, x="onehot", edge_width=None) for _ in range(7)]
    cost = UnitCost()
    whole = cost.distances(graphs, matching="edges", edge_cost=1.0, progress=False)
    one_by_one = torch.tensor([[cost.distance(a, b, matching="edges", edge_cost=1.0) for b in graphs] for a in graphs])
    assert torch.allclose(whole, torch.minimum(one_by_one, one_by_one.T))
    apart = cost.distances(graphs[:3], graphs[3:], matching="edges", edge_cost=1.0, progress=False)
    assert torch.allclose(apart, one_by_one[:3, 3:])
    near = cost.nearest(graphs, k=2, matching="edges", edge_cost=1.0, progress=False)
    slow = whole.clone().fill_diagonal_(float("inf"))
    assert torch.allclose(near.distance, slow.sort(1).values[:, :2])
    assert torch.allclose(slow.gather(1, near.index), near.distance)


def test_edges_come_and_go_with_all_nodes():
    rng = np.random.default_rng(0)
    empty, full = (random_graph(rng, n, density=0.9, x="onehot", edge_width=None) for n in (0, 4))
    edges = full.num_edges / 2
    for ends, kind in (((empty, full), "insert"), ((full, empty), "delete")):
        path = edit_path(*ends, UnitCost(), matching="edges", edge_cost=1.0)
        assert path.distance == 4 + edges
        assert {op.kind for op in path.operations} == {kind}
        assert sum(len(op.edges) for op in path.operations) == edges
