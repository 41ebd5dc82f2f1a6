import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from epic import EdgeCost, InputError, UnitCost, edit_distance, edit_path
from epic.graphs import pack
from epic.matching.edges import Edges, price_table


def graph(*edges, nodes=3, **attributes):
    both = [(a, b) for e in edges for a, b in (e, e[::-1])]
    index = torch.tensor(both, dtype=torch.long).reshape(-1, 2).T
    data = Data(x=torch.ones(nodes, 1), edge_index=index)
    if attributes:
        data.edge_attr = torch.tensor([attributes["value"][k // 2] for k in range(len(both))]).reshape(-1, 1)
    return data


def test_unit_cost_by_default():
    table = EdgeCost().table(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[3.0, 4.0]]))
    assert table.tolist() == [[0, 1], [1, 1], [1, 0]]
    assert EdgeCost().table(torch.zeros(1, 0), torch.zeros(1, 0)).tolist() == [[0, 1], [1, 0]]


def test_numbers_and_functions_of_attributes():
    cost = EdgeCost(3, insertion=lambda a: a[:, 0], deletion=5, substitution=lambda a, b: (a - b.T).abs() / 2)
    assert cost.table(torch.tensor([[2.0]]), torch.tensor([[1.0], [4.0]])).tolist() == [[0, 1, 4], [5, 0.5, 1]]
    assert EdgeCost(3).table(torch.tensor([[2.0]]), torch.tensor([[1.0], [2.0]])).tolist() == [[0, 3, 3], [3, 3, 0]]


@pytest.mark.parametrize(("price", "expected"), [(EdgeCost(), 1), (EdgeCost(2.5), 2.5), (0.5, 0.5), (0, 0)])
def test_one_edge_more_costs_its_price(price, expected):
    one, other = graph((0, 1), (1, 2)), graph((0, 1), (1, 2), (0, 2))
    assert edit_distance(one, other, method="exact", edge_cost=price) == expected


def test_a_function_prices_a_changed_attribute():
    one, other = graph((0, 1), nodes=2, value=[1.0]), graph((0, 1), nodes=2, value=[1.4])
    cost = EdgeCost(substitution=lambda a, b: (a - b.T).abs())
    assert edit_distance(one, other, method="exact", edge_cost=cost) == pytest.approx(0.4)
    dear = EdgeCost(substitution=9.0)  # a deletion and an insertion cost less
    assert edit_distance(one, other, method="exact", edge_cost=dear) == 2


def test_one_way_edges_cost_half_or_count_each():
    both, single = graph((0, 1), nodes=2), graph(nodes=2)
    single.edge_index = torch.tensor([[0], [1]])
    assert edit_distance(both, single, method="exact", edge_cost=EdgeCost()) == 0.5
    assert edit_distance(both, single, method="exact", edge_cost=EdgeCost(directed=True)) == 1
    assert edit_distance(both, single, method="exact") == 1  # directed, as one of the graphs is
    assert edit_distance(both, graph(nodes=2), method="exact") == 1


def test_what_is_said_of_it():
    assert repr(EdgeCost()) == "EdgeCost()"
    assert repr(EdgeCost(2.0, scale="nodes", directed=True)) == "EdgeCost(2, scale='nodes', directed=True)"


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_prices_must_be_finite_and_not_negative(value):
    with pytest.raises(InputError, match=r"must be (0 or more|a number), got"):
        EdgeCost(value)
    edges = Edges.of(pack(graph((0, 1))))
    with pytest.raises(InputError, match="0 or more"):
        price_table(EdgeCost(insertion=lambda a: torch.full((len(a),), value)), edges, edges)


def test_wrong_shapes_and_scales_are_named():
    edges = Edges.of(pack(graph((0, 1))))
    with pytest.raises(InputError, match=r"shape \(1, 1\), got \(1,\)"):
        price_table(EdgeCost(substitution=lambda a, b: torch.zeros(1)), edges, edges)
    with pytest.raises(InputError, match="unknown scale of edge costs 'node'; did you mean 'nodes'"):
        EdgeCost(scale="node")

    class Odd(EdgeCost):
        def table(self, source, target):
            return np.zeros((1, 1))

    with pytest.raises(InputError, match=r"a table of shape \(1, 1\), expected \(2, 2\)"):
        price_table(Odd(), edges, edges)


def test_attributes_of_a_kind_that_numpy_lacks():
    plain = EdgeCost().table(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.0]]))
    short = EdgeCost().table(*(torch.tensor(t).bfloat16() for t in ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0]])))
    assert short.tolist() == plain.tolist() == [[0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize(
    "call",
    [
        lambda one, other: edit_distance(one, other, edge_cost=2.0),
        lambda one, other: edit_path(one, other, edge_cost=2.0),
        lambda one, other: UnitCost().distance(one, other, edge_cost=2.0),
        lambda one, other: UnitCost().distances([one, other], edge_cost=EdgeCost(2.0)),
        lambda one, other: UnitCost().nearest([one], [other], edge_cost=2.0),
    ],
)
def test_a_price_that_nothing_uses_is_refused(call):
    with pytest.raises(InputError, match="edge"):
        call(graph((0, 1), nodes=2), graph(nodes=2))
