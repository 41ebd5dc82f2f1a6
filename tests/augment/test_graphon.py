import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from epic import InputError
from epic.augment.g_mixup import by_degree, graphons, usvt
from epic.graphs.convert import pack
from epic.testing import random_graphs as graphs


def slow_usvt(a, threshold):
    """One rank after the other, in numpy."""
    left, value, right = np.linalg.svd(a)
    out = np.zeros_like(a)
    for k, s in enumerate(value):
        if k == 0 or s >= threshold * np.sqrt(len(a)):
            out += s * np.outer(left[:, k], right[k])
    return np.clip(out, 0, 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9), st.floats(0, 1))
def test_usvt_against_numpy(seed, size, threshold):
    a = np.random.default_rng(seed).random((2, size, size))
    got = usvt(torch.from_numpy(a), threshold)
    for k in range(2):
        np.testing.assert_allclose(got[k], slow_usvt(a[k], threshold), atol=1e-9)


def test_usvt_by_hand():
    """Singular values 0.9, 0.3 and 0.1 against 0.2 * sqrt(3) = 0.35: only the first stays; none, if all are small."""
    a = torch.diag(torch.tensor([0.3, 0.9, 0.1]))
    assert torch.allclose(usvt(a, 0.2), torch.diag(torch.tensor([0.0, 0.9, 0.0])), atol=1e-6)
    assert torch.allclose(usvt(a / 100, 0.2), torch.diag(torch.tensor([0.0, 0.009, 0.0])), atol=1e-6)


def test_places_by_falling_degree():
    star = Data(edge_index=torch.tensor([[0, 2, 1, 2, 3, 2], [2, 0, 2, 1, 2, 3]]), num_nodes=4)
    pair = Data(edge_index=torch.tensor([[1, 2], [2, 1]]), num_nodes=3)
    assert by_degree(pack([star, pair])).tolist() == [1, 2, 0, 3, 2, 0, 1]


def slow_graphons(originals, kinds, size):
    """Average adjacency, features and edge attributes of each class, graph by graph with networkx."""
    a = np.zeros((kinds, size, size))
    x, e = np.zeros((kinds, size, 3)), np.zeros((kinds, size, size, 2))
    there, met = np.zeros((kinds, size)), np.zeros((kinds, size, size))
    for data in originals:
        g = to_networkx(data, node_attrs=["x"], edge_attrs=["edge_attr"])
        k = int(data.y)
        order = sorted(g, key=lambda v, g=g: -g.degree(v))[:size]
        for p, u in enumerate(order):
            x[k, p] += g.nodes[u]["x"]
            there[k, p] += 1
            for q, v in enumerate(order):
                if g.has_edge(u, v) and u != v:
                    met[k, p, q] += 1
                    e[k, p, q] += g.edges[u, v]["edge_attr"]
    for k in range(kinds):
        a[k] = met[k] / sum(int(d.y) == k for d in originals)
    return a, x, e, there, met


@pytest.mark.parametrize("directed", [False, True])
def test_averages_against_networkx(directed):
    originals = graphs(20, directed=directed, loops=True)
    found = graphons(pack(originals), torch.eye(3)[torch.tensor([int(g.y) for g in originals])], 0.0)
    size = sorted(g.num_nodes for g in originals)[9]
    assert found.size == size
    assert found.undirected != directed
    a, x, e, there, met = slow_graphons(originals, 3, size)
    # Rows of y come out sorted, so that the last class is first.
    a, x, e, there, met = a[::-1], x[::-1], e[::-1], there[::-1], met[::-1]
    np.testing.assert_allclose(found.chance, a[:, found.ends[0], found.ends[1]], atol=1e-6)  # threshold 0: all stays
    for k in range(3):
        for p in range(size):
            want = x[k, p] / there[k, p] if there[k, p] else x[k].sum(0) / there[k].sum()
            np.testing.assert_allclose(found.x[k, p], want, atol=1e-5)
            for q in range(size):
                total = e[k, p, q] / met[k, p, q] if met[k, p, q] else e[k].sum((0, 1)) / met[k].sum()
                np.testing.assert_allclose(found.edge_attr[k, p * size + q], total, atol=1e-5)


