"""Randomness that is the same in one process or in many."""

from __future__ import annotations

from collections import Counter

import torch

from epic.graphs.packed import PackedGraphs
from epic.random import derived, digest


class BatchSeeds:
    """Generators seeded by what is in a batch and by how often it was seen.

    Workers need not know what other workers do, and a batch that comes again gets a new generator.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._seen: Counter[str] = Counter()
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """State which epoch begins."""
        if int(epoch) != self._epoch:
            self._seen.clear()
        self._epoch = int(epoch)

    def generator(self, graphs: PackedGraphs) -> torch.Generator:
        """Return the generator for graphs, and count them as seen."""
        # Of the features, some rows are enough to tell batches apart; all would take as long as the augmentation.
        x = None if graphs.x is None else graphs.x[:: max(1, graphs.x.shape[0] // 256)]
        content = digest(graphs.ptr, graphs.edge_index[1], graphs.y, x)
        if len(self._seen) > 100_000:  # shuffled batches rarely come again
            self._seen.clear()
        # In workers that start again, set_epoch tells epochs apart; in those that live on, a batch counts how often it
        # came: the sum is the same.
        turn = self._epoch + self._seen[content]
        self._seen[content] += 1
        return derived(self.seed, content, turn)
