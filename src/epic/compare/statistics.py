"""Tests and ranks: paired comparisons over splits and seeds, ranks over datasets, corrections for many tests.

Accuracies of repeated splits are not independent: their test and training graphs overlap. A plain t-test over splits
therefore sees effects where there are none. The test here widens the variance as Nadeau and Bengio (2003) propose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from epic.errors import InputError

CONFIDENCE = 0.95
"""Of every interval; p-values below the rest are significant."""
EXACT = 200
"""Differences up to which the signed-rank distribution is counted out."""

DIGITS = 9
"""Decimals by which scores are told apart: equal accuracies may differ in the last bits of a mean."""


@dataclass(frozen=True)
class Comparison:
    """A method against another, by split.

    Interval and p-value are None where nothing can be said: without runs, with one split, or with the same difference
    (other than zero) in every split, which leaves no spread to judge by.

    Attributes:
        difference: The mean over splits; None without runs.
        low: Lower bound of the difference, with :data:`CONFIDENCE`.
        high: Upper bound.
        p: Two-sided p-value.
        statistic: The t statistic.
        splits: Number of splits with a pair of runs.
        runs: Number of pairs of runs.
        free: Degrees of freedom of the t statistic; None where there is none.
        test: What the interval comes from.
    """

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    statistic: float | None = None
    splits: int = 0
    runs: int = 0
    free: float | None = None
    test: str = "corrected resampled t-test"

    def bare(self) -> Comparison:
        """Return the difference alone, without anything to judge it by."""
        return replace(self, low=None, high=None, p=None, statistic=None)


@dataclass(frozen=True)
class SignedRank:
    """``statistic``: sum of the ranks of positive differences. ``count``: differences that are not zero."""

    statistic: float
    p: float
    count: int


def split_differences(method: Any, other: Any) -> tuple[np.ndarray, int]:
    """Average the differences of each split.

    Seeds of a split share their test graphs and count as one observation.

    Args:
        method: Scores ``[splits]`` or ``[splits, seeds]``; NaN where a run is missing.
        other: Scores of the same shape, paired by place. A pair with NaN on either side is left out.

    Returns:
        The mean difference of each split that has a pair, and the number of pairs of runs.
    """
    a, b = (np.asarray(scores, dtype=float) for scores in (method, other))
    if a.shape != b.shape or a.ndim not in (1, 2):
        raise InputError(f"scores must be two arrays [splits] or [splits, seeds] alike, got {a.shape} and {b.shape}")
    if np.isinf(a).any() or np.isinf(b).any():
        raise InputError("scores hold infinity: give NaN where a run failed")
    gap = (a - b).reshape(len(a), -1)
    there = ~np.isnan(gap)
    count = there.sum(1)
    total = np.where(there, gap, 0.0).sum(1)
    return total[count > 0] / count[count > 0], int(count.sum())


def paired(method: Any, other: Any, train: int, test: int) -> Comparison:
    """Compare scores paired by split and seed: the corrected resampled t-test and its interval.

    The variance of the mean of J split differences is taken as ``1/J + test/train`` times their sample variance. That
    suits folds and splits, which train on most of the graphs; see :func:`crossed` for draws of few.

    Args:
        method: Scores ``[splits]`` or ``[splits, seeds]``; see :func:`split_differences`.
        other: Scores of the same shape.
        train: Number of training graphs of a split.
        test: Number of test graphs. 0 gives the plain paired t-test, right only for graphs drawn afresh each time.
    """
    if train < 1 or test < 0:
        raise InputError(f"train = {train} and test = {test} must count the graphs of a split")
    return _compared(method, other, lambda d: (1 / d.size + test / train) * float(d.var(ddof=1)))


def crossed(method: Any, other: Any, gains: Any) -> Comparison:
    """Compare scores paired by draw of training graphs, where most graphs are test graphs in most draws.

    A mean over J draws varies for two reasons. Training graphs differ from draw to draw: this part is the variance of
    the draws' differences by J. And draws share test graphs, on which one method may happen to do better every time:
    this part is the mean covariance of two draws, ``sum over common graphs (g - mean) (g' - mean') / (m m')`` with m
    and m' test graphs. Draws count as independent given the dataset, though they may share training graphs.

    Args:
        method: Scores ``[draws]`` or ``[draws, seeds]``; see :func:`split_differences`.
        other: Scores of the same shape.
        gains: ``[draws, graphs]``, what the method gains on each test graph in the units of scores; NaN where a graph
            was not tested.
    """
    gains = np.asarray(gains, dtype=float)
    gains = gains[~np.isnan(gains).all(1)]
    tested = ~np.isnan(gains)
    count = tested.sum(1, keepdims=True)
    total = np.where(tested, gains, 0.0)
    parts = np.where(tested, total - total.sum(1, keepdims=True) / count, 0.0) / count
    shared = parts @ parts.T
    covariance = max((shared.sum() - np.trace(shared)) / max(len(gains) * (len(gains) - 1), 1), 0.0)
    found = _compared(method, other, lambda d: float(d.var(ddof=1)) / d.size + covariance, covariance)
    return replace(found, test="t-test of draws that share test graphs")


def _compared(method: Any, other: Any, variance: Callable[[np.ndarray], float], fixed: float = 0.0) -> Comparison:
    """Return the t interval of the mean of split differences.

    ``variance`` returns that of the mean; the ``fixed`` part of it does not come from the spread over splits, so that
    it has no degrees of freedom.
    """
    d, runs = split_differences(method, other)
    splits = d.size
    mean = float(d.mean()) if splits else None
    # Equal differences leave rounding in the variance, which would pass for a tiny spread.
    tiny = 10.0**-DIGITS
    if mean is None or splits == 1 or float(np.ptp(d)) <= tiny:
        if splits > 1 and float(np.abs(d).max()) <= tiny:
            return Comparison(0.0, 0.0, 0.0, 1.0, 0.0, splits, runs, splits - 1)
        return Comparison(mean, splits=splits, runs=runs)
    whole = variance(d)
    free = (splits - 1) * (whole / (whole - fixed)) ** 2  # Satterthwaite
    return _t_test(mean, math.sqrt(whole), free, splits, runs)


def _t_test(mean: float, error: float, free: float, splits: int, runs: int) -> Comparison:
    """Return the t interval of a mean with this standard error."""
    t, reach = mean / error, error * float(stats.t.ppf((1 + CONFIDENCE) / 2, free))
    p = 2 * float(stats.t.sf(abs(t), free))
    return Comparison(mean, mean - reach, mean + reach, p, t, splits, runs, free)


def pooled(parts: Sequence[Comparison]) -> Comparison:
    """Average the differences on several datasets, each with the same weight, with a t interval.

    The variance of each dataset's mean is that of :func:`paired` or :func:`crossed`; the degrees of freedom follow
    Welch and Satterthwaite. The result speaks of these datasets: it does not say what to expect on others, which the
    signed-rank test of the datasets' means does.

    Args:
        parts: One comparison for each dataset. Those without runs are left out.

    Returns:
        The comparison of all. It has no interval where one of the parts has none.
    """
    there = [c for c in parts if c.difference is not None]
    if not there:
        return Comparison()
    splits, runs = sum(c.splits for c in there), sum(c.runs for c in there)
    mean = float(np.mean([c.difference for c in there]))
    if any(c.low is None or c.high is None for c in there):
        return Comparison(mean, splits=splits, runs=runs)
    free = np.array([c.free for c in there], dtype=float)
    reach = np.array([(c.high - c.low) / 2 for c in there])  # type: ignore[operator]
    variance = (reach / stats.t.ppf((1 + CONFIDENCE) / 2, free)) ** 2
    if not variance.any():
        return Comparison(mean, mean, mean, float(mean == 0), None, splits, runs)
    total = float(variance.sum() ** 2 / (variance**2 / free).sum())
    return _t_test(mean, math.sqrt(variance.sum()) / len(there), total, splits, runs)


def signed_rank(differences: Any) -> SignedRank:
    """Test paired differences by Wilcoxon's signed ranks (NaN is left out).

    Zeros are dropped and ties share their mean rank. Up to 200 differences the p-value is exact, ties included; beyond
    that it is the normal approximation. Splits of one dataset depend on each other, which this test does not know: on
    simulated data without an effect (8 datasets x 5 splits) it reports one in 16 % of cases, with one mean difference
    for each dataset in 4 %. Prefer the latter.
    """
    d = np.asarray(differences, dtype=float).ravel()
    d = np.round(d[~np.isnan(d)], DIGITS)
    d = d[d != 0]
    if d.size == 0:
        return SignedRank(0.0, 1.0, 0)
    twice = np.rint(2 * stats.rankdata(np.abs(d))).astype(np.int64)  # mean ranks are halves
    up, total = int(twice[d > 0].sum()), int(twice.sum())
    if d.size > EXACT:
        sigma = math.sqrt(float((twice**2).sum()) / 4)
        p = 2 * float(stats.norm.sf(abs(up - total / 2) / sigma))
    else:
        chance = np.zeros(total + 1)
        chance[0] = 1.0
        for rank in twice:  # each sign is a fair coin
            chance[rank:] += chance[: total + 1 - rank].copy()
            chance /= 2
        tail = min(up, total - up)
        p = min(1.0, 2 * float(chance[: tail + 1].sum()))
    return SignedRank(up / 2, p, int(d.size))


def competition_ranks(scores: Any) -> np.ndarray:
    """Rank scores along the first axis, 1 for the highest; equal scores share the better rank.

    >>> competition_ranks([3.0, 5.0, 5.0, 1.0]).tolist()
    [3, 1, 1, 4]
    """
    table = np.asarray(scores, dtype=float)
    if np.isnan(table).any():
        raise InputError("scores hold NaN: a run that is missing has no rank")
    return stats.rankdata(-np.round(table, DIGITS), method="min", axis=0).astype(np.int64)


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Correct p-values of several comparisons by Holm's step-down method; None stays None and does not count.

    >>> holm([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    known = [i for i, value in enumerate(p) if value is not None and not math.isnan(value)]
    result: list[float | None] = [None] * len(p)
    worst = 0.0
    for place, i in enumerate(sorted(known, key=lambda i: p[i] or 0.0)):
        worst = max(worst, min(1.0, (len(known) - place) * (p[i] or 0.0)))
        result[i] = worst
    return result


def critical_difference(rows: int, columns: int) -> float:
    """Return how far two mean ranks must lie apart to be told apart (Nemenyi's test of all pairs).

    With :data:`CONFIDENCE`, no pair of equally good methods is told apart.

    Args:
        rows: Number of methods.
        columns: Number of datasets that ranks are averaged over.

    >>> round(critical_difference(4, 14), 2)  # in Demsar (2006)
    1.25
    """
    q = float(stats.studentized_range.ppf(CONFIDENCE, rows, math.inf)) / math.sqrt(2)
    return q * math.sqrt(rows * (rows + 1) / (6 * columns))
