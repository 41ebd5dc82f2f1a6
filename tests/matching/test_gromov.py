import sys
from itertools import product as every

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epic import InputError
from epic.matching.gromov import Side, align, barycenter, between, couple, objective, product, spread


def side(seed, nodes=None, directed=False, width=3, density=0.4):
    """A random graph with random features."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9)) if nodes is None else nodes
    a = np.triu(rng.random((n, n)) < density, 1).astype(float)
    a = a + (np.tril(rng.random((n, n)) < density, -1) if directed else a.T)
    return Side(a, rng.normal(size=(n, width)))


def relabelled(graph, seed=0):
    order = np.random.default_rng(seed).permutation(len(graph))
    return Side(graph.a[np.ix_(order, order)], graph.x[order]), order


def with_loops(one, two, plan, structure):
    """The definition of the squared fused Gromov-Wasserstein cost, term by term."""
    total = 0.0
    for i, j in every(range(len(one)), range(len(two))):
        total += (1 - structure) * ((one.x[i] - two.x[j]) ** 2).sum() * plan[i, j]
        for k, l in every(range(len(one)), range(len(two))):
            total += structure * (one.a[i, k] - two.a[j, l]) ** 2 * plan[i, j] * plan[k, l]
    return total


def check_coupling(plan, one, two):
    assert plan.shape == (one, two)
    assert plan.min() >= -1e-12
    np.testing.assert_allclose(plan.sum(1), np.full(one, 1 / one), atol=1e-12)
    np.testing.assert_allclose(plan.sum(0), np.full(two, 1 / two), atol=1e-12)


@given(st.integers(1, 12), st.integers(1, 12))
def test_spread_keeps_the_order(one, two):
    plan = spread(one, two)
    check_coupling(plan, one, two)
    used = np.argwhere(plan > 0)
    assert (np.diff(used, axis=0) >= 0).all()
    if one == two:
        assert np.array_equal(plan * one, np.eye(one))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.booleans(), st.floats(0, 1))
def test_objective_against_loops(seed, directed, structure):
    one, two = side(seed, directed=directed), side(seed + 1, directed=directed)
    for plan in (product(len(one), len(two)), spread(len(one), len(two))):
        assert objective(one, two, plan, structure) == pytest.approx(with_loops(one, two, plan, structure), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(0, 1))
def test_moved_is_the_best_support_for_a_coupling(seed, structure):
    """No other structure and features are nearer, for this coupling."""
    graph, rng = side(seed), np.random.default_rng(seed)
    plan = spread(4, len(graph))
    best = graph.moved(plan)
    value = objective(best, graph, plan, structure)
    for _ in range(5):
        other = Side(best.a + 0.1 * rng.normal(size=best.a.shape), best.x + 0.1 * rng.normal(size=best.x.shape))
        assert objective(other, graph, plan, structure) >= value - 1e-12


def test_between_is_the_average():
    mixed = between(Side(np.eye(2), np.ones((2, 1))), Side(np.zeros((2, 2)), np.zeros((2, 1))), 0.25)
    assert mixed.a.tolist() == [[0.25, 0], [0, 0.25]]
    assert mixed.x.tolist() == [[0.25], [0.25]]


def test_without_pot_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot.lp", None)
    with pytest.raises(InputError, match=r"need POT, .* pip install POT"):
        couple(side(0), side(1), starts=[], structure=0.5)


class TestWithPOT:
    """POT solves the linear problems, and its own evaluation of couplings judges the results."""

    @pytest.fixture(autouse=True)
    def _pot(self):
        self.ot = pytest.importorskip("ot", reason="the extra `ot` is not installed")

    def value(self, one, two, plan, structure):
        """What POT says that a coupling costs."""
        p, q = (np.full(len(s), 1 / len(s)) for s in (one, two))
        loss = self.ot.gromov.gwloss(*self.ot.gromov.init_matrix(one.a, two.a, p, q, "square_loss"), plan)
        return (1 - structure) * float((self.ot.dist(one.x, two.x) * plan).sum()) + structure * float(loss)

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5, 0.95, 1.0]))
    def test_no_start_is_better(self, seed, structure):
        one, two = side(seed), side(seed + 1)
        starts = [product(len(one), len(two)), spread(len(one), len(two))]
        plan, value = couple(one, two, starts=starts, structure=structure)
        check_coupling(plan, len(one), len(two))
        assert value == pytest.approx(self.value(one, two, plan, structure), abs=1e-9)
        assert all(value <= self.value(one, two, start, structure) + 1e-9 for start in starts)

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 10_000))
    def test_directed_graphs(self, seed):
        one, two = side(seed, directed=True), side(seed + 1, directed=True)
        start = product(len(one), len(two))
        plan, value = couple(one, two, starts=[start], structure=0.9)
        check_coupling(plan, len(one), len(two))
        assert value == pytest.approx(with_loops(one, two, plan, 0.9), abs=1e-9)
        assert value <= with_loops(one, two, start, 0.9) + 1e-9

    def test_features_alone_are_a_linear_problem(self):
        one, two = side(1, 6), side(2, 8)
        _, value = couple(one, two, starts=[product(6, 8)], structure=0.0)
        assert value == pytest.approx(float(self.ot.emd2([], [], self.ot.dist(one.x, two.x))), abs=1e-9)

    def test_on_average_no_worse_than_pot(self):
        ours, theirs = [], []
        for seed in range(30):
            one, two = side(seed, 8 + seed % 5), side(100 + seed, 10)
            starts = [product(len(one), len(two)), spread(len(one), len(two))]
            ours.append(couple(one, two, starts=starts, structure=0.95)[1])
            found = self.ot.gromov.fused_gromov_wasserstein(
                self.ot.dist(one.x, two.x), one.a, two.a, alpha=0.95, symmetric=True
            )
            theirs.append(self.value(one, two, found, 0.95))
        assert np.mean(ours) <= np.mean(theirs)

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 10_000))
    def test_a_relabelled_graph_is_found(self, seed):
        graph = side(seed)
        other, order = relabelled(graph, seed)
        plan, value = couple(graph, other, starts=[product(len(graph), len(graph))], structure=0.2)
        assert value == pytest.approx(0, abs=1e-9)
        np.testing.assert_allclose(plan[order] * len(graph), np.eye(len(graph)), atol=1e-6)

    @pytest.mark.parametrize("sizes", [(12, 6), (1, 5), (7, 7)])
    def test_costs_below_zero_do_no_harm(self, sizes):
        """Complete graphs without features: all entries of the gradient are below 0."""
        one, two = (Side(np.ones((n, n)), np.zeros((n, 0))) for n in sizes)
        plan, value = couple(one, two, starts=[product(*sizes)], structure=1.0)
        check_coupling(plan, *sizes)
        assert value == pytest.approx(0, abs=1e-12)

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 10_000), st.sampled_from([0, 1]))
    def test_a_barycenter_with_all_of_one_is_it(self, seed, share):
        pair = side(seed), side(seed + 1)
        mine = pair[1 - share]
        plans, value = barycenter(*pair, share=float(share), size=len(mine), structure=0.95)
        found = between(*(g.moved(plan) for g, plan in zip(pair, plans, strict=True)), float(share))
        assert value == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(found.a, mine.a, atol=1e-12)
        np.testing.assert_allclose(found.x, mine.x, atol=1e-12)

    @settings(max_examples=15, deadline=None)
    @given(st.integers(0, 10_000), st.floats(0.05, 0.95), st.integers(1, 8))
    def test_a_barycenter_is_nearer_than_simple_ones(self, seed, share, size):
        """Nearer than a graph without edges, and than what even couplings give."""
        pair = side(seed), side(seed + 1)
        plans, _ = barycenter(*pair, share=share, size=size, structure=0.95)
        for plan, graph in zip(plans, pair, strict=True):
            check_coupling(plan, size, len(graph))

        def far(support, couplings):
            weights = (share, 1 - share)
            return sum(w * self.value(support, g, c, 0.95) for w, g, c in zip(weights, pair, couplings, strict=True))

        even = [product(size, len(g)) for g in pair]
        best = between(*(g.moved(plan) for g, plan in zip(pair, plans, strict=True)), share)
        flat = between(*(g.moved(plan) for g, plan in zip(pair, even, strict=True)), share)
        assert far(best, plans) <= far(flat, even) + 1e-9
        assert far(best, plans) <= far(Side(np.zeros((size, size)), flat.x), even) + 1e-9

    def test_barycenters_on_average_no_worse_than_pot(self):
        ours, theirs = [], []
        for seed in range(8):
            pair, share, size = (side(seed, 7), side(50 + seed, 9)), 0.2 + 0.08 * seed, 8
            ours.append(barycenter(*pair, share=share, size=size, structure=0.95)[1])
            names = {"lambdas": [share, 1 - share], "alpha": 0.95, "random_state": 0, "log": True}
            x, a, log = self.ot.gromov.fgw_barycenters(size, [g.x for g in pair], [g.a for g in pair], **names)
            far = []
            for g, own in zip(pair, log["T"], strict=True):
                starts = [own if own.shape == (size, len(g)) else own.T, product(size, len(g))]
                far.append(couple(Side(a, x), g, starts=starts, structure=0.95)[1])
            theirs.append(share * far[0] + (1 - share) * far[1])
        assert np.mean(ours) <= np.mean(theirs)

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 10_000), st.integers(1, 8))
    def test_align_gives_a_coupling_of_low_rank(self, seed, size):
        one, two = side(seed), side(seed + 1)
        plans, value = align(one, two, size=size, structure=0.9)
        for plan, graph in zip(plans, (one, two), strict=True):
            check_coupling(plan, size, len(graph))
        whole = size * plans[0].T @ plans[1]
        check_coupling(whole, len(one), len(two))
        assert np.linalg.matrix_rank(whole, tol=1e-9) <= size
        assert value == pytest.approx(self.value(one, two, whole, 0.9), abs=1e-9)
        begun = size * spread(size, len(one)).T @ spread(size, len(two))
        assert value <= self.value(one, two, begun, 0.9) + 1e-9

    def test_one_place_is_the_even_coupling(self):
        one, two = side(3, 5), side(4, 6)
        plans, value = align(one, two, size=1, structure=0.7)
        np.testing.assert_allclose(plans[0].T @ plans[1], product(5, 6), atol=1e-12)
        assert value == pytest.approx(objective(one, two, product(5, 6), 0.7))
