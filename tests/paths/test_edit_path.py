import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from epic import FeatureCost, InputError, UnitCost, edit_distance, edit_path
from epic.costs import Cost, NodeCosts
from epic.paths import Operation
from tests.paths.reference import Slow, named
from tests.sample_graphs import random_graph


class NoiseCost(Cost):
    """OperationCosts that have nothing to do with the graphs: every mix of operations comes up."""

    def __init__(self, seed: int, dear: float = 1.0) -> None:
        self.seed, self.dear = seed, dear

    def embed(self, graphs):
        rng = np.random.default_rng([self.seed, graphs.num_nodes])
        h = torch.from_numpy(rng.normal(size=(graphs.num_nodes, 2)))
        price = torch.from_numpy(rng.random((2, graphs.num_nodes))) * self.dear
        return NodeCosts(h, price[0], price[1], graphs.ptr)

    def substitution(self, source, target):
        return torch.cdist(source, target)


KINDS = [
    {"x": "float", "edge_width": 2},
    {"x": "int", "edge_width": 0},
    {"x": None, "edge_width": None},
    {"x": "onehot", "edge_width": 1, "directed": True},
    {"x": "float", "edge_width": 3, "loops": True},
    {"x": None, "edge_width": 2, "directed": True, "loops": True, "density": 0.2},
]


@pytest.mark.parametrize("order", ["random", "bfs", "connected"])
@pytest.mark.parametrize("kind", range(len(KINDS)))
@pytest.mark.filterwarnings("ignore:the path is not connected")
def test_every_graph_equals_algorithm_1(kind, order):
    rng = np.random.default_rng([kind, len(order)])
    compared = 0
    for trial in range(40):
        n, m = rng.integers(0, 8, size=2)
        source, target = random_graph(rng, n, **KINDS[kind]), random_graph(rng, m, **KINDS[kind])
        path = edit_path(source, target, NoiseCost(trial, dear=rng.choice([0.3, 1.0, 3.0])), order=order, seed=trial)
        slow = Slow(source, target)
        for k in range(len(path) + 1):
            if k:
                slow.apply(path.operations[k - 1])
            graph = path[k]
            nodes, edges = named(graph)
            assert nodes == slow.nodes
            assert edges == slow.edges
            if graph.get("x") is not None:
                for row, s, t in zip(graph.x, graph.source_node.tolist(), graph.target_node.tolist(), strict=True):
                    assert torch.equal(row, target.x[t] if t >= 0 else source.x[s])
            compared += 1
    assert compared > 150


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_ends_are_the_two_graphs_to_the_letter(kind):
    rng = np.random.default_rng(kind)
    for trial in range(30):
        source, target = (random_graph(rng, rng.integers(0, 9), **KINDS[kind]) for _ in range(2))
        path = edit_path(source, target, NoiseCost(trial), seed=trial)
        for end, graph in ((path[0], source), (path[-1], target), (path.source, source), (path.target, target)):
            assert end.num_nodes == graph.num_nodes
            for key in ("x", "edge_index", "edge_attr"):
                if graph.get(key) is None:
                    assert end.get(key) is None
                else:
                    assert torch.equal(end[key], graph[key])
                    assert end[key].dtype == graph[key].dtype


def line(*labels, y=None):
    steps = torch.arange(len(labels) - 1)
    one = torch.stack([steps, steps + 1])
    g = Data(x=torch.eye(4)[list(labels)], edge_index=torch.cat([one, one.flip(0)], 1))
    if y is not None:
        g.y = torch.tensor([y])
    return g


def test_a_path_worked_out_by_hand():
    # 0-1-2 becomes 0-1: the third node is deleted, two are free.
    path = edit_path(line(0, 1, 2, y=0), line(0, 1, y=1), UnitCost(), seed=0)
    assert path.distance == 1.0
    assert sorted(path.operations, key=str) == [
        Operation("delete", 2, None, 1.0),
        Operation("substitute", 0, 0, 0.0),
        Operation("substitute", 1, 1, 0.0),
    ]
    k = [op.kind for op in path.operations].index("delete") + 1
    assert path.fraction(k - 1) == 0.0
    assert path.fraction(k) == 1.0
    assert path.label(0).tolist() == [1.0, 0.0]
    assert path.label(k).tolist() == [0.0, 1.0]
    assert path[k].num_nodes == 2
    assert str(path.operations[k - 1]) == "Delete(2, 1.00)"


def test_fraction_is_cost_spent_and_label_follows():
    rng = np.random.default_rng(3)
    a, b = random_graph(rng, 6, y=[2]), random_graph(rng, 5, y=[0])
    path = edit_path(a, b, FeatureCost(), seed=1)
    for k in range(len(path) + 1):
        spent = sum(op.cost for op in path.operations[:k]) / sum(op.cost for op in path.operations)
        assert path.fraction(k) == pytest.approx(spent)
        assert path.label(k).tolist() == pytest.approx([spent, 0.0, 1 - spent])
        assert torch.equal(path[k].y[0], path.label(k))
    assert path.fraction(0) == 0.0
    assert path.fraction(len(path)) == 1.0
    assert path.distance == pytest.approx(edit_distance(a, b, FeatureCost()))


def test_equal_graphs_fall_back_to_share_of_operations():
    g = line(0, 1, 2, 3, y=1)
    path = edit_path(g, g, UnitCost(), seed=0)
    assert path.distance == 0.0
    assert [path.fraction(k) for k in range(5)] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_same_seed_same_path_and_global_state_untouched():
    rng = np.random.default_rng(5)
    a, b = random_graph(rng, 7), random_graph(rng, 6)
    before = torch.get_rng_state()
    one = edit_path(a, b, seed=11).operations
    assert one == edit_path(a, b, seed=11).operations
    assert one != edit_path(a, b, seed=12).operations
    assert torch.equal(before, torch.get_rng_state())


def test_steps_out_of_range_and_iteration():
    path = edit_path(line(0, 1), line(2, 1, 3))
    assert len(list(path)) == len(path) + 1
    assert path[-1].num_nodes == 3
    with pytest.raises(IndexError, match="steps run from 0"):
        path[len(path) + 1]


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (line(0), Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=1), "one side has x"),
        (line(0), Data(x=torch.ones(1, 3), edge_index=torch.zeros(2, 0, dtype=torch.long)), r"width \[4\]"),
        ([line(0), line(1)], line(0), "must be one graph, got 2"),
        (7, line(0), "expected PyG graphs"),
    ],
)
def test_bad_pairs_are_refused(a, b, message):
    with pytest.raises(InputError, match=message):
        edit_path(a, b)


def test_labels_and_costs_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="the target graph has no label"):
        edit_path(line(0, 1, y=0), line(1))
    wide = line(1)
    wide.y = torch.tensor([[0.5, 0.5]])
    with pytest.raises(InputError, match="differ in width or kind"):
        edit_path(line(0, 1, y=0), wide)
    with pytest.raises(InputError, match="got 'bfs'"):
        edit_path(line(0), line(1), "bfs")
    column = line(1)
    column.y = torch.tensor([[1]])
    assert edit_path(line(0, y=0), column).label(0).tolist() == [1.0, 0.0]


def test_no_labels_no_label():
    with pytest.raises(InputError, match="no labels"):
        edit_path(line(0, 1), line(1)).label(0)


def test_unknown_order_names_the_nearest():
    with pytest.raises(InputError, match="did you mean 'connected'"):
        edit_path(line(0, 1), line(1), order="conected")
