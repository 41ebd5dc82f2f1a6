"""OGB's molecule sets (Hu et al. 2020), read from their CSV files."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from epic.data.dataset import Dataset
from epic.data.splits import Split
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, offsets

NAMES = ("ogbg-molbbbp", "ogbg-molbace", "ogbg-molhiv")


def read_ogb(folder: str | Path, name: str) -> Dataset:
    """Read ``<folder>/<name>`` with its scaffold split.

    Atoms have 9 and bonds 3 integer features; each bond is there both ways.
    """
    root = Path(folder) / name.replace("-", "_")
    if not root.is_dir():
        raise InputError(f"there is no folder {root}")
    nodes = _column(root / "raw" / "num-node-list.csv.gz")
    bonds = _column(root / "raw" / "num-edge-list.csv.gz")
    x, edges = _table(root / "raw" / "node-feat.csv.gz"), _table(root / "raw" / "edge.csv.gz")
    attr, y = _table(root / "raw" / "edge-feat.csv.gz"), _labels(root / "raw" / "graph-label.csv.gz")
    counts = {
        "node-feat": (len(x), nodes.sum()),
        "edge": (len(edges), bonds.sum()),
        "edge-feat": (len(attr), bonds.sum()),
    }
    for what, (found, expected) in (counts | {"graph-label": (len(y), len(nodes))}).items():
        if found != expected:
            raise InputError(f"{root / 'raw' / what}.csv.gz has {found} lines, expected {expected}: fetch it again")
    ptr = offsets(torch.from_numpy(nodes))
    shift = np.repeat(ptr[:-1].numpy(), bonds)
    one_way = edges.T + shift
    both = torch.from_numpy(np.stack([one_way, one_way[::-1]], axis=2).reshape(2, -1))
    graphs = PackedGraphs(
        ptr,
        offsets(torch.from_numpy(2 * bonds)),
        both,
        {"x": torch.from_numpy(x)},
        {"edge_attr": torch.from_numpy(np.repeat(attr, 2, axis=0))},
        y,
    )
    parts = [torch.from_numpy(_column(root / "split" / "scaffold" / f"{p}.csv.gz")) for p in ("train", "valid", "test")]
    return Dataset(name, graphs, "binary", Split(*parts))


def read_smiles_of(folder: str | Path, name: str) -> list[str]:
    """The SMILES of each graph, from the mapping file."""
    import csv

    with gzip.open(Path(folder) / name.replace("-", "_") / "mapping" / "mol.csv.gz", "rt", encoding="utf-8") as file:
        return [row["smiles"] for row in csv.DictReader(file)]


def _open(path: Path) -> bytes:
    if not path.is_file():
        raise InputError(f"{path} is missing: fetch the set again")
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise InputError(f"{path} is damaged ({error}): fetch it again") from error


def _table(path: Path) -> np.ndarray:
    data = _open(path)
    width = data[: data.find(b"\n")].count(b",") + 1 if data else 1
    try:
        flat = np.array(data.replace(b",", b" ").split(), dtype=np.int64)
        return flat.reshape(-1, width)
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): fetch it again") from error


def _column(path: Path) -> np.ndarray:
    return _table(path)[:, 0]


def _labels(path: Path) -> Tensor:
    """Float labels with NaN where a task has no label."""
    text = _open(path).decode()
    values = np.genfromtxt(io.StringIO(text), delimiter=",", dtype=np.float32, ndmin=2)
    return torch.from_numpy(values.reshape(text.count("\n"), -1))
