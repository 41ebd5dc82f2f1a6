"""Settings to try on validation: as many for every method."""

from __future__ import annotations

from itertools import product
from typing import Any

import torch

from epic.augment import find_method
from epic.random import derived

PLAIN: dict[str, tuple[Any, ...]] = {
    "pool": ("sum", "mean"),
    "lr": (3e-3, 1e-3, 1e-2),
    "dropout": (0.5, 0.2),
}
"""What plain training spends its budget on."""


def candidates(method: str, budget: int, fixed: dict[str, Any]) -> list[dict[str, Any]]:
    """List at most ``budget`` settings of a method: its defaults, then one change at a time, then combinations.

    ``fixed`` settings are not varied. A budget of 0 or 1 leaves the defaults.
    """
    grid = {k: v for k, v in find_method(method).grid.items() if k not in fixed}
    return spread(grid, budget, method)


def spread(grid: dict[str, tuple[Any, ...]], budget: int, name: str) -> list[dict[str, Any]]:
    """List points of a grid: the first value of everything, then one change at a time, the axes in turn.

    The other combinations follow in an order drawn by ``name``.

    >>> spread({"p": (1, 2), "q": (5, 6)}, 3, "x")
    [{}, {'p': 2}, {'q': 6}]
    """
    single = [{k: v} for i in range(1, 9) for k, values in grid.items() for v in values[i : i + 1]]
    points = ({k: v for k, v in zip(grid, p, strict=True) if v != grid[k][0]} for p in product(*grid.values()))
    rest = [p for p in points if len(p) > 1]
    order = torch.randperm(len(rest), generator=derived("tuning", name)).tolist()
    return [{}, *single, *(rest[i] for i in order)][: max(1, budget)]
