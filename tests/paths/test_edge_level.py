import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from epic.graphs.convert import pack
from epic.paths.edge_level import BipartiteCost, edge_paths
from tests.paths.reference import edges_of
from tests.sample_graphs import random_graph


def both_ways(*edges):
    index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
    return torch.cat([index, index.flip(0)], 1)


def graph(labels, *edges):
    return Data(x=torch.eye(4)[list(labels)], edge_index=both_ways(*edges))


def paths_of(one, other, **options):
    packed = pack([one, other])
    return packed, edge_paths(packed, i=torch.tensor([0]), j=torch.tensor([1]), **options)


def at(packed, paths, done):
    return paths.graphs(packed, np.asarray(done)).graph(0)


def test_prices_of_nodes_by_hand():
    """A star of three leaves against one edge: features, then degrees."""
    star, edge = graph([0, 1, 1, 1], (0, 1), (0, 2), (0, 3)), graph([0, 1], (0, 1))
    one, other = (BipartiteCost().embed(pack([g])) for g in (star, edge))
    assert BipartiteCost().substitution(one.embedding, other.embedding).tolist() == [
        [1.0, 2.0],
        [1.0, 0.0],
        [1.0, 0.0],
        [1.0, 0.0],
    ]
    assert one.deletion.tolist() == [2.5, 1.5, 1.5, 1.5]
    assert other.insertion.tolist() == [1.5, 1.5]
    blind = [BipartiteCost(use_x=False).embed(pack([g])).embedding for g in (star, edge)]
    assert BipartiteCost().substitution(*blind)[0].tolist() == [1.0, 1.0]
    # By hand: the centre takes the 0 (1), one leaf takes the 1 (0), two leaves go (1.5 each).
    assert BipartiteCost().distance(star, edge) == 4.0


@pytest.mark.parametrize(
    ("one", "other", "length"),
    [
        (graph([0, 0, 0], (0, 1), (1, 2)), graph([0, 0, 0], (0, 1), (1, 2), (0, 2)), 1),  # close a triangle
        (graph([0, 0, 0], (0, 1), (1, 2)), graph([0, 0, 1], (0, 1), (1, 2)), 1),  # another label
        (graph([0, 0, 2], (0, 1), (1, 2)), graph([0, 0], (0, 1)), 2),  # an end goes with its edge
        (graph([0]), graph([0, 1, 1], (0, 1), (0, 2)), 4),  # two leaves come
        (graph([0, 1], (0, 1)), graph([1, 0], (0, 1)), 0),  # the same, numbered otherwise
    ],
)
def test_lengths_by_hand(one, other, length):
    assert len(paths_of(one, other)[1]) == length
    assert len(paths_of(other, one)[1]) == length


def test_a_changed_edge_is_one_operation():
    one, other = graph([0, 0, 0], (0, 1), (1, 2)), graph([0, 0, 0], (0, 1), (1, 2))
    one.edge_attr = torch.tensor([1.0, 2.0, 1.0, 2.0])
    other.edge_attr = torch.tensor([1.0, 3.0, 1.0, 3.0])
    packed, paths = paths_of(one, other)
    assert len(paths) == 1
    assert sorted(at(packed, paths, [True]).edge_attr.tolist()) == [1.0, 1.0, 3.0, 3.0]
    forth = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))
    back = Data(x=torch.eye(2), edge_index=torch.tensor([[1], [0]]))
    packed, paths = paths_of(forth, back)
    assert len(paths) == 1
    assert at(packed, paths, [True]).edge_index.tolist() == [[1], [0]]


