"""What is drawn at random: a generator for each batch, graphs to change, pairs of graphs, and shares of mixtures."""

from __future__ import annotations

from collections import Counter

import torch
from scipy.special import betaincinv
from torch import Tensor

from epic.graphs.packed import PackedGraphs, matrix
from epic.random import GroupSampler, derived, digest, uniform

PAIRS = ("random", "different", "same")
NEAR = 8
"""Partners to choose the nearest in size from."""


class BatchSeeds:
    """Generators seeded by what is in a batch and by how often it was seen.

    Workers need not know what other workers do, and a batch that comes again gets a new generator.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._seen: Counter[str] = Counter()
        self._epoch = 0
        self.passes = 0

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


def pick_graphs(graphs: PackedGraphs, count: int, generator: torch.Generator) -> Tensor:
    """Draw ``count`` graphs that have nodes, each as often as the others to within one, in random order."""
    able = graphs.sizes.nonzero()[:, 0].cpu()
    if able.numel() == 0 or count == 0:
        return able[:0]
    rounds = [torch.randperm(able.numel(), generator=generator) for _ in range(-(-count // able.numel()))]
    return able[torch.cat(rounds)[:count]].to(graphs.ptr.device)


def draw_pairs(
    y: Tensor | None,
    *,
    graphs: int,
    count: int,
    pairs: str,
    generator: torch.Generator,
    sizes: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Draw pairs of different graphs.

    Sources go round all graphs that have a partner, in random order, so that source counts differ by at most
    one. The partner of each is uniform over all graphs that the rule allows.

    Args:
        y: Labels; without them every pair is allowed. Missing entries count as equal to each other.
        graphs: How many graphs there are.
        count: How many pairs to draw.
        pairs: One of ``PAIRS``: any two graphs, or of ``different`` or the ``same`` label only.
        generator: The source of randomness.
        sizes: Numbers of nodes, where the partner is to be the nearest in size of ``NEAR`` drawn ones.

    Returns:
        Numbers of sources and of targets, ``count`` of each, or none where no pair is allowed.
    """
    label = torch.zeros(graphs, dtype=torch.long)  # one group: any other graph is of the same
    different = pairs == "different" and y is not None
    if pairs != "random" and y is not None:
        rows = torch.nan_to_num(y, nan=-torch.inf) if y.is_floating_point() else y
        label = matrix(rows).unique(dim=0, return_inverse=True)[1].cpu()
    groups = GroupSampler(label)
    order = torch.randperm(graphs, generator=generator)
    order = order[(groups.has_other if different else groups.has_same)[order]]
    if order.numel() == 0:
        return order, order
    source, tries = order[torch.arange(count) % order.numel()], 1 if sizes is None else NEAR
    every, chance = source.repeat(tries), uniform(tries * count, generator)
    target = (groups.other(every, chance) if different else groups.same(every, chance)).view(tries, count)
    if sizes is None:
        return source, target[0]
    nearest = (sizes[target] - sizes[source]).abs().argmin(0, keepdim=True)
    return source, target.gather(0, nearest)[0]


def another(picked: Tensor, graphs: int, generator: torch.Generator) -> Tensor:
    """Return for each picked graph a random other one of the ``graphs`` (two at least)."""
    step = (uniform(picked.numel(), generator) * (graphs - 1)).long().to(picked.device)
    return (picked + 1 + step) % graphs


def beta(count: int, a: float, b: float, generator: torch.Generator) -> Tensor:
    """Return numbers in [0, 1] from Beta(a, b), by the inverse of the distribution.

    Torch's own Beta draws from the global random state.
    """
    return torch.from_numpy(betaincinv(a, b, uniform(count, generator).numpy()))
