"""Orders of operations on bonds, against valences and pieces counted from scratch."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from epic._kernels import backend, orders
from epic._kernels.orders import CONNECTED, DELETE, INSERT, SUBSTITUTE, VALID

seeds = st.integers(0, 2**31)


def forms():
    """The functions as compiled, where numba is installed, and as interpreted."""
    return [orders.PLAIN, *([vars(orders)] if backend.enabled() else [])]


def pair(seed, most=9):
    """Bonds of one random pair as the functions take them, and as two matrices."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most))
    kind = rng.choice([SUBSTITUTE, SUBSTITUTE, DELETE, INSERT], n)
    matrices = []
    for absent in (INSERT, DELETE):
        bonds = np.triu((rng.random((n, n)) < 0.4) * rng.integers(1, 4, (n, n)), 1)
        bonds[kind == absent] = 0
        bonds[:, kind == absent] = 0
        matrices.append(bonds + bonds.T)
    old, new = matrices
    room = new.sum(1) + rng.integers(0, 2, n)
    ends, to = (np.ascontiguousarray(t) for t in np.nonzero((old > 0) | (new > 0)))
    first = np.concatenate([[0], np.bincount(ends, minlength=n).cumsum()])
    return rng, (first, to, old[ends, to], new[ends, to], kind, room), kind, room, old, new


def truth(done, kind, room, old, new):
    """What the graph is by Algorithm 1: bonds of the target between what is done, of the source elsewhere."""
    alive = np.where(done, kind != DELETE, kind != INSERT)
    bonds = np.where(done[:, None] & done, new, old) * (alive[:, None] & alive)
    valid = not (bonds.sum(1) > room)[done & alive].any()
    graph = nx.from_numpy_array(bonds[alive][:, alive])
    return VALID * valid + CONNECTED * (alive.any() and nx.is_connected(graph))


@settings(max_examples=60, deadline=None)
@given(seed=seeds)
def test_states_and_orders_are_right_from_scratch(seed):
    rng, bonds, kind, room, old, new = pair(seed)
    start = rng.permutation(kind.size)
    found = []
    for form in forms():
        for tries in (0, 3):
            order, state = start.copy(), np.empty(kind.size, np.int64)
            form["search"](bonds, tries, 7, order, state)
            assert sorted(order) == list(range(kind.size))
            done, expected = np.zeros(kind.size, bool), []
            for t in order:
                done[t] = True
                expected.append(truth(done, kind, room, old, new))
            assert state.tolist() == expected
            found.append((order, state))
    assert found[0][0].tolist() == start.tolist()
    before, after = found[0][1], found[1][1]
    assert (after & VALID).sum() >= (before & VALID).sum()
    assert (after == VALID + CONNECTED).sum() >= (before == VALID + CONNECTED).sum()
    for form, again in zip(found[:2], found[2:], strict=False):
        assert all((a == b).all() for a, b in zip(form, again, strict=True))


def test_search_finds_nearly_the_best_order():
    """Against all orders of small pairs: as many valid and connected graphs, or hardly fewer."""
    lost, whole = 0, 0
    for seed in range(40):
        _, bonds, kind, room, *matrices = pair(seed, most=6)
        best = 0
        for order in itertools.permutations(range(kind.size)):
            done, count = np.zeros(kind.size, bool), 0
            for t in order:
                done[t] = True
                count += truth(done, kind, room, *matrices) == VALID + CONNECTED
            best = max(best, count)
        order, state = np.arange(kind.size), np.empty(kind.size, np.int64)
        orders.search(bonds, 8, 0, order, state)
        found = int((state == VALID + CONNECTED).sum())
        assert found <= best
        lost, whole = lost + best - found, whole + best
    assert lost <= 0.05 * whole


@settings(max_examples=80, deadline=None)
@given(seed=seeds)
def test_double_bonds_lie_as_in_the_source(seed):
    """Against all ways to place them: every atom that had one keeps one, and no way agrees better."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    graph = nx.gnp_random_graph(n, 0.5, seed=int(seed % 1000))
    matching = nx.max_weight_matching(graph, maxcardinality=True)
    assume(matching)
    new, old = nx.to_numpy_array(graph, dtype=np.int64), nx.to_numpy_array(graph, dtype=np.int64)
    for u, v in matching:
        new[u, v] = new[v, u] = 2
    old *= np.triu(rng.integers(0, 3, (n, n)), 1) + np.triu(rng.integers(0, 3, (n, n)), 1).T
    old = np.triu(old) + np.triu(old).T
    atoms = {u for edge in matching for u in edge}

    def agreement(doubles):
        return sum(int(old[u, v] == 2) - int(old[u, v] == 1) for u, v in doubles)

    edges = [e for e in graph.edges if set(e) <= atoms]
    best = max(
        agreement(chosen)
        for chosen in itertools.combinations(edges, len(matching))
        if len({u for e in chosen for u in e}) == 2 * len(matching)
    )
    ends, to = (np.ascontiguousarray(t) for t in np.nonzero(new))
    first = np.concatenate([[0], np.bincount(ends, minlength=n).cumsum()])
    for form in forms():
        bonds = (first, to, old[ends, to].copy(), new[ends, to].copy(), first[:0], first[:0])
        form["alternate"](bonds, np.ones(to.size, bool))
        after = np.zeros_like(new)
        after[ends, to] = bonds[3]
        assert (after == after.T).all()
        assert ((after == 2).sum(1) == np.isin(np.arange(n), list(atoms))).all()
        assert agreement([(u, v) for u, v in edges if after[u, v] == 2]) == best


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda a: a[1].__setitem__(0, 5), "leads out of its pair"),
        (lambda a: a[0].__setitem__(1, 9), "bonds are not in order"),
        (lambda a: a[2].__setitem__(0, 1), "does not name every operation once"),
        (lambda a: a[3].__setitem__(1, 3), "pairs are not in order|differ in size"),
    ],
)
def test_wrong_numbers_are_refused(change, says):
    first, to, order = np.array([0, 1, 2]), np.array([1, 0]), np.array([0, 1])
    ptr, one = np.array([0, 2]), np.ones(2, np.int64)
    change((first, to, order, ptr))
    bonds = (first, to, one, one, 0 * one, one)
    for form in forms():
        with pytest.raises(IndexError, match=says):
            form["search_all"](ptr, bonds, np.zeros(2, bool), 1, 0, order.copy(), one.copy())
