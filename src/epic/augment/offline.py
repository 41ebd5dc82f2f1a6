"""Augmented graphs made ahead of training, shard by shard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from epic._io import write_bytes
from epic.augment.base import Augmentation
from epic.augment.generation import CHUNK, generate_chunk
from epic.data.files import graph_bytes
from epic.data.shards import plan
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, join
from epic.parallel import execute


@dataclass(frozen=True)
class ShardMaker:
    """Makes the contents of a shard from its number: a pure function, wherever it runs."""

    method: Augmentation
    graphs: PackedGraphs
    seed: int
    count: int
    shard: int

    def __call__(self, number: int) -> bytes:
        first = number * self.shard // CHUNK
        size = plan(self.count, self.shard)[number][1]
        made = join([generate_chunk(self.method, self.graphs, self.seed, first + i) for i in range(-(-size // CHUNK))])
        return graph_bytes(made if len(made) == size else made.select(torch.arange(size)))


def write_shards(
    maker: ShardMaker, folder: Path, missing: list[str], workers: int = 0, ray: str | None = None
) -> Iterator[int]:
    """Write the missing shards; yields the number of graphs in each as it is done."""
    planned = plan(maker.count, maker.shard)
    numbers = [i for i, (name, _) in enumerate(planned) if name in missing]
    for outcome in execute(maker, numbers, workers=workers, ray=ray):
        if outcome.error is not None:
            kind = InputError if outcome.error.startswith("InputError") else RuntimeError
            raise kind(f"shard {outcome.task} failed: {outcome.error}")
        name, size = planned[outcome.task]
        write_bytes(folder / name, outcome.value)
        yield size


def check_shard(shard: int) -> int:
    """A shard holds whole chunks, so that its graphs do not depend on its size."""
    if shard < 1 or shard % CHUNK:
        raise InputError(f"the size of a shard must be a multiple of {CHUNK}, got {shard}")
    return shard