def test_the_order_of_a_node_and_its_edges():
    """Node 2 of the source goes with its edge: of the two operations the edge's is first, whatever is drawn."""
    for one, other, first in (
        (graph([0, 0, 2], (0, 1), (1, 2)), graph([0, 0], (0, 1)), (3, 2)),
        (graph([0, 0], (0, 1)), graph([0, 0, 2], (0, 1), (1, 2)), (3, 2)),
    ):
        packed, paths = paths_of(one, other)
        for seed in range(5):
            rank = paths.order(torch.Generator().manual_seed(seed))
            between = at(packed, paths, rank < 1)
            assert (between.num_nodes, between.num_edges) == first


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    directed=st.booleans(),
    x=st.sampled_from(["onehot", "int", "float", None]),
    edge_width=st.sampled_from([None, 0, 2]),
)
def test_every_graph_is_what_single_operations_give(seed, sizes, directed, x, edge_width):
    rng = np.random.default_rng(seed)
    kind = {"directed": directed, "x": x, "edge_width": edge_width, "loops": True}
    ends = [random_graph(rng, n, **kind) for n in sizes]
    for g, data in enumerate(ends):
        data.name = 100 * g + torch.arange(data.num_nodes)
    packed, paths = paths_of(*ends)
    rank = paths.order(torch.Generator().manual_seed(seed))
    assert sorted(rank.tolist()) == list(range(len(paths)))
    place = {int(n): p for end in (paths.source, paths.target) for p, n in enumerate(end) if n >= 0}
    owned = [{place[s * sizes[0] + n]: s * 100 + n for n in range(sizes[s])} for s in (0, 1)]
    joined = []  # of each end: what joins two places, by direction
    for s in (0, 1):
        slots = {}
        for (a, b), attr in edges_of(ends[s]).items():
            a, b = place[s * sizes[0] + a], place[s * sizes[0] + b]
            slots.setdefault(frozenset((a, b)), {})[a, b] = attr
        joined.append(slots)

    def label(name):
        g, n = divmod(name, 100)
        return 0 if x is None else ends[g].x[n].tolist()

    # Operations by plain comparison of both ends.
    nodes = dict(owned[0])
    edges = dict(joined[0])
    wanted = {p: owned[1].get(p) for p in owned[0] | owned[1]}
    node_ops = [p for p, n in wanted.items() if p not in nodes or n is None or label(n) != label(nodes[p])]
    edge_ops = [e for e in joined[0] | joined[1] if joined[0].get(e) != joined[1].get(e)]
    assert len(paths) == len(node_ops) + len(edge_ops)
    slots = [frozenset(e) for e in paths.slots.T.tolist()]
    todo = {int(paths.place_op[p]): p for p in node_ops} | {int(paths.slot_op[slots.index(e)]): e for e in edge_ops}
    for k, op in enumerate([None, *np.argsort(rank).tolist()]):
        change = todo[op] if op is not None else None
        if isinstance(change, frozenset):
            assert all(p in nodes for p in change), "an edge came before its node, or its node went first"
            edges.pop(change, None)
            if change in joined[1]:
                edges[change] = joined[1][change]
        elif change is not None and wanted[change] is None:
            assert not any(change in e for e in edges), "a node went before its last edge"
            del nodes[change]
        elif change is not None:
            nodes[change] = wanted[change]
        got = at(packed, paths, rank < k)
        assert sorted(got.name.tolist()) == sorted(nodes.values())
        truth = {(nodes[a], nodes[b]): attr for slot in edges.values() for (a, b), attr in slot.items()}
        names = got.name.tolist()
        assert {(names[a], names[b]): attr for (a, b), attr in edges_of(got).items()} == truth
        net = nx.Graph()
        net.add_nodes_from(nodes)
        net.add_edges_from(tuple(e) * (3 - len(e)) for e in edges)
        assert paths.connected(rank < k, np.array([True])).tolist() == [len(nodes) > 0 and nx.is_connected(net)]
    assert got.num_nodes == sizes[1]


def test_no_shorter_than_the_exact_distance():
    rng = np.random.default_rng(1)
    equal = 0
    for _ in range(12):
        one, other = (random_graph(rng, rng.integers(2, 6), x="onehot", edge_width=None) for _ in range(2))
        nets = []
        for g in (one, other):
            net = nx.Graph()
            net.add_nodes_from((n, {"label": int(v)}) for n, v in enumerate(g.x.argmax(1)))
            net.add_edges_from(g.edge_index.T.tolist())
            nets.append(net)
        exact = nx.graph_edit_distance(*nets, node_match=lambda a, b: a["label"] == b["label"])
        length = len(paths_of(one, other)[1])
        assert length >= exact
        equal += length == exact
    assert equal >= 3  # an approximation, but not a bad one on small graphs
