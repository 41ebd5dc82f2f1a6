"""The node operations of many pairs, laid end to end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from epic.cost.base import Matches, Prices, segment_sum
from epic.pack import offsets
from epic.path.closed_form import merge


@dataclass(frozen=True)
class Operations:
    """Pair p owns operations ``ptr[p]:ptr[p+1]``: its source nodes in order, then the target nodes to insert.

    ``source`` and ``target`` are places in ``Matches.source`` and ``.target``, -1 for the missing side.
    """

    source: Tensor
    target: Tensor
    price: Tensor
    ptr: Tensor

    @staticmethod
    def of(m: Matches, prices: Prices) -> Operations:
        inserted = (m.origin < 0).nonzero()[:, 0]
        pair = torch.bucketize(inserted, m.target_ptr[1:], right=True)
        inserts = torch.bincount(pair, minlength=m.target_ptr.numel() - 1)
        order = merge(m.source_ptr.diff(), inserts)
        nodes = torch.arange(m.source.numel(), device=order.device)
        return Operations(
            torch.cat([nodes, torch.full_like(inserted, -1)])[order],
            torch.cat([m.partner, inserted])[order],
            torch.cat([prices.source, prices.target[inserted]])[order],
            offsets(m.source_ptr.diff() + inserts),
        )

    @cached_property
    def pair(self) -> Tensor:
        return torch.repeat_interleave(torch.arange(self.ptr.numel() - 1, device=self.ptr.device), self.ptr.diff())

    def marks(self, done: Tensor, matches: Matches) -> tuple[Tensor, Tensor]:
        """The source and target nodes whose operation is ``done``."""
        source = torch.zeros_like(matches.partner, dtype=torch.bool)
        target = torch.zeros_like(matches.origin, dtype=torch.bool)
        source[self.source[done & (self.source >= 0)]] = True
        target[self.target[done & (self.target >= 0)]] = True
        return source, target

    def fraction(self, done: Tensor) -> Tensor:
        """Share of each pair's cost that is ``done``, eq. (1); of the operations, where all cost nothing."""
        price = self.price.double()
        total, spent = segment_sum(price, self.ptr), segment_sum(price * done, self.ptr)
        count, finished = self.ptr.diff().double(), segment_sum(done.double(), self.ptr)
        share = torch.where(total > 0, spent / total.where(total > 0, 1.0), finished / count.clamp_min(1))
        # Exact at both ends, whatever the rounding of the sums.
        return share.clamp(0, 1).where(finished > 0, 0.0).where(finished < count, (count > 0).double())


def by_key(key: Tensor, ops: Operations) -> Tensor:
    """Position of each operation in its pair's path when sorted by ``key`` in [0, 1)."""
    pair = ops.pair
    order = torch.argsort(pair + key.double())
    rank = torch.empty_like(pair)
    rank[order] = torch.arange(pair.numel(), device=pair.device)
    return rank - ops.ptr[:-1][pair]
