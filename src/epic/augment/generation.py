"""Augmented graphs ahead of training: graph number i is a function of the dataset, the seed and i alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Data
from tqdm import tqdm

from epic.errors import InputError
from epic.graphs.packed import PackedGraphs
from epic.random import derived

if TYPE_CHECKING:
    from epic.augment.base import Augmentation

CHUNK = 256
"""Graphs made at a time, each time with a new generator."""


def pick_graphs(graphs: PackedGraphs, count: int, generator: torch.Generator) -> Tensor:
    """Draw ``count`` graphs that have nodes, each as often as the others to within one, in random order."""
    able = graphs.sizes.nonzero()[:, 0].cpu()
    if able.numel() == 0 or count == 0:
        return able[:0]
    rounds = [torch.randperm(able.numel(), generator=generator) for _ in range(-(-count // able.numel()))]
    return able[torch.cat(rounds)[:count]].to(graphs.ptr.device)


@torch.no_grad()
def generate_chunk(augment: Augmentation, graphs: PackedGraphs, seed: int, number: int) -> PackedGraphs:
    """Return graphs ``CHUNK * number`` to ``CHUNK * (number + 1) - 1``, packed."""
    generator = derived(seed, "chunk", number)
    picked = pick_graphs(graphs, CHUNK if augment.makes_graphs else 0, generator)
    made = augment.make_graphs(graphs, picked, generator) if picked.numel() else None
    if made is None:
        raise InputError(f"{augment!r} can make no graph of the {len(graphs)} given")
    return augment.mark(made, torch.ones(CHUNK, dtype=torch.bool, device=graphs.ptr.device))


def generate_graphs(
    augment: Augmentation, graphs: PackedGraphs, count: int, seed: int, start: int, progress: bool
) -> Iterator[Data]:
    """Yield graphs ``start`` to ``start + count - 1``."""
    if count < 0 or start < 0:
        raise InputError(f"count and start must be 0 or more, got {count} and {start}")
    with tqdm(total=count, desc="augmenting", unit="graph", disable=not progress) as bar:
        for number in range(start // CHUNK, -(-(start + count) // CHUNK)):
            made, first = generate_chunk(augment, graphs, seed, number), number * CHUNK
            for g in range(max(0, start - first), min(CHUNK, start + count - first)):
                yield made.graph(g)
                bar.update()
