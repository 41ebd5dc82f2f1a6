import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from epic import InputError
from epic.augment import NodeSam
from epic.augment.node_sam import Change, draw_change, split_and_merge
from epic.graphs.convert import pack
from epic.testing import AugmentationTester
from epic.testing import augmented_graphs as made
from epic.testing import random_graphs as graphs
from tests.sample_graphs import random_graph


class TestNodeSam(AugmentationTester):
    keeps_features = False  # a merged node has the mean of two

    def method(self):
        return NodeSam(seed=0)


def change(split, side, like, merge, flip=False):
    one = [np.array([v]) for v in (0, split)]
    return Change(*one, np.array(side), *(np.array([v]) for v in (like, merge, flip)))


def test_a_path_by_hand():
    # 0-1-2-3: node 1 becomes 1-1', with 0 at 1 and 2 at 1'; then 2-3 is merged into 2: 0-1-1'-2, 1' in the place of 3.
    edges = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    data = Data(
        edge_index=torch.tensor(edges).T,
        x=torch.tensor([[0.0], [1], [2], [4]]),
        edge_attr=torch.tensor([0, 0, 1, 1, 2, 2]),
        number=torch.arange(4),
    )
    out = split_and_merge(pack([data]), change(1, [0, 0, 1, 0], like=2, merge=4))
    assert out.x[:, 0].tolist() == [0, 1, 3, 1]
    assert out.node["number"].tolist() == [0, 1, 2, 1]
    found = dict(zip(map(tuple, out.edge_index.T.tolist()), out.edge_attr.tolist(), strict=True))
    one_way = {(0, 1): 0, (1, 3): 1, (2, 3): 1}
    assert found == {**one_way, **{(v, u): a for (u, v), a in one_way.items()}}


@pytest.mark.parametrize("flip", [False, True])
def test_a_half_of_the_split_node_may_be_merged_too(flip):
    # As above, but 1'-2 is merged: 0-1-(1'2)-3. Whichever survives, it lives in the place of 2.
    edges = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    x = torch.tensor([[0.0], [1], [2], [4]])
    data = Data(edge_index=torch.tensor(edges).T, x=x, number=torch.arange(4))
    twice = pack([data, data])
    one = change(1, [0, 0, 1, 0], like=2, merge=2, flip=flip)
    shifted = [np.append(v, v + s) for v, s in ((one.graph, 1), (one.split, 4), (one.like, 6), (one.merge, 6))]
    both = Change(shifted[0], shifted[1], np.tile(one.side, 2), *shifted[2:], np.tile(one.flip, 2))
    for g in range(2):
        out = split_and_merge(twice, both).graph(g)
        assert out.x[:, 0].tolist() == [0, 1, 1.5, 4]
        assert out.number.tolist() == [0, 1, 2 if flip else 1, 3]
        assert {tuple(e) for e in out.edge_index.T.tolist()} == set(edges)
        assert out.num_edges == 6


def slow(data, c):
    """The same with networkx's own contraction, on one undirected graph; ``flip`` and ``like`` as they are."""
    g = nx.Graph()
    for v in range(data.num_nodes):
        g.add_node(v, x=data.x[v].tolist(), number=v)
    rows = list(zip(data.edge_index.T.tolist(), data.edge_attr.tolist(), strict=True))
    for (u, v), a in rows:
        g.add_edge(u, v, a=a)
    if not c.graph.size:
        return g
    v, new = int(c.split[0]), "new"
    g.add_node(new, x=list(g.nodes[v]["x"]), number=v)
    at = data.edge_index[:, int(c.merge[0])].tolist()
    for w in list(g[v]):
        if w == v:
            continue
        if c.side[w] == 2:
            g.add_edge(new, w, **g.edges[v, w])
        elif c.side[w] == 1:
            g.add_edge(new, w, **g.edges[v, w])
            g.remove_edge(v, w)
            at = [new if end == v and w in at else end for end in at]
    g.add_edge(v, new, a=rows[int(c.like[0])][1])
    kept, gone = at[::-1] if c.flip[0] else at
    mean = [(p + q) / 2 for p, q in zip(g.nodes[kept]["x"], g.nodes[gone]["x"], strict=True)]
    loop = g.edges.get((gone, gone))
    h = nx.contracted_nodes(g, kept, gone, self_loops=False, copy=True)
    h.nodes[kept]["x"] = mean
    if loop is not None and not h.has_edge(kept, kept):
        h.add_edge(kept, kept, a=loop["a"])
    return h


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.sampled_from([0.1, 0.4, 0.9]), st.booleans())
def test_as_networkx_does_it(seed, nodes, density, adjust):
    data = random_graph(np.random.default_rng(seed), nodes, density=density, loops=bool(seed % 2))
    data.number = torch.arange(nodes)
    packed = pack([data])
    c = draw_change(packed, adjust, torch.Generator().manual_seed(seed))
    out = split_and_merge(packed, c).graph(0)
    found = nx.Graph()
    found.add_nodes_from((v, {"x": row, "number": int(out.number[v])}) for v, row in enumerate(out.x.tolist()))
    rows = list(zip(map(tuple, out.edge_index.T.tolist()), out.edge_attr.tolist(), strict=True))
    assert len(dict(rows)) == len(rows), "an edge is there twice"
    assert all(dict(rows)[v, u] == a for (u, v), a in rows), "a direction is missing or another"
    found.add_edges_from((u, v, {"a": a}) for (u, v), a in rows)
    assert nx.is_isomorphic(
        found,
        slow(data, c),
        node_match=lambda p, q: p["number"] == q["number"] and np.allclose(p["x"], q["x"], atol=1e-6),
        edge_match=lambda p, q: p["a"] == q["a"],
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.integers(1, 3))
def test_sizes_and_components_stay(seed, directed, rounds):
    originals = graphs(6, seed=seed, density=0.2, directed=directed)
    for g, data in enumerate(originals):
        data.owner = torch.full((data.num_nodes,), g)
    for out in made(NodeSam(rounds, num_classes=3), originals):
        original = originals[int(out.owner[0])]
        assert out.num_nodes == original.num_nodes
        parts = [nx.number_weakly_connected_components(to_networkx(d)) for d in (out, original)]
        assert parts[0] == parts[1]
        assert int(out.y) == int(original.y)  # labels stay


