import networkx as nx
import numpy as np
import pytest
import torch

from epic import InputError, edit_distance, edit_path
from epic.graphs.networkx import from_networkx, is_networkx


def test_numbers_become_columns_in_the_order_of_their_names():
    net = nx.Graph([("p", "q", {"w": 2, "a": True}), ("q", "r", {"w": 0.5, "a": False})])
    nx.set_node_attributes(net, {"p": 1, "q": 2, "r": 3}, "size")
    (data,) = from_networkx([net])
    assert data.x.tolist() == [[1], [2], [3]]
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.edge_attr.tolist() == [[1, 2], [1, 2], [0, 0.5], [0, 0.5]]


def test_other_values_become_categories_shared_by_all_graphs():
    one, other = nx.path_graph(2), nx.path_graph(3)
    nx.set_node_attributes(one, {0: "C", 1: "N"}, "element")
    nx.set_node_attributes(other, {0: "N", 1: "C"}, "element")  # the last one has none
    a, b = from_networkx([one, other])
    assert a.x.dtype == torch.long
    assert a.x[0] == b.x[1]
    assert a.x[1] == b.x[0]
    assert len({int(v) for v in (*a.x, *b.x)}) == 3
    (again,) = from_networkx([one])
    assert torch.equal(again.x, a.x)


def test_without_attributes_nodes_are_alike_and_directions_kept():
    directed = nx.DiGraph([(0, 1), (2, 1)])
    a, b = from_networkx([directed, nx.empty_graph(2)])
    assert a.edge_index.tolist() == [[0, 2], [1, 1]]
    assert a.x.tolist() == [[1], [1], [1]]
    assert "edge_attr" not in a
    assert b.edge_index.shape == (2, 0)


def test_edges_of_one_graph_without_any_in_the_other():
    weighted, empty = nx.Graph([(0, 1, {"w": 2.0})]), nx.empty_graph(2)
    a, b = from_networkx([weighted, empty])
    assert a.edge_attr.tolist() == [[2], [2]]
    assert b.edge_attr.shape == (0, 1)


def test_what_is_a_networkx_graph():
    assert is_networkx(nx.DiGraph())
    assert not is_networkx([])
    assert not is_networkx(from_networkx([nx.path_graph(2)])[0])


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1_700_000_000, 1_700_000_001, False),  # the same in single precision
        (torch.tensor([0.12341]), torch.tensor([0.12339]), False),  # the same when printed
        (np.arange(2000), np.arange(2000) + (np.arange(2000) == 1000), False),
        ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1.0}, True),
        (("a", 1), ("a", 1.0), True),
        (["a"], ("a",), False),
        (10**400, 10**400, True),  # no float holds it
        (10**400, 10**400 + 1, False),
        ({1, 2}, {2, 1}, True),
    ],
    ids=str,
)
def test_attributes_are_compared_by_their_values(one, other, equal):
    graphs = []
    for value in (one, other):
        graph = nx.empty_graph(1)
        graph.nodes[0]["v"] = value
        graphs.append(graph)
    assert (edit_distance(*graphs) == 0) == equal


def test_only_edit_distance_takes_networkx_graphs():
    with pytest.raises(InputError, match="is taken by edit_distance alone"):
        edit_path(nx.path_graph(2), nx.path_graph(3))
