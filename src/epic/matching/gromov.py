"""Gromov-Wasserstein couplings of two small graphs, and of graphs with a common support.

A coupling shares the mass of one graph's nodes out among those of the other, so that connected nodes map
to connected nodes, and nodes to nodes with similar features (fused; Vayer et al., Optimal transport for structured
data with application on graphs, ICML 2019). All nodes of a graph have the same mass. ``structure`` is the weight of
connections throughout; features have the rest.

Linear problems are solved by POT (the extra ``ot``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from epic.errors import InputError

STEPS = 50
"""Steps of a coupling, at most; most are done after five."""
ROUNDS = 10
"""Rounds over both couplings, at most."""
TOLERANCE = 1e-5
"""Relative decrease at which a coupling, or a round, is done."""


@dataclass(frozen=True)
class Side:
    """A graph, or a support, to be coupled.

    Args:
        a: Structure ``[n, n]``: weights of edges.
        x: Features ``[n, width]``; width 0 where there are none.
    """

    a: np.ndarray
    x: np.ndarray

    def __len__(self) -> int:
        return len(self.a)

    @cached_property
    def symmetric(self) -> bool:
        """Whether no edge has a direction."""
        return bool((self.a == self.a.T).all())

    def moved(self, plan: np.ndarray) -> Side:
        """Return the average of what a coupling ``[k, n]`` lays on each node of the support.

        It is the support of least fused Gromov-Wasserstein distance to this graph, for this coupling.
        """
        share = plan * len(plan)
        return Side(share @ self.a @ share.T, share @ self.x)


def between(one: Side, two: Side, share: float) -> Side:
    """Return ``share`` of the one and the rest of the other, node on node."""
    return Side(*(share * u + (1 - share) * v for u, v in ((one.a, two.a), (one.x, two.x))))


def emd() -> Any:
    """Return POT's solver of linear transport problems.

    Raises:
        InputError: POT is not installed.
    """
    try:
        from ot.lp import emd
    except ImportError as error:
        raise InputError(
            "Gromov-Wasserstein couplings need POT, which is not installed: pip install POT (extra ot)"
        ) from error
    return emd


def spread(one: int, two: int) -> np.ndarray:
    """Return the coupling ``[one, two]`` that keeps the order of nodes; the identity where the sizes are equal.

    >>> spread(2, 3) * 6
    array([[2., 1., 0.],
           [0., 1., 2.]])
    """
    first, second = (np.arange(n + 1) * (one * two // n) for n in (one, two))  # whole numbers: no rounding
    low = np.maximum(first[:-1, None], second[None, :-1])
    high = np.minimum(first[1:, None], second[None, 1:])
    return np.maximum(high - low, 0) / (one * two)


def product(one: int, two: int) -> np.ndarray:
    """Return the coupling that shares every node out evenly."""
    return np.full((one, two), 1 / (one * two))


def objective(one: Side, two: Side, plan: np.ndarray, structure: float) -> float:
    """Return the squared fused Gromov-Wasserstein cost of a coupling ``[len(one), len(two)]``."""
    bend = (one.a**2).mean() + (two.a**2).mean() - 2 * float(((one.a @ plan @ two.a.T) * plan).sum())
    return (1 - structure) * float((_apart(one.x, two.x) * plan).sum()) + structure * bend


def couple(one: Side, two: Side, *, starts: list[np.ndarray], structure: float) -> tuple[np.ndarray, float]:
    """Return the best coupling found from some start, and its squared cost, which is no higher than that of any start.

    Conditional gradient: the linear problem at the current coupling gives a direction, and the cost along it is a
    parabola, so the best step is known.
    """
    solve = emd()
    whole = len(one) * len(two)
    p, q = (np.full(len(side), whole / len(side)) for side in (one, two))  # whole numbers: their sums are equal exactly
    linear = (1 - structure) * _apart(one.x, two.x)
    constant = structure * ((one.a**2).mean() + (two.a**2).mean())
    both = one.symmetric and two.symmetric

    def bent(plan: np.ndarray) -> np.ndarray:
        """Return what the structure adds to the gradient."""
        if both:
            return -4 * structure * (one.a @ plan @ two.a)
        return -2 * structure * (one.a @ plan @ two.a.T + one.a.T @ plan @ two.a)

    best: tuple[np.ndarray, float] | None = None
    for plan in starts:
        bend = bent(plan)
        value = constant + float(((linear + bend / 2) * plan).sum())
        for _ in range(STEPS):
            gradient = linear + bend
            # Costs below 0 make the solver call the problem infeasible, and return nothing.
            target = solve(p, q, gradient - gradient.min(), numItermax=1_000_000, center_dual=False) / whole
            move = target - plan
            slope = float((gradient * move).sum())
            if slope > -TOLERANCE * max(constant, value, 1e-12):
                break
            turned = bent(target) - bend
            curve = float((turned * move).sum()) / 2
            step = min(1.0, -slope / (2 * curve)) if curve > 0 else 1.0
            plan, bend, value = plan + step * move, bend + step * turned, value + step * (slope + step * curve)
        if best is None or value < best[1]:
            best = plan, value
    assert best is not None
    return best


def barycenter(
    one: Side, two: Side, *, share: float, size: int, structure: float
) -> tuple[tuple[np.ndarray, np.ndarray], float]:
    """Couple two graphs with the graph of ``size`` nodes that is nearest to both.

    It has the least ``share`` times the squared distance to the one plus the rest times that to the other. For given
    couplings it is the average of what they lay on it; for a given graph, couplings are found one by one. Both in turn
    lower the sum until it stays. It begins as the graph with the larger share.

    Returns:
        Couplings ``[size, len(one)]`` and ``[size, len(two)]`` of the support with both, and the sum.
    """
    sides, weight = (one, two), (share, 1 - share)
    heavy = int(share < 0.5)
    support = sides[heavy].moved(spread(size, len(sides[heavy])))
    plans = [spread(size, len(side)) for side in sides]
    starts = [[plan, product(*plan.shape)] for plan in plans]
    before = np.inf
    for _ in range(ROUNDS):
        found = [
            couple(support, side, starts=start, structure=structure) for side, start in zip(sides, starts, strict=True)
        ]
        plans, starts = [plan for plan, _ in found], [[plan] for plan, _ in found]
        value = sum(w * v for w, (_, v) in zip(weight, found, strict=True))
        if value > before - TOLERANCE * before:
            break
        before = value
        support = between(one.moved(plans[0]), two.moved(plans[1]), share)
    return (plans[0], plans[1]), value


def align(one: Side, two: Side, *, size: int, structure: float) -> tuple[tuple[np.ndarray, np.ndarray], float]:
    """Couple two graphs through ``size`` places: a coupling of low rank.

    The coupling is ``size`` times ``plans[0].T @ plans[1]``, and its cost is the least that was found. Each of both
    couplings in turn is found for what the other lays on the places, until the cost stays.

    Returns:
        Couplings ``[size, len(one)]`` and ``[size, len(two)]`` of the places with both, and the squared cost.
    """
    sides = (one, two)
    plans = [spread(size, len(side)) for side in sides]
    before = np.inf
    for turn in range(2 * ROUNDS):
        here = (turn + 1) % 2
        places = sides[1 - here].moved(plans[1 - here])
        starts = [plans[here], *([product(*plans[here].shape)] if turn == 0 else [])]
        plans[here], _ = couple(places, sides[here], starts=starts, structure=structure)
        value = objective(one, two, size * plans[0].T @ plans[1], structure)
        if turn % 2 and value > before - TOLERANCE * before:
            break
        before = value
    return (plans[0], plans[1]), value


def _apart(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Squared distances of rows."""
    apart = (one**2).sum(1)[:, None] + (two**2).sum(1) - 2 * one @ two.T
    return np.maximum(apart, 0)