def test_dense_graphs_do_not_thin_out_when_adjusted():
    originals = graphs(200, nodes=12, density=0.7, edge_width=None)
    before = sum(g.num_edges for g in originals)
    after = [sum(g.num_edges for g in made(NodeSam(adjust=a, num_classes=3), originals)) for a in (True, False)]
    assert abs(after[0] / before - 1) < 0.02
    assert after[1] / before < 0.93


@pytest.mark.parametrize("adjust", [False, True])
def test_halves_share_the_edges_at_random(adjust):
    star = Data(edge_index=torch.tensor([[0] * 40, range(1, 41)]), x=torch.zeros(41, 1))
    star.edge_index = torch.cat([star.edge_index, star.edge_index.flip(0)], 1)
    packed = pack([star]).select(torch.zeros(200, dtype=torch.long))
    c = draw_change(packed, adjust, torch.Generator().manual_seed(0))
    assert not (c.side == 2).any()  # no triangle, nothing to adjust
    assert abs(c.side.mean() - 0.5) < 0.03
    assert abs(c.flip.mean() - 0.5) < 0.2
    assert len(set((c.split % 41).tolist())) == 41
    assert len(set((c.merge % 80).tolist())) > 60


def test_all_neighbours_are_joined_to_both_halves_of_a_clique():
    n = 5
    edges = torch.tensor([(a, b) for a in range(n) for b in range(n) if a != b]).T
    packed = pack([Data(edge_index=edges, x=torch.zeros(n, 1))])
    c = draw_change(packed, True, torch.Generator().manual_seed(0))
    others = np.delete(c.side, c.split)
    assert np.count_nonzero(others == 2) == n - 2  # as many as the merged ends share
    assert not (draw_change(packed, False, torch.Generator().manual_seed(0)).side == 2).any()


def test_integer_features_come_from_one_of_the_ends():
    for seed in range(5):
        originals = graphs(seed=seed, x="int", edge_width=None)
        rows = {tuple(r) for g in originals for r in g.x.tolist()}
        assert {tuple(r) for g in made(NodeSam(num_classes=3), originals) for r in g.x.tolist()} <= rows


def test_graphs_without_edges_stay_the_same():
    bare = Data(edge_index=torch.zeros(2, 0, dtype=torch.long), x=torch.tensor([[1.0], [5]]), y=torch.tensor([0]))
    loop = Data(edge_index=torch.tensor([[1], [1]]), x=torch.tensor([[2.0], [7]]), y=torch.tensor([0]))
    for out in made(NodeSam(num_classes=1), [bare, loop, bare]):
        original = bare if out.num_edges == 0 else loop
        assert torch.equal(out.x, original.x)
        assert torch.equal(out.edge_index, original.edge_index)


def test_works_on_structure_alone():
    assert len(made(NodeSam(num_classes=3), graphs(x=None))) == 12


def test_settings_are_checked():
    with pytest.raises(InputError, match="rounds must be at least 1, got 0"):
        NodeSam(0)
    with pytest.raises(InputError, match="adjust must be true or false, got 'no'"):
        NodeSam(adjust="no")
