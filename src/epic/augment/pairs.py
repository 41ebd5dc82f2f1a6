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
    group = torch.zeros(graphs, dtype=torch.long) if pairs == "random" or y is None else _groups(y).cpu()
    shuffled = torch.randperm(graphs, generator=generator)
    for pool in (shuffled[: max(2, count)], shuffled):
        # Partners come from as few graphs as there are pairs, where they can: each graph used has to be embedded.
        # The pool is drawn anew each time, so that over many batches all pairs are alike.
        partners = Partners(group[pool])
        able = (partners.has_other if pairs == "different" else partners.has_same).nonzero()[:, 0]
        if able.numel():
            break
    if able.numel() == 0 or count == 0:
        return able[:0], able[:0]
    rounds = -(-count // able.numel())
    source = torch.cat([able[torch.randperm(able.numel(), generator=generator)] for _ in range(rounds)])[:count]
    chance = chances(count, generator)
    target = partners.other(source, chance) if pairs == "different" else partners.same(source, chance)
    return pool[source], pool[target]


def _groups(y: Tensor) -> Tensor:
    """Equal labels, equal numbers; missing entries count as equal to each other."""
    rows = torch.nan_to_num(y, nan=-torch.inf) if y.is_floating_point() else y
    return matrix(rows).unique(dim=0, return_inverse=True)[1]
