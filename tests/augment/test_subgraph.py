from collections import Counter
from functools import cache

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from epic import InputError
from epic.augment import Subgraph
from epic.graphs.convert import pack
from epic.testing import AugmentationTester
from epic.testing import augmented_graphs as made
from epic.testing import random_graphs as graphs


class TestSubgraph(AugmentationTester):
    def method(self):
        return Subgraph(0.5, seed=0)


def graph_of(edges, nodes):
    """An undirected graph whose ``x`` numbers its nodes."""
    e = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
    x = 10.0 + torch.arange(nodes)[:, None]  # no degrees
    return Data(edge_index=torch.cat([e, e.flip(0)], 1), x=x, y=torch.tensor([0]))


def chance_of_each_set(edges, nodes, size):
    """Slow growth, all outcomes with their probabilities."""
    near = {v: {b if a == v else a for a, b in edges if v in (a, b)} for v in range(nodes)}

    @cache
    def grow(inside):
        if len(inside) == size:
            return {inside: 1.0}
        frontier = set().union(*(near[v] for v in inside)) - inside if inside else set()
        choices = frontier or set(range(nodes)) - inside
        total = Counter()
        for v in choices:
            for found, p in grow(inside | {v}).items():
                total[found] += p / len(choices)
        return total

    return grow(frozenset())


@pytest.mark.parametrize(
    ("edges", "nodes", "size"),
    [
        ([(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (1, 4)], 6, 3),
        ([(0, 1), (1, 2), (0, 2), (3, 4), (5, 6)], 7, 5),  # every component is used up on the way
        ([(0, 1), (0, 2), (0, 3), (3, 4), (4, 5), (5, 0), (2, 4)], 6, 4),
    ],
)
def test_parts_are_as_likely_as_slow_growth_makes_them(edges, nodes, size):
    expected = chance_of_each_set(edges, nodes, size)
    copies = 8000
    picked = torch.zeros(copies, dtype=torch.long)
    parts = Subgraph(size / nodes).augment_graphs(
        pack([graph_of(edges, nodes)]), picked, torch.Generator().manual_seed(0)
    )
    found = Counter(map(frozenset, (parts.x - 10).long().view(copies, size).tolist()))
    assert set(found) <= set(expected)
    for part, p in expected.items():
        assert abs(found[part] / copies - p) < 5 * (p * (1 - p) / copies) ** 0.5 + 1e-9


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.85]))
def test_no_component_is_left_before_it_is_used_up(seed, share):
    originals = graphs(seed=seed, density=0.2)
    for g, data in enumerate(originals):
        data.place = torch.stack([torch.full((data.num_nodes,), g), torch.arange(data.num_nodes)], 1)
    for part in made(Subgraph(share, num_classes=3), originals, seed):
        whole = to_networkx(originals[int(part.place[0, 0])], to_undirected=True)
        kept = set(part.place[:, 1].tolist())
        touched = [c & kept for c in nx.connected_components(whole) if c & kept and not c <= kept]
        assert len(touched) <= 1
        assert all(nx.is_connected(whole.subgraph(c)) for c in touched)


def test_it_reaches_farther_than_one_hop():
    line = graph_of([(i, i + 1) for i in range(99)], 100)
    (part,) = made(Subgraph(0.5, num_classes=1), [line])
    assert part.num_nodes == 50
    assert nx.is_connected(to_networkx(part, to_undirected=True))


def test_labels_attributes_and_features_stay():
    originals = graphs(density=0.6)
    for g, data in enumerate(originals):
        data.owner = torch.full((data.num_nodes,), g)
    for part in made(Subgraph(0.5, num_classes=3), originals):
        g = int(part.owner[0])
        assert int(part.y) == int(originals[g].y)
        assert set(map(tuple, part.edge_attr.tolist())) <= set(map(tuple, originals[g].edge_attr.tolist()))
        assert set(map(tuple, part.x.tolist())) <= set(map(tuple, originals[g].x.tolist()))


def test_share_is_checked():
    with pytest.raises(InputError, match=r"share must lie between 0 and 1, got 1\.5"):
        Subgraph(1.5)
