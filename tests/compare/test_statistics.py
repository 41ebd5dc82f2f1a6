"""Statistics against scipy, against hand and brute force, and on simulated data without an effect."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import stats

from epic import InputError
from epic.compare.statistics import (
    Comparison,
    competition_ranks,
    crossed,
    holm,
    paired,
    signed_rank,
    split_differences,
)
from epic.compare.verdict import verdict


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def samples(splits=6, seeds=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0.8, 0.03, (splits, seeds)), rng.normal(0.79, 0.03, (splits, seeds))


def test_without_correction_it_is_scipys_paired_t_test_of_the_split_means():
    a, b = samples()
    found = paired(a, b, train=70, test=0)
    other = stats.ttest_rel(a.mean(1), b.mean(1))
    assert found.p == pytest.approx(other.pvalue)
    assert found.statistic == pytest.approx(other.statistic)
    interval = other.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.difference == pytest.approx((a - b).mean())
    assert (found.splits, found.runs) == (6, 18)  # seeds are not observations


def test_corrected_by_hand():
    # Differences 0.01, 0.03, 0.05: mean 0.03, variance 0.0004; the mean's is (1/3 + 2/7) of it.
    found = paired([0.81, 0.83, 0.85], [0.8, 0.8, 0.8], train=70, test=20)
    error = (0.0004 * (1 / 3 + 2 / 7)) ** 0.5
    assert found.statistic == pytest.approx(0.03 / error)
    assert found.p == pytest.approx(2 * stats.t.sf(0.03 / error, 2))
    assert found.high - found.difference == pytest.approx(4.302652729911275 * error)  # 97.5 % of t, 2 degrees


def test_failed_runs_are_left_out_in_pairs():
    a, b = np.array([[0.9, np.nan], [0.7, 0.8], [np.nan, np.nan]]), np.array([[0.8, 0.1], [0.6, np.nan], [0.5, 0.5]])
    differences, runs = split_differences(a, b)
    assert differences.tolist() == pytest.approx([0.1, 0.1])
    assert runs == 2


def test_degenerate_input():
    same = paired([0.5, 0.6, 0.7], [0.5, 0.6, 0.7], 70, 20)
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)
    # Zero but for rounding: 0.1 + 0.2 is not 0.3.
    assert paired([0.1 + 0.2, 0.5], [0.3, 0.5], 70, 20) == paired([0.3, 0.5], [0.3, 0.5], 70, 20)
    one = paired([[0.5, 0.6]], [[0.4, 0.6]], 70, 20)
    assert (one.low, one.high, one.p, one.splits, one.runs) == (None, None, None, 1, 2)
    assert one.difference == pytest.approx(0.05)
    shifted = paired([0.52, 0.62, 0.72], [0.5, 0.6, 0.7], 70, 20)  # scipy would say p = 0
    assert shifted.difference == pytest.approx(0.02)
    assert shifted.p is None
    nothing = paired([np.nan, np.nan], [0.1, 0.2], 70, 20)
    assert nothing.difference is None
    assert (nothing.splits, nothing.runs) == (0, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired([0.1, 0.2], [0.1], 7, 2), r"alike, got \(2,\) and \(1,\)"),
        (lambda: paired([np.inf], [0.1], 7, 2), "infinity"),
        (lambda: paired([0.1], [0.1], 0, 2), "train = 0"),
        (lambda: competition_ranks([1.0, np.nan]), "NaN"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("size", [4, 12, 50])
def test_signed_rank_is_scipys(size):
    d = np.random.default_rng(size).normal(0.3, 1, size)
    other = stats.wilcoxon(d, method="exact")
    found = signed_rank(d)
    assert found.p == pytest.approx(other.pvalue)
    assert min(found.statistic, size * (size + 1) / 2 - found.statistic) == other.statistic
    large = np.random.default_rng(0).normal(0.05, 1, 400)
    assert signed_rank(large).p == pytest.approx(stats.wilcoxon(large, method="asymptotic").pvalue)


def test_signed_rank_with_ties_and_zeros_against_all_signs():
    d = np.array([0.0, 0.5, 0.5, -0.5, 1.0, 2.0, 2.0, np.nan, 0.1])
    kept = d[~np.isnan(d) & (d != 0)]
    rank = stats.rankdata(np.abs(kept))
    sums = np.array([(rank * signs).sum() for signs in itertools.product((0, 1), repeat=kept.size)])
    up = rank[kept > 0].sum()
    expected = min(1.0, 2 * min((sums <= up).mean(), (sums >= up).mean()))
    found = signed_rank(d)
    assert (found.statistic, found.count) == (up, 7)
    assert found.p == pytest.approx(expected)
    assert found.p < 1
    assert signed_rank([0.1 + 0.2 - 0.3, 0.0]) == signed_rank([])
    assert signed_rank([]).p == 1


def test_ranks_by_hand():
    found = competition_ranks([[0.9, 0.1 + 0.2], [0.9, 0.3], [0.95, 0.1]])
    assert found.tolist() == [[2, 1], [2, 1], [1, 3]]


def test_holm_by_hand():
    # Rising: 0.01 x 4, 0.02 x 3, 0.03 x 2 (not below 0.06), 0.9 x 1.
    assert holm([0.03, 0.9, 0.01, None, 0.02]) == pytest.approx([0.06, 0.9, 0.04, None, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("found", "p", "text"),
    [
        (Comparison(1.2, 0.3, 2.1, 0.02, 3, 5, 15), None, "helps: +1.2 points, 95 % interval 0.3 to 2.1"),
        (Comparison(-1.2, -2.1, -0.3, 0.02, -3, 5, 15), None, "hurts: -1.2 points, 95 % interval -2.1 to -0.3"),
        (
            Comparison(1.0, -1.0, 3.0, 0.2, 1, 5, 15),
            None,
            "no evidence that it helps: +1.0 points, 95 % interval -1.0 to 3.0",
        ),
        (
            Comparison(1.2, 0.3, 2.1, 0.02, 3, 5, 15),
            0.06,
            "no evidence that it helps: +1.2 points, 95 % interval 0.3 to 2.1, not significant after Holm's correction",
        ),
        (Comparison(1.2, 0.3, 2.1, 0.02, 9, 2, 6), None, "too few runs to say: +1.2 points over 2 splits"),
        (Comparison(1.2, None, None, None, None, 1, 1), None, "too few runs to say: +1.2 points over 1 split"),
        (
            Comparison(1.2, None, None, None, None, 4, 4),
            None,
            "too few runs to say: +1.2 points in each of 4 splits, without any spread to judge by",
        ),
        (Comparison(0.0, 0.0, 0.0, 1.0, 0.0, 4, 4), None, "no evidence that it helps: the same scores in all 4 splits"),
        (Comparison(None, None, None, None, None, 0, 0), None, "no finished runs yet"),
    ],
)
def test_verdicts(found, p, text):
    assert verdict(found, p) == text


def test_verdict_in_percent():
    found = Comparison(1.2, 0.6, 1.8, 0.02, 3, 5, 15)
    assert verdict(found, unit="percent") == "helps: +1.2 percent, 95 % interval 0.6 to 1.8"


@pytest.mark.slow
def test_without_an_effect_one_is_called_in_a_twentieth_of_cases():
    """A method that is as often right where vanilla is wrong as the other way round, on a fresh dataset each time: 200
    graphs, 5 splits of 160 / 40 whose test graphs overlap, 2 seeds.
    """
    rng = np.random.default_rng(0)
    worlds, graphs, splits, test = 2000, 200, 5, 40
    called = plain = 0
    for _ in range(worlds):
        lead = rng.normal(0, 0.3, graphs)  # how much more often the method is right on each graph
        picked = np.argsort(rng.random((splits, graphs)), axis=1)[:, :test]
        gap = lead[picked].mean(1)[:, None] + rng.normal(0, 0.002, (splits, 2))
        found = paired(0.8 + gap, np.full_like(gap, 0.8), graphs - test, test)
        called += verdict(found).startswith(("helps", "hurts"))
        plain += paired(0.8 + gap, np.full_like(gap, 0.8), graphs - test, 0).p < 0.05
    low, high = stats.binom.interval(0.9999, worlds, 0.05)
    assert low <= called <= high
    assert plain > 0.11 * worlds  # splits taken for independent: 13.8 % in theory


def test_signed_ranks_of_all_splits_call_too_often_and_of_dataset_means_do_not():
    rng = np.random.default_rng(2)
    worlds, datasets, splits, graphs, test = 500, 8, 5, 200, 40
    every = means = 0
    for _ in range(worlds):
        lead = rng.normal(0, 0.3, (datasets, 1, graphs))
        picked = np.argsort(rng.random((datasets, splits, graphs)), axis=2)[:, :, :test]
        gap = np.take_along_axis(np.broadcast_to(lead, (datasets, splits, graphs)), picked, 2).mean(2)
        every += signed_rank(gap).p < 0.05
        means += signed_rank(gap.mean(1)).p < 0.05
    assert every > 0.1 * worlds
    assert means <= stats.binom.ppf(0.9999, worlds, 0.05)
    assert means > 0


def test_an_effect_is_found():
    rng = np.random.default_rng(1)
    found = paired(0.83 + rng.normal(0, 0.01, (10, 3)), 0.8 + rng.normal(0, 0.01, (10, 3)), 70, 20)
    assert verdict(found).startswith("helps: +")
    assert verdict(paired(1 - 0.2 - rng.normal(0.03, 0.01, 10), np.full(10, 0.8), 70, 20)).startswith("hurts: -")


def made_up(rng, *, draws=8, graphs=400, train=0.0, shared=0.0, effect=0.0):
    """Gains of a method in points, whose mean over draws and graphs is ``effect``.

    Args:
        train: Standard deviation of what a training set brings, the same for all graphs.
        shared: Standard deviation of what a graph brings, the same in all draws.
    """
    gains = effect + train * rng.normal(size=(draws, 1)) + shared * rng.normal(size=graphs)
    gains = gains + 30 * rng.normal(size=(draws, graphs))
    gains[rng.random(gains.shape) < 0.2] = np.nan  # graphs that a draw trained on
    return gains


def test_crossed_by_a_slow_reference():
    gains = made_up(np.random.default_rng(0), draws=5, graphs=30, train=3.0, shared=20.0)
    d = np.nanmean(gains, 1)
    covariances = []
    for j in range(5):
        for k in range(5):
            if j == k:
                continue
            both = [i for i in range(30) if not np.isnan(gains[j, i]) and not np.isnan(gains[k, i])]
            m, n = (np.sum(~np.isnan(gains[x])) for x in (j, k))
            covariances.append(sum((gains[j, i] - d[j]) * (gains[k, i] - d[k]) for i in both) / (m * n))
    train, test = np.var(d, ddof=1) / 5, np.mean(covariances)
    free = (train + test) ** 2 / (train**2 / 4)
    found = crossed(d, np.zeros(5), gains)
    assert test > 0
    assert found.free == pytest.approx(free)
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, free, d.mean(), np.sqrt(train + test)))


@pytest.mark.parametrize(("train", "shared"), [(2.0, 0.0), (2.0, 30.0), (0.5, 60.0), (4.0, 10.0)])
def test_crossed_is_wrong_in_one_of_twenty_without_an_effect(train, shared):
    rng = np.random.default_rng(1)
    ps = []
    for _ in range(600):
        gains = made_up(rng, train=train, shared=shared)
        ps.append(crossed(np.nanmean(gains, 1), np.zeros(8), gains).p)
    assert 0.02 < np.mean(np.array(ps) < 0.05) < 0.085


def test_crossed_sees_what_the_corrected_test_cannot():
    rng = np.random.default_rng(2)
    found = {"crossed": 0, "paired": 0}
    for _ in range(100):
        gains = made_up(rng, train=1.5, shared=10.0, effect=3.0)
        d = np.nanmean(gains, 1)
        found["crossed"] += crossed(d, np.zeros(8), gains).p < 0.05
        found["paired"] += paired(d, np.zeros(8), train=60, test=320).p < 0.05
    assert found["crossed"] > 70
    assert found["paired"] < 5


@pytest.mark.slow
@pytest.mark.parametrize("graphs", [600, 1000, 4000])
def test_crossed_is_calibrated_for_equally_good_classifiers(graphs):
    """Two classifiers see other columns of the same kind, on datasets drawn afresh, after 300 training graphs."""
    rng = np.random.default_rng(0)
    ps = []
    for _ in range(200):
        y = rng.integers(2, size=graphs)
        x = rng.normal(size=(graphs, 40)) + 0.25 * (2 * y - 1)[:, None]
        gains = np.full((10, graphs), np.nan)
        for draw in gains:
            train, test = np.split(rng.permutation(graphs)[:2300], [300])
            right = []
            for seen in (x[:, :20], x[:, 20:]):
                axis = seen[train][y[train] == 1].mean(0) - seen[train][y[train] == 0].mean(0)
                right.append((seen[test] @ axis > seen[train].mean(0) @ axis) == y[test])
            draw[test] = 100.0 * (right[0].astype(float) - right[1])
        means = np.nanmean(gains, 1)
        ps.append((crossed(means, np.zeros(10), gains).p, paired(means, np.zeros(10), train=1, test=0).p))
    found, plain = (np.array(ps) < 0.05).mean(0)
    assert found < 0.11
    assert plain > 0.25  # a t-test that takes draws for independent
