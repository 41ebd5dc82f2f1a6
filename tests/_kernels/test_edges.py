"""The moves of edge-aware assignments against costs counted from scratch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epic._kernels import backend, branch, edges, moves
from epic._kernels.backend import interpreted

seeds = st.integers(0, 2**31)


def graph(rng, n, codes):
    """A random graph as the kernels take it, and its matrix of codes."""
    a = np.triu(rng.random((n, n)) < 0.4, 1)
    a = a | a.T
    code = rng.integers(1, codes + 1, (n, n))
    code = np.where(np.triu(np.ones((n, n), bool)), code, code.T)
    ends, to = (np.ascontiguousarray(t) for t in np.nonzero(a))
    return (np.concatenate([[0], a.sum(1).cumsum()]), to, code[ends, to]), np.where(a, code, 0)


def problem(seed, whole=True):
    rng = np.random.default_rng(seed)
    n, m, codes = int(rng.integers(1, 8)), int(rng.integers(1, 8)), int(rng.integers(1, 4))
    (a, code_a), (b, code_b) = graph(rng, n, codes), graph(rng, m, codes)
    draw = (lambda *shape: -rng.integers(0, 3, shape).astype(float)) if whole else (lambda *shape: -rng.random(shape))
    node, edge = draw(n, m) + 1.0, np.zeros((codes + 1, codes + 1))
    edge[1:, 1:] = draw(codes, codes)
    match = np.full(n, -1)
    chosen = rng.permutation(n)[: int(rng.integers(0, min(n, m) + 1))]
    match[chosen] = rng.permutation(m)[: chosen.size]

    def cost(match):
        kept = [(u, v) for u, v in enumerate(match) if v >= 0]
        pairs = sum(edge[code_a[u, w], code_b[v, x]] for u, v in kept for w, x in kept)
        return sum(node[u, v] for u, v in kept) + pairs / 2

    return rng, node, (a, b, edge), match, cost


def neighbours(match, m):
    """Every assignment that one move of one node leads to."""
    origin = {v: u for u, v in enumerate(match) if v >= 0}
    for u, v in enumerate(match):
        for to in range(-1, m):
            if to == v:
                continue
            other = match.copy()
            other[u] = to
            w = origin.get(to, -1) if to >= 0 else -1
            if w >= 0:
                other[w] = -1
                yield other
                other = other.copy()
                other[w] = v
            yield other


@settings(max_examples=150)
@given(seeds, st.booleans())
def test_descent_ends_where_no_move_helps(seed, whole):
    _, node, pair, match, cost = problem(seed, whole)
    gradient, origin = np.empty_like(node), np.empty(node.shape[1], np.int64)
    start = moves.linearise(node, gradient, match, origin, pair)
    assert start == pytest.approx(cost(match))
    moves.descend(gradient, 1e-9, match, origin, pair)
    end = moves.total(node, gradient, match)
    assert end == pytest.approx(cost(match), abs=1e-9)
    assert end <= start + 1e-9
    assert all(cost(other) >= end - 1e-6 for other in neighbours(match, node.shape[1]))
    assert [origin[v] for v in match if v >= 0] == [u for u, v in enumerate(match) if v >= 0]


@settings(max_examples=80)
@given(seeds, st.booleans())
def test_growth_and_release_keep_the_gradient(seed, whole):
    rng, node, pair, match, _ = problem(seed, whole)
    n, m = node.shape
    gradient, origin, state = np.empty_like(node), np.empty(m, np.int64), np.array([seed % 1000 + 1])
    moves.linearise(node, gradient, match, origin, pair)
    count = int(rng.integers(0, n + 1))
    before = match.copy()
    moves.release(gradient, count, match, origin, pair, state)
    assert (match != before).sum() <= count
    fresh, again = np.empty_like(node), np.empty(m, np.int64)
    moves.linearise(node, fresh, match, again, pair)
    assert gradient == pytest.approx(fresh)
    assert origin.tolist() == again.tolist()
    moves.grow(gradient, np.zeros_like(node), 0.0, match, origin, pair, state)
    moves.linearise(node, fresh, match, again, pair)
    assert gradient == pytest.approx(fresh)
    assert origin.tolist() == again.tolist()
    free = fresh[np.ix_(match < 0, again < 0)]
    assert (free > -1e-12).all()  # nothing that pays was left


@settings(max_examples=60)
@given(seeds, st.booleans())
def test_frank_wolfe_never_costs_more(seed, whole):
    _, node, pair, match, cost = problem(seed, whole)
    before = cost(match)
    gradient, origin = np.empty_like(node), np.empty(node.shape[1], np.int64)
    size = np.array([8])
    edges.frank_wolfe(node, gradient, match, origin, pair, edges.room(size, size))
    assert cost(match) <= before + 1e-9
    kept = match[match >= 0]
    assert len(set(kept.tolist())) == kept.size


def test_the_order_of_a_search_starts_at_a_hub_and_stays_connected():
    star = np.array([0, 1, 2, 3, 6]), np.array([3, 3, 3, 0, 1, 2])
    order = np.empty(4, np.int64)
    branch.fill_order(*star, order)
    assert order.tolist() == [3, 0, 1, 2]


def test_interpreted_functions_call_interpreted_ones():
    plain = interpreted(vars(moves), place=lambda *_: None)
    node = np.zeros((2, 2))
    one = np.array([0, 1, 2]), np.array([1, 0]), np.array([1, 1])
    arguments = (
        node,
        np.empty((2, 2)),
        np.array([0, 1]),
        np.empty(2, np.int64),
        (one, one, np.array([[0.0, 0], [0, -2]])),
    )
    assert plain["linearise"](*arguments) == 0
    assert moves.linearise(*arguments) == -2
    assert hasattr(moves.linearise, "py_func") == backend.enabled()
