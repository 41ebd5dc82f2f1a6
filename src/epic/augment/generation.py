"""Augmented graphs ahead of training or from a loader: graph number i depends on dataset, seed and i alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import DataLoader
from torch_geometric.data import Data
from tqdm import tqdm

from epic._io import write_bytes
from epic.augment.sampling import pick_graphs
from epic.data.dataset import Dataset
from epic.data.files import graph_bytes
from epic.data.shards import plan
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs, entries, join
from epic.parallel import execute
from epic.random import derived

if TYPE_CHECKING:
    from epic.augment.base import Augmentation

CHUNK = 256
"""Graphs made at a time, each time with a new generator."""


@torch.no_grad()
def generate_chunk(augment: Augmentation, graphs: PackedGraphs, *, seed: int, number: int) -> PackedGraphs:
    """Return graphs ``CHUNK * number`` to ``CHUNK * (number + 1) - 1``, packed."""
    generator = derived(seed, "chunk", number)
    picked = pick_graphs(graphs, CHUNK if augment.makes_graphs else 0, generator)
    made = augment.make_graphs(graphs, picked, generator) if picked.numel() else None
    if made is None:
        raise InputError(f"{augment!r} can make no graph of the {len(graphs)} given")
    told, titles = dict(made.per_graph), graphs.titles
    if titles is not None and not augment.mixes:
        told["name"] = entries(f"{titles[g]}, changed" for g in picked.tolist())
    if "class_names" in graphs.per_graph:
        told["class_names"] = graphs.per_graph["class_names"][picked.cpu().numpy()]
    made = replace(made, per_graph=told)
    return augment.mark(made, torch.ones(CHUNK, dtype=torch.bool, device=graphs.ptr.device))


def generate_graphs(
    augment: Augmentation, graphs: PackedGraphs, *, count: int, seed: int, start: int, progress: bool
) -> Iterator[Data]:
    """Yield graphs ``start`` to ``start + count - 1``."""
    if count < 0 or start < 0:
        raise InputError(f"count and start must be 0 or more, got {count} and {start}")
    with tqdm(total=count, desc="augmenting", unit="graph", disable=not progress) as bar:
        for number in range(start // CHUNK, -(-(start + count) // CHUNK)):
            made, first = generate_chunk(augment, graphs, seed=seed, number=number), number * CHUNK
            for g in range(max(0, start - first), min(CHUNK, start + count - first)):
                yield made.graph(g)
                bar.update()


@dataclass(frozen=True)
class ShardMaker:
    """Makes the contents of a shard from its number: a pure function, wherever it runs."""

    method: Augmentation
    graphs: PackedGraphs
    seed: int
    count: int
    shard: int

    def __call__(self, number: int) -> bytes:
        first, size = number * self.shard // CHUNK, plan(self.count, self.shard)[number][1]
        numbers = range(first, first - (-size // CHUNK))
        made = join([generate_chunk(self.method, self.graphs, seed=self.seed, number=n) for n in numbers])
        return graph_bytes(made if len(made) == size else made.select(torch.arange(size)))


def write_shards(
    maker: ShardMaker, folder: Path, missing: list[str], workers: int = 0, ray: str | None = None
) -> Iterator[int]:
    """Write the missing shards; yields the number of graphs in each as it is done."""
    planned = plan(maker.count, maker.shard)
    numbers = [i for i, (name, _) in enumerate(planned) if name in missing]
    for outcome in execute(maker, numbers, workers=workers, ray=ray):
        if outcome.error is not None:
            if outcome.error.startswith("InputError: "):  # the caller's to mend: no traceback
                raise InputError(outcome.error.removeprefix("InputError: ").partition("\nTraceback")[0])
            raise RuntimeError(f"shard {outcome.task} failed: {outcome.error}")
        name, size = planned[outcome.task]
        write_bytes(folder / name, outcome.value)
        yield size


def check_shard(shard: int) -> int:
    """Return the size of a shard: whole chunks, so that its graphs do not depend on its size."""
    if shard < 1 or shard % CHUNK:
        raise InputError(f"the size of a shard must be a multiple of {CHUNK}, got {shard}")
    return shard


class AugmentedLoader(DataLoader):
    """Torch's DataLoader over graphs, with augmented batches; every pass over any of a method's is a new epoch."""

    def __init__(self, augment: Augmentation, dataset: Any, *, batch_size: int, **options: Any) -> None:
        if isinstance(dataset, Dataset) and augment.task_ is None:
            augment.set_label_type(dataset.task, dataset.num_classes)
        # Here and not first in a worker, whose findings would stay there.
        augment.examine(pack([dataset[i] for i in range(min(batch_size, len(dataset)))]))
        if options.get("generator") is None:  # torch would draw from the global random state at every pass
            options["generator"] = derived(augment.seed_, "loader")
        super().__init__(dataset, batch_size, collate_fn=augment, **options)
        self._augment = augment

    def __iter__(self) -> Any:
        self._augment.begin_pass()
        return super().__iter__()
