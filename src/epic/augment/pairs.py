"""Which two graphs to interpolate."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from epic.errors import choose
from epic.graphs.packed import matrix
from epic.random import GroupSampler, uniform

PAIRS = ("random", "different", "same")


def draw_pairs(
    y: Tensor | None, graphs: int, count: int, pairs: str, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Two lists of distinct partners, ``count`` long, or empty where no pair of the asked kind exists.

    Sources go round the graphs that take part, so that each is used about equally often.
    """
    choose(pairs, PAIRS, "pairs")
    shuffled = torch.randperm(graphs, generator=generator)
    # Partners come from half as many graphs as there are pairs, where they can: each graph used has to be embedded, and
    # then serves in about four pairs. The pool is drawn anew each time, so that over many batches all pairs are alike.
    pool = shuffled[: max(2, -(-count // 2))]
    if graphs < 2 or count == 0:
        return shuffled[:0], shuffled[:0]
    if pairs == "random" or y is None:
        numbers, size = pool.numpy(), pool.numel()
        one = np.arange(count) % size
        other = (one + 1 + (uniform(count, generator).numpy() * (size - 1)).astype(np.int64)) % size
        return torch.from_numpy(numbers[one]), torch.from_numpy(numbers[other])
    group = _groups(y).cpu()
    for among in (pool, shuffled):
        partners = GroupSampler(group[among])
        able = (partners.has_other if pairs == "different" else partners.has_same).nonzero()[:, 0]
        if able.numel():
            source = able[torch.arange(count) % able.numel()]
            chance = uniform(count, generator)
            target = partners.other(source, chance) if pairs == "different" else partners.same(source, chance)
            return among[source], among[target]
    return shuffled[:0], shuffled[:0]


def _groups(y: Tensor) -> Tensor:
    """Equal labels, equal numbers; missing entries count as equal to each other."""
    rows = torch.nan_to_num(y, nan=-torch.inf) if y.is_floating_point() else y
    return matrix(rows).unique(dim=0, return_inverse=True)[1]
