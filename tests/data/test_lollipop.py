import networkx as nx
import pytest
import torch
from torch_geometric.utils import to_networkx

from epic import InputError
from epic.data import lollipop, lollipop_graph


@pytest.mark.parametrize(("m", "n"), [(4, 2), (3, 0), (2, 5), (6, 1)])
def test_equals_networkx(m, n):
    ours = nx.Graph(to_networkx(lollipop_graph(m, n)))
    assert nx.is_isomorphic(ours, nx.lollipop_graph(m, n))
    assert lollipop_graph(m, n).is_undirected()


def test_classes_in_turn_and_seeded():
    graphs = lollipop(40, seed=3)
    assert [int(g.y) for g in graphs[:5]] == [0, 1, 2, 3, 0]
    assert [int(g.head.sum()) for g in graphs[:4]] == [4, 5, 6, 7]
    tails = {int((~g.head).sum()) for g in lollipop(400, seed=0)}
    assert tails == set(range(2, 11))
    again = lollipop(40, seed=3)
    assert all(torch.equal(a.edge_index, b.edge_index) for a, b in zip(graphs, again, strict=True))


def test_bad_sizes():
    with pytest.raises(InputError, match="count must be at least 1"):
        lollipop(0)
    with pytest.raises(InputError, match="heads"):
        lollipop(3, heads=(0,))
