"""Load a :class:`Dataset` by its name or from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch.nn.functional as F

from epic.data import ogb, tudataset
from epic.data.collection import Collection, parsed
from epic.data.dataset import Dataset, task_of
from epic.data.files import read_graphs, read_pt
from epic.data.lollipop import lollipop
from epic.data.shards import MANIFEST, Shards
from epic.data.smiles import read_smiles
from epic.data.tables import TABLES
from epic.errors import InputError, nearest
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs
from epic.labels import typed

COLLECTIONS: tuple[Collection, ...] = (ogb.COLLECTION, tudataset.COLLECTION)
GENERATED = {"lollipop": lambda: pack(lollipop(600, seed=0))}
FILES = {".pt": read_pt, ".pth": read_pt, ".safetensors": lambda path: read_graphs(path)[0]}


def load(
    source: str | Path,
    *,
    data: str | Path | None = None,
    download: bool = True,
    progress: bool = True,
    target: str | Sequence[str] | None = None,
    task: str | None = None,
) -> Dataset:
    """Load graphs by the name of a dataset, or from a file or folder.

    Args:
        source: A TUDataset name, an OGB name, ``lollipop``, a folder in TU format or of shards, a file of molecules
            (``.csv``, ``.tsv``, ``.smi``, ``.sdf``), or a ``.pt`` or ``.safetensors`` file of graphs.
        data: Folder to look for a name in first; then come ``EPIC_DATA`` and the cache.
        download: Download what is not there from its official source.
        progress: Show the progress of a download.
        target: Columns of a file of molecules to predict; see :func:`read_smiles`.
        task: What the labels of a file are, one of :data:`epic.labels.TASKS` (default: as they look).

    Returns:
        Graphs, what their labels are, and the official split if there is one.

    Raises:
        InputError: If there is no such dataset, or its files cannot be used.
    """
    name, path = str(source), Path(source)
    suffix = path.suffix.lower()
    if suffix in TABLES:
        if not path.is_file():
            raise InputError(f"there is no file {path}")
        target = [target] if isinstance(target, str) else target and list(target)
        read = partial(read_smiles, path, target=target, task=task)
        return parsed(path.stem, files=[path], read=read, how=(target, task))
    named = suffix not in FILES and not path.is_dir()
    if target or (task and named):
        raise InputError(
            f"target and task say how to read a file of molecules ({', '.join(TABLES)}), and {name} is "
            "none: leave them out"
        )
    if suffix in FILES:
        return _labelled(path.stem, FILES[suffix](path), str(path), task)
    if path.is_dir():
        return _from_folder(path, task)
    if name in GENERATED:
        return _labelled(name, GENERATED[name](), name)
    for collection in COLLECTIONS:
        if name in collection.names or collection.find(name, data) is not None:
            return collection.load(name, data=data, download=download, progress=progress)
    near = nearest(name, known_names())
    hint = f"did you mean {' or '.join(near)}?" if near else "`epic datasets` lists the names."
    raise InputError(
        f"unknown dataset {name!r}: {hint} (Or give a path to a {', '.join(TABLES)}, .pt or .safetensors file, "
        "or a folder.)"
    )


def _from_folder(path: Path, task: str | None) -> Dataset:
    if (path / MANIFEST).exists():
        return _labelled(path.name, Shards(path).pack(), str(path), task)
    found = sorted(path.glob("*_A.txt")) or sorted((path / "raw").glob("*_A.txt"))
    if not found:
        raise InputError(f"{path} holds no graphs: there is neither *_A.txt (TU format) nor {MANIFEST} (shards)")
    name = found[0].name.removesuffix("_A.txt")
    return tudataset.read_tu_set(found[0].parent, name, task or "classes")


def _labelled(name: str, graphs: PackedGraphs, where: str, task: str | None = None) -> Dataset:
    if graphs.y is None:  # distances and paths need none
        return Dataset(name, graphs, "")
    task = task_of(graphs.y, where, task)
    return Dataset(name, replace(graphs, y=typed(graphs.y, task)), task)


def known_names() -> list[str]:
    """List every name that :func:`load` knows."""
    return [*GENERATED, *(name for collection in COLLECTIONS for name in collection.names)]


def is_here(name: str, data: str | Path | None = None) -> bool:
    """Tell whether a dataset can be loaded without a download."""
    return name in GENERATED or any(c.find(name, data) is not None for c in COLLECTIONS if name in c.names)


def degree_features(graphs: PackedGraphs, maximum: int) -> PackedGraphs:
    """Give graphs without ``x`` one-hot degrees up to ``maximum``; larger ones are clamped."""
    x = F.one_hot(graphs.degree().clamp_max(maximum), maximum + 1).float()
    return replace(graphs, node={**graphs.node, "x": x})
