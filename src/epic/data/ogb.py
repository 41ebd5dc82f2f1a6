"""OGB's molecule sets (Hu et al. 2020), read from their CSV files."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from epic.data.collection import Collection, integers
from epic.data.dataset import Dataset
from epic.data.splits import Split
from epic.errors import InputError, reading
from epic.graphs.checks import check_pack
from epic.graphs.packed import PackedGraphs, entries, offsets

URL = "http://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download"
MOST_RATIO = 200
"""How much smaller a packed file of numbers may be, at most; those of OGB are up to 50 times smaller."""
NAMES = ("ogbg-molbbbp", "ogbg-molbace", "ogbg-molhiv")


def read_ogb(folder: str | Path, name: str) -> Dataset:
    """Read ``<folder>/<name>`` with its scaffold split.

    Args:
        folder: The folder of all datasets.
        name: The name of the dataset, such as ogbg-molbace.

    Returns:
        Molecules with 9 integer features of atoms and 3 of bonds. Each bond is there both ways. SMILES and names come
        with them, where ``mapping/mol.csv.gz`` is here.

    Raises:
        InputError: If a file is missing or damaged.
    """
    root = Path(folder) / _directory(name)
    if not root.is_dir():
        raise InputError(f"there is no folder {root}")
    raw = root / "raw"
    nodes, bonds = (_table(raw / f"num-{what}-list.csv.gz")[:, 0] for what in ("node", "edge"))
    x, edges, attr = (_table(raw / f"{what}.csv.gz") for what in ("node-feat", "edge", "edge-feat"))
    y = _labels(raw / "graph-label.csv.gz")
    for what, found, expected in (
        ("node-feat", len(x), nodes.sum()),
        ("edge", len(edges), bonds.sum()),
        ("edge-feat", len(attr), bonds.sum()),
        ("graph-label", len(y), len(nodes)),
    ):
        if found != expected:
            raise InputError(f"{raw / what}.csv.gz has {found} lines, expected {expected}: fetch it again")
    ptr = offsets(torch.from_numpy(nodes))
    one_way = edges.reshape(-1, 2).T + np.repeat(ptr[:-1].numpy(), bonds)
    both = torch.from_numpy(np.stack([one_way, one_way[::-1]], axis=2).reshape(2, -1))
    graphs = PackedGraphs(
        ptr,
        offsets(torch.from_numpy(2 * bonds)),
        both,
        {"x": torch.from_numpy(x)},
        {"edge_attr": torch.from_numpy(np.repeat(attr, 2, axis=0))},
        y,
        _about(root / "mapping" / "mol.csv.gz", len(nodes)),
    )
    check_pack(graphs)
    parts = [_table(root / "split" / "scaffold" / f"{p}.csv.gz")[:, 0] for p in ("train", "valid", "test")]
    return Dataset(name, graphs, "binary", Split(*map(torch.from_numpy, parts)))


def _open(path: Path) -> bytes:
    if not path.is_file():
        raise InputError(f"{path} is missing: fetch the set again")
    limit = (1 << 20) + MOST_RATIO * path.stat().st_size
    with reading(path, "fetch it again"), gzip.open(path) as file:
        contents = file.read(limit + 1)
        if len(contents) > limit:
            raise InputError(f"it unpacks to more than {limit} bytes")
    return contents


def _table(path: Path) -> np.ndarray:
    return integers(_open(path), path)


def _labels(path: Path) -> Tensor:
    """Read float labels; NaN if a task has no label."""
    text = _open(path).decode()
    values = np.genfromtxt(io.StringIO(text), delimiter=",", dtype=np.float32, ndmin=2)
    return torch.from_numpy(values.reshape(text.count("\n"), -1))


def _about(path: Path, graphs: int) -> dict[str, np.ndarray]:
    """Read SMILES and names; none if the file is not here."""
    if not path.is_file():
        return {}
    rows = list(csv.DictReader(io.StringIO(_open(path).decode())))
    if len(rows) != graphs:
        raise InputError(f"{path} has {len(rows)} molecules, expected {graphs}: fetch it again")
    columns = {ours: [row.get(theirs) for row in rows] for ours, theirs in (("smiles", "smiles"), ("name", "mol_id"))}
    return {key: entries(values) for key, values in columns.items() if any(values)}


def _directory(name: str) -> str:
    return name.replace("-", "_")


COLLECTION = Collection(
    folder="ogb",
    names=NAMES,
    url=lambda name: f"{URL}/{name.removeprefix('ogbg-mol')}.zip",
    directory=_directory,
    mark=lambda name: "raw",
    files=("raw/*.csv.gz", "split/scaffold/*.csv.gz", "mapping/mol.csv.gz"),
    read=lambda place, name: read_ogb(place.parent, name),
)
