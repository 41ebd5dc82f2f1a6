"""Random partners of the same or of another group, without a table of all pairs."""

from __future__ import annotations

import torch
from torch import Tensor


class Partners:
    """Items sorted by group, so that a partner is a random place inside or outside the item's own run.

    Group -1 takes no part.
    """

    def __init__(self, group: Tensor) -> None:
        known = (group >= 0).nonzero()[:, 0]
        _, inverse, counts = group[known].unique(return_inverse=True, return_counts=True)
        self.order = known[torch.argsort(inverse, stable=True)]
        nowhere = torch.zeros_like(group)
        self._size = nowhere.index_put((known,), counts[inverse])
        self._begin = nowhere.index_put((known,), (counts.cumsum(0) - counts)[inverse])
        self._rank = nowhere.index_put((self.order,), torch.arange(self.order.numel()))

    @property
    def has_same(self) -> Tensor:
        """Which items have another item of their group."""
        return self._size > 1

    @property
    def has_other(self) -> Tensor:
        """Which items have an item of another group."""
        return (self._size > 0) & (self._size < self.order.numel())

    def same(self, item: Tensor, chance: Tensor) -> Tensor:
        """Another item of the same group; ``chance`` is uniform in [0, 1)."""
        step = (chance * (self._size[item] - 1)).long()
        step = step + (step >= self._rank[item] - self._begin[item])  # jump over the item itself
        return self.order[self._begin[item] + step]

    def other(self, item: Tensor, chance: Tensor) -> Tensor:
        """An item of another group."""
        step = (chance * (self.order.numel() - self._size[item])).long()
        return self.order[step + torch.where(step >= self._begin[item], self._size[item], 0)]  # jump over the group


def chances(count: int, generator: torch.Generator) -> Tensor:
    """Uniform numbers in [0, 1), in float64 so that no item of a large group is out of reach."""
    return torch.rand(count, generator=generator, dtype=torch.double)
