import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from epic import UnitCost, edit_path
from epic.graphs.convert import pack
from epic.paths.apply import apply_operations
from epic.paths.operations import breadth_first
from tests.paths.test_edit_path import NoiseCost, line
from tests.sample_graphs import random_graph


def connected(graph) -> bool:
    return graph.num_nodes > 0 and nx.is_weakly_connected(to_networkx(graph))


def test_breadth_first_is_one():
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, n, density=0.25) for n in (1, 5, 9, 12, 0, 7)]
    place = breadth_first(pack(graphs), torch.Generator().manual_seed(0))
    at = 0
    for graph in graphs:
        order = torch.argsort(place[at : at + graph.num_nodes]).tolist()
        at += graph.num_nodes
        near = nx.Graph(to_networkx(graph))
        assert sorted(order) == list(near.nodes)
        # A breadth-first search: the earliest visited neighbour ("parent") never goes back along the order.
        where = {v: r for r, v in enumerate(order)}
        parents = [min((where[w] for w in near[v] if where[w] < where[v]), default=None) for v in order]
        for component in nx.connected_components(near):
            ranks = sorted(where[v] for v in component)
            assert ranks == list(range(ranks[0], ranks[0] + len(ranks)))  # a component is finished before the next
            inside = [parents[r] for r in ranks]
            assert inside[0] is None
            assert None not in inside[1:]
            assert inside[1:] == sorted(inside[1:])


def test_bfs_visits_the_target_breadth_first():
    rng = np.random.default_rng(1)
    for trial in range(20):
        a, b = random_graph(rng, 6), random_graph(rng, 8, density=0.5)
        path = edit_path(a, b, NoiseCost(trial), order="bfs", seed=trial)
        visited = [op.target for op in path.operations if op.target is not None]
        near = nx.Graph(to_networkx(b))
        assert sorted(visited) == list(range(8))
        if nx.is_connected(near):  # then everything visited so far hangs together in the target
            assert all(nx.is_connected(near.subgraph(visited[:k])) for k in range(1, 9))


def exists_by_brute_force(path) -> bool:
    """Try all orders of the operations."""
    count = len(path)
    graphs = {}
    for done in itertools.product([False, True], repeat=count):
        at = apply_operations(path._ops, np.array(done, dtype=bool))
        graphs[done] = connected(at.graphs.graph(0))
    reachable = {(False,) * count}
    for _ in range(count - 1):
        step = {(*s[:t], True, *s[t + 1 :]) for s in reachable for t in range(count) if not s[t]}
        reachable = {s for s in step if graphs[s]}
    return bool(reachable)


@pytest.mark.slow
def test_connected_finds_an_order_exactly_where_one_exists():
    rng = np.random.default_rng(2)
    outcomes = {True: 0, False: 0}
    for trial in range(150):
        a, b = (random_graph(rng, rng.integers(1, 5), density=0.5, edge_width=None) for _ in range(2))
        if not (connected(a) and connected(b)):
            continue
        cost = NoiseCost(trial, dear=0.7)
        path = edit_path(a, b, cost, seed=trial)
        if exists_by_brute_force(path):
            path = edit_path(a, b, cost, order="connected", seed=trial)
            assert path.order == "connected"
            assert all(connected(g) for g in path)
            outcomes[True] += 1
        else:
            with pytest.warns(UserWarning, match="no such order exists"):
                path = edit_path(a, b, cost, order="connected", seed=trial)
            assert path.order == "random"
            outcomes[False] += 1
    assert outcomes[True] > 20
    assert outcomes[False] > 10


def test_connected_says_which_end_is_not():
    broken = Data(x=torch.eye(4)[:3], edge_index=torch.tensor([[0, 1], [1, 0]]))
    with pytest.warns(UserWarning, match="the source graph is not connected"):
        edit_path(broken, line(0, 1), UnitCost(), order="connected")


def test_connected_orders_differ_by_seed():
    a, b = line(0, 1, 2, 3, 0, 1), line(3, 2, 1, 0, 3)
    orders = {tuple(map(str, edit_path(a, b, order="connected", seed=s).operations)) for s in range(8)}
    assert len(orders) > 1
