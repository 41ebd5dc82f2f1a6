"""Graphs in many files: written in pieces, read as one PyG dataset."""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from torch_geometric.data import Data
from torch_geometric.data import Dataset as PyGDataset

from epic._io import whole, write_bytes
from epic.data.files import read_graphs
from epic.errors import InputError, reading
from epic.graphs.packed import PackedGraphs, join

MANIFEST = "shards.json"
MOST_SHARDS = 1_000_000
AGAIN = "run `epic augment` again with the same options: it makes only what is missing"


class Shards(PyGDataset):
    """A folder of shards as a PyG dataset: ``len``, ``[i]``, slices, and any PyG ``DataLoader``.

    A shard is read when one of its graphs is asked for.

    Args:
        folder: The folder that ``epic augment`` wrote.
        keep: How many shards stay in memory; those used last.
        transform: A PyG transform that is applied to each graph.

    Raises:
        InputError: If the folder holds no shards, or some are missing or damaged.
    """

    def __init__(self, folder: str | Path, *, keep: int = 4, transform: Any = None) -> None:
        self.folder, self.keep = Path(folder), keep
        self.manifest = read_manifest(self.folder)
        if missing := [n for n, _ in self.planned() if not whole(self.folder / n)]:
            raise InputError(
                f"{self.folder} lacks {len(missing)} of its shards (first: {missing[0]}), or they are damaged: {AGAIN}"
            )
        self.starts = [0, *accumulate(count for _, count in self.planned())]
        self._cache()
        super().__init__(None, transform)

    def _cache(self) -> None:
        self._read = lru_cache(self.keep)(self._shard)

    def _shard(self, name: str) -> PackedGraphs:
        graphs, count = read_graphs(self.folder / name)[0], dict(self.planned())[name]
        if len(graphs) != count:
            raise InputError(f"{self.folder / name} holds {len(graphs)} graphs, not {count}: delete it, and {AGAIN}")
        return graphs

    def planned(self) -> list[tuple[str, int]]:
        """Return names and sizes of the shards."""
        return plan(self.manifest["count"], self.manifest["shard"])

    def len(self) -> int:
        return self.starts[-1]

    def get(self, idx: int) -> Data:
        shard = bisect_right(self.starts, idx) - 1
        return self._read(shard_name(shard)).graph(idx - self.starts[shard])

    def pack(self) -> PackedGraphs:
        """Return all graphs, packed."""
        return join([self._read(name) for name, _ in self.planned()])

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_read"}  # a cache does not travel to workers

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._cache()


def plan(count: int, shard: int) -> list[tuple[str, int]]:
    """Return names and sizes of the shards of ``count`` graphs.

    >>> plan(5, 2)
    [('shard-00000.safetensors', 2), ('shard-00001.safetensors', 2), ('shard-00002.safetensors', 1)]
    """
    if count < 1 or shard < 1 or -(-count // shard) > MOST_SHARDS:
        raise InputError(f"{count} graphs cannot be laid in shards of {shard}: make at most {MOST_SHARDS} shards")
    return [(shard_name(i), min(shard, count - i * shard)) for i in range(-(-count // shard))]


def shard_name(number: int) -> str:
    """Return the name of the file of a shard."""
    return f"shard-{number:05d}.safetensors"


def begin(folder: Path, manifest: dict[str, Any]) -> list[tuple[str, int]]:
    """Write the manifest, and return names and sizes of the shards that are missing or damaged.

    Raises:
        InputError: If the folder holds something else, or graphs that were made otherwise.
    """
    path = folder / MANIFEST
    if path.exists():
        there = read_manifest(folder)
        if there != manifest:
            differ = ", ".join(k for k in {*there, *manifest} if there.get(k) != manifest.get(k))
            raise InputError(f"{folder} holds graphs made otherwise (other {differ}): choose another folder")
    else:
        if any(folder.glob("*")):
            raise InputError(f"{folder} is not empty and holds no {MANIFEST}: choose another folder")
        write_bytes(path, (json.dumps(manifest, indent=1) + "\n").encode())
    return [(n, c) for n, c in plan(manifest["count"], manifest["shard"]) if not whole(folder / n)]


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read what a folder of shards says about itself."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{folder} is no folder of shards: it has no {MANIFEST}")
    with reading(path, "write the shards again"):
        found = json.loads(path.read_text(encoding="utf-8"))
        plan(found["count"], found["shard"])
    return found