def two_kinds(copies=3):
    """Class 0: triangles with a leaf; class 1: paths of four nodes. Features and attributes tell the classes apart."""
    out = []
    for kind, g in enumerate((nx.lollipop_graph(3, 1), nx.path_graph(4))):
        edges = torch.tensor([*g.edges, *((v, u) for u, v in g.edges)]).T
        out += [
            Data(
                edge_index=edges,
                x=torch.full((4, 2), float(kind)),
                edge_attr=torch.full((edges.shape[1],), 10.0 * kind),
                y=torch.tensor(kind),
            )
        ] * copies
    return out


def test_drawn_edges_are_as_frequent_as_they_should_be():
    found = graphons(pack(two_kinds()), torch.eye(2).repeat_interleave(3, 0), 0.0)
    count = 20_000
    one, two = torch.zeros(count, dtype=torch.long), torch.ones(count, dtype=torch.long)
    made = found.draw(one, two, torch.full((count,), 0.3), torch.Generator().manual_seed(0))
    want = float((0.3 * found.chance[0] + 0.7 * found.chance[1]).sum())
    assert abs(made.edge_index.shape[1] / 2 / count - want) < 0.03  # standard deviation below 0.01
    # Row 0 of the classes is the path's (its y is 0, 1): 0.3 of it, whose features are 1.
    assert torch.allclose(made.node["x"], torch.tensor(0.3))
    assert torch.allclose(made.edge["edge_attr"], torch.tensor(3.0))
    assert torch.allclose(made.y, torch.tensor([0.7, 0.3]))


def test_the_whole_share_is_the_class_itself():
    """Averages of equal graphs hold only 0 and 1, so that every graph drawn is that graph."""
    found = graphons(pack(two_kinds()), torch.eye(2).repeat_interleave(3, 0), 0.0)
    made = found.draw(torch.tensor([0, 1]), torch.tensor([1, 0]), torch.ones(2), torch.Generator().manual_seed(0))
    for k, want in enumerate((nx.path_graph(4), nx.lollipop_graph(3, 1))):
        assert nx.is_isomorphic(to_networkx(made.graph(k), to_undirected=True), want)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_no_loops_no_isolated_nodes_and_both_directions(seed, directed):
    originals = graphs(8, seed=seed, directed=directed, density=0.3)
    found = graphons(pack(originals), torch.eye(3)[torch.tensor([int(g.y) for g in originals])], 0.2)
    generator = torch.Generator().manual_seed(seed)
    one = torch.arange(30) % 3
    made = found.draw(one, (one + 1) % 3, torch.rand(30, generator=generator), generator)
    u, v = made.edge_index
    assert bool((u != v).all())
    lonely = (made.degree(0) + made.degree(1)) == 0
    assert bool((made.sizes[made.graph_of_node[lonely]] == 1).all())
    assert int(made.sizes.min()) >= 1
    if found.undirected:
        assert set(zip(u.tolist(), v.tolist(), strict=True)) == set(zip(v.tolist(), u.tolist(), strict=True))


def test_missing_tasks_make_classes_of_their_own():
    y = torch.tensor([[0.0, float("nan")], [1.0, float("nan")]]).repeat_interleave(3, 0)
    found = graphons(pack(two_kinds()), y, 0.2)
    assert found.y[:, 0].tolist() == [0.0, 1.0]
    assert found.y[:, 1].isnan().all()


def test_one_class_is_refused():
    with pytest.raises(InputError, match=r"two classes at least, but y has only \[1.0\]"):
        graphons(pack(two_kinds()), torch.ones(6, 1), 0.2)
