"""Which two graphs to interpolate."""

from __future__ import annotations

import torch
from torch import Tensor

from epic.errors import choose
from epic.graphs.packed import matrix
from epic.random import GroupSampler, uniform

PAIRS = ("random", "different", "same")


def draw_pairs(
    y: Tensor | None, graphs: int, count: int, pairs: str, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Draw pairs of different graphs.

    Sources go round all graphs that have a partner, in random order, so that none is a source more than one time
    more often than another. The partner of each is uniform over all graphs that the rule allows.

    Args:
        y: Labels; without them every pair is allowed.
        graphs: How many graphs there are.
        count: How many pairs to draw.
        pairs: ``random``, or ``different`` or ``same`` labels only.
        generator: The source of randomness.

    Returns:
        Numbers of sources and of targets, ``count`` of each, or none where no pair is allowed.
    """
    choose(pairs, PAIRS, "pairs")
    different = pairs == "different" and y is not None
    alike = torch.zeros(graphs, dtype=torch.long)  # one group: any other graph is of the same
    groups = GroupSampler(alike if pairs == "random" or y is None else _groups(y).cpu())
    order = torch.randperm(graphs, generator=generator)
    order = order[(groups.has_other if different else groups.has_same)[order]]
    if order.numel() == 0:
        return order, order
    source, chance = order[torch.arange(count) % order.numel()], uniform(count, generator)
    return source, groups.other(source, chance) if different else groups.same(source, chance)


def _groups(y: Tensor) -> Tensor:
    """Return equal numbers for equal labels; missing entries count as equal to each other."""
    rows = torch.nan_to_num(y, nan=-torch.inf) if y.is_floating_point() else y
    return matrix(rows).unique(dim=0, return_inverse=True)[1]
