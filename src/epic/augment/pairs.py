"""Which two graphs to interpolate."""

from __future__ import annotations

import torch
from torch import Tensor

from epic.errors import choose
from epic.pack import matrix
from epic.partners import Partners, chances

PAIRS = ("random", "different", "same")


def draw_pairs(
    y: Tensor | None, graphs: int, count: int, pairs: str, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Two lists of distinct partners, ``count`` long, or empty where no pair of the asked kind exists.

    Sources go round the graphs in random order, so that each is used about equally often.
    """
    choose(pairs, PAIRS, "pairs")
    if pairs == "random" or y is None:
        partners = Partners(torch.zeros(graphs, dtype=torch.long))
        able = partners.has_same
    else:
        partners = Partners(_groups(y))
        able = partners.has_same if pairs == "same" else partners.has_other
    candidates = able.nonzero()[:, 0]
    if candidates.numel() == 0 or count == 0:
        return candidates[:0], candidates[:0]
    rounds = -(-count // candidates.numel())
    source = torch.cat([candidates[torch.randperm(candidates.numel(), generator=generator)] for _ in range(rounds)])[
        :count
    ]
    chance = chances(count, generator)
    return source, partners.other(source, chance) if pairs == "different" else partners.same(source, chance)


def _groups(y: Tensor) -> Tensor:
    """Equal labels, equal numbers; missing entries count as equal to each other."""
    rows = torch.nan_to_num(y, nan=-torch.inf) if y.is_floating_point() else y
    return matrix(rows).unique(dim=0, return_inverse=True)[1]
