"""Drawings of one graph, and drawings on the way from one to another."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes
from torch_geometric.utils import from_networkx, to_networkx

from epic.data import lollipop_graph
from epic.view.layout import common_part, fit_onto, gaps, graph_layout, morph, steps_between, stress
from tests.sample_graphs import random_graph


@pytest.mark.parametrize("nodes", [3, 5, 6, 9, 14])
def test_a_ring_looks_like_a_ring(nodes):
    at = graph_layout(from_networkx(nx.cycle_graph(nodes)))
    edges = np.linalg.norm(at - np.roll(at, 1, axis=0), axis=1)
    assert edges == pytest.approx(np.full(nodes, edges.mean()), rel=0.02)
    radius = np.linalg.norm(at - at.mean(0), axis=1)
    assert radius == pytest.approx(np.full(nodes, edges.mean() / (2 * np.sin(np.pi / nodes))), rel=0.02)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_turned_drawing_is_turned_back(seed, mirrored):
    rng = np.random.default_rng(seed)
    at, turn = rng.normal(size=(7, 2)), rng.uniform(0, 2 * np.pi)
    move = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) * ([-1, 1] if mirrored else [1, 1])
    rows = np.array([1, 4, 5])
    assert fit_onto(at @ move + rng.normal(size=2), at[rows], rows) == pytest.approx(at, abs=1e-9)


def test_the_best_turn_is_that_of_scipy():
    rng = np.random.default_rng(0)
    at, other, rows = rng.normal(size=(9, 2)), rng.normal(size=(5, 2)), np.arange(2, 7)
    found = fit_onto(at, other, rows)
    here, there = at[rows] - at[rows].mean(0), other - other.mean(0)
    turn, _ = orthogonal_procrustes(here, there)
    assert found[rows] - other.mean(0) == pytest.approx(here @ turn)
    assert gaps(found) == pytest.approx(gaps(at))


def test_the_common_part_is_that_of_networkx():
    rng = np.random.default_rng(4)
    one, other = (random_graph(rng, n, density=0.25) for n in (14, 12))
    partner = rng.permutation(14)
    partner[partner >= 12] = -1
    both = nx.Graph()
    both.add_nodes_from(s for s in range(14) if partner[s] >= 0)
    there = {frozenset(e) for e in other.edge_index.T.tolist()}
    both.add_edges_from((a, b) for a, b in one.edge_index.T.tolist() if frozenset((partner[a], partner[b])) in there)
    found = common_part(one, other, partner).tolist()
    assert set(found) in list(nx.connected_components(both))
    assert len(found) == max(map(len, nx.connected_components(both)))


def test_a_morph_keeps_both_ends_and_what_they_share():
    rng = np.random.default_rng(1)
    ring = graph_layout(from_networkx(nx.cycle_graph(6)))
    first, last = (np.concatenate([ring, rng.normal(4, 1, size=(3, 2))]) for _ in range(2))
    last[:6] = ring @ [[0, 1], [-1, 0]] + [1, 2]
    first[7] = last[8] = np.nan
    made = morph(first, last, 7)
    there = ~np.isnan(first), ~np.isnan(last)
    assert np.array_equal(made[0][there[0]], first[there[0]])
    assert np.array_equal(made[-1][there[1]], last[there[1]])
    assert np.isfinite(made).all()
    for drawing in made:
        assert gaps(drawing[:6]) == pytest.approx(gaps(ring), abs=0.16)  # a blend of coordinates shrinks it by 0.65
    ways = np.linalg.norm(np.diff(made, axis=0), axis=2)
    assert ways.max() < 2.5 * np.linalg.norm(made[-1] - made[0], axis=1).max() / 6  # nothing jumps


def test_steps_are_those_of_networkx():
    graph = random_graph(np.random.default_rng(5), 12, density=0.15, directed=True, loops=True)
    found = steps_between(graph)
    wanted = dict(nx.all_pairs_shortest_path_length(to_networkx(graph).to_undirected()))
    for a in range(12):
        for b in range(12):
            if b in wanted[a]:
                assert found[a, b] == wanted[a][b]
            else:
                assert 1 < found[a, b] < 12


def test_a_chain_is_drawn_straight_and_in_order():
    at = stress(steps_between(lollipop_graph(1, 9)), 200)
    gaps = np.linalg.norm(np.diff(at, axis=0), axis=1)
    assert gaps == pytest.approx(np.ones(9), abs=0.05)
    assert np.linalg.norm(at[-1] - at[0]) == pytest.approx(9, abs=0.3)


def test_the_same_graph_always_looks_the_same():
    graph = random_graph(np.random.default_rng(6), 15)
    assert np.array_equal(graph_layout(graph), graph_layout(graph))


@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_tiny_graphs_have_a_layout(nodes):
    at = graph_layout(random_graph(np.random.default_rng(0), nodes))
    assert at.shape == (nodes, 2)
    assert np.isfinite(at).all()
