"""One door to all data: a name or a file in, a :class:`Dataset` out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F

from epic.data import ogb, tudataset
from epic.data.dataset import Dataset, task_of
from epic.data.download import fetch
from epic.data.files import read_graphs, read_pt, write_graphs
from epic.data.lollipop import lollipop
from epic.data.shards import MANIFEST, Shards
from epic.data.smiles import read_smiles
from epic.data.splits import Split
from epic.errors import InputError, nearest
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs

TU_URL = "https://www.chrsmrrs.com/graphkerneldatasets"
OGB_URL = "http://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download"


def cache_folder() -> Path:
    """Where downloads and parsed sets are kept: ``EPIC_CACHE``, or the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("EPIC_CACHE") or Path(base) / "epic-graph")


def data_folders(data: str | Path | None = None) -> list[Path]:
    """Where to look for data, in this order: the folder named, ``EPIC_DATA``, the cache."""
    named = [Path(p) for p in (data, os.environ.get("EPIC_DATA")) if p]
    if data and not Path(data).is_dir():
        raise InputError(f"there is no data folder {data}")
    return [*named, cache_folder()]


def load(
    source: str | Path,
    data: str | Path | None = None,
    download: bool = True,
    progress: bool = True,
    labels: Sequence[str] | None = None,
    task: str | None = None,
) -> Dataset:
    """Load graphs from a TUDataset name, an OGB name, ``lollipop``, a folder in TU format, a CSV of SMILES, or a file
    of graphs.

    Folders are looked through first (``data``, then ``EPIC_DATA``, then the cache); what is not there is downloaded
    from its official source. ``labels`` and ``task`` are for a CSV: see :func:`read_smiles`.
    """
    text = str(source)
    path = Path(text)
    if path.suffix.lower() == ".csv":
        return read_smiles(path, labels=labels, task=task)
    if labels or task:
        raise InputError(f"--target and --task (labels= and task= in Python) say how to read a CSV, and {text} is none")
    if path.suffix.lower() in (".pt", ".pth", ".safetensors"):
        return _from_file(path)
    if path.is_dir():
        return _from_folder(path)
    if text == "lollipop":
        graphs = pack(lollipop(600, seed=0))
        return Dataset("lollipop", graphs, "classes")
    if text.startswith("ogbg"):
        return _ogb(text, data, download, progress)
    return _tu(text, data, download, progress)


def _from_file(path: Path) -> Dataset:
    graphs = read_graphs(path)[0] if path.suffix.lower() == ".safetensors" else read_pt(path)
    if graphs.y is None:
        raise InputError(f"the graphs in {path} have no labels y")
    return Dataset(path.stem, graphs, task_of(graphs.y, str(path)))


def _from_folder(path: Path) -> Dataset:
    if (path / MANIFEST).exists():
        graphs = Shards(path).pack()
        if graphs.y is None:
            raise InputError(f"the graphs in {path} have no labels y")
        return Dataset(path.name, graphs, task_of(graphs.y, str(path)))
    found = sorted(path.glob("*_A.txt")) or sorted((path / "raw").glob("*_A.txt"))
    if not found:
        raise InputError(f"{path} holds no graphs: there is neither *_A.txt (TU format) nor {MANIFEST} (shards)")
    name = found[0].name.removesuffix("_A.txt")
    return _finish(name, tudataset.read_tu(found[0].parent, name))


def _tu(name: str, data: str | Path | None, download: bool, progress: bool) -> Dataset:
    for folder in data_folders(data):
        for root in (folder / "tu" / name, folder / name):
            raw = next((p for p in (root / "raw", root) if (p / f"{name}_A.txt").is_file()), None)
            if raw is not None:
                return _finish(name, _cached(name, raw))
    if name not in tudataset.NAMES:
        near = nearest(name, known_names())
        hint = f"did you mean {' or '.join(near)}?" if near else "`epic datasets` lists the names."
        raise InputError(
            f"unknown dataset {name!r}: {hint} (Or give a path to a .csv, .pt, .safetensors file or a folder.)"
        )
    if not download:
        raise InputError(f"{name} is in none of {', '.join(map(str, data_folders(data)))}, and downloads are off")
    fetch(f"{TU_URL}/{name}.zip", cache_folder() / "tu", name, progress)
    return _finish(name, _cached(name, cache_folder() / "tu" / name))


def _ogb(name: str, data: str | Path | None, download: bool, progress: bool) -> Dataset:
    if name not in ogb.NAMES:
        raise InputError(f"unknown OGB dataset {name!r}. Known: {', '.join(ogb.NAMES)}")
    short = name.removeprefix("ogbg-mol")
    for folder in data_folders(data):
        for root in (folder / "ogb", folder):
            if (root / name.replace("-", "_")).is_dir():
                return _ogb_cached(name, root)
    if not download:
        raise InputError(f"{name} is in none of {', '.join(map(str, data_folders(data)))}, and downloads are off")
    fetch(f"{OGB_URL}/{short}.zip", cache_folder() / "ogb", name.replace("-", "_"), progress)
    return _ogb_cached(name, cache_folder() / "ogb")


def _stamp(files: list[Path]) -> str:
    """Changes when a source file does."""
    return ";".join(f"{f.name}:{f.stat().st_size}:{f.stat().st_mtime_ns}" for f in sorted(files))


def _cached(name: str, raw: Path) -> PackedGraphs:
    """Parsed once, then read from the cache while the source files stay the same."""
    stamp = _stamp(list(raw.glob(f"{name}_*.txt")))
    path = cache_folder() / "parsed" / f"{name}.safetensors"
    try:
        graphs, header = read_graphs(path, check=False)
        if header.get("stamp") == stamp:
            return graphs
    except InputError:
        pass
    graphs = tudataset.read_tu(raw, name)
    _keep(path, graphs, stamp=stamp)
    return graphs


def _ogb_cached(name: str, root: Path) -> Dataset:
    folder = root / name.replace("-", "_")
    stamp = _stamp([*folder.glob("raw/*.csv.gz"), *folder.glob("split/scaffold/*.csv.gz")])
    path = cache_folder() / "parsed" / f"{name}.safetensors"
    try:
        graphs, header = read_graphs(path, check=False)
        if header.get("stamp") == stamp:
            parts = [torch.tensor(header["split"][p]) for p in ("train", "validation", "test")]
            return Dataset(name, graphs, "binary", Split(*parts))
    except InputError:
        pass
    dataset = ogb.read_ogb(root, name)
    assert dataset.split is not None
    split = {p: getattr(dataset.split, p).tolist() for p in ("train", "validation", "test")}
    _keep(path, dataset.graphs, stamp=stamp, split=split)
    return dataset


def _keep(path: Path, graphs: PackedGraphs, **header: object) -> None:
    """Write to the cache if it can be written to; a read-only home is no reason to fail."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_graphs(path, graphs, **header)
    except OSError:
        return


def _finish(name: str, graphs: PackedGraphs) -> Dataset:
    assert graphs.y is not None
    return Dataset(name, graphs, task_of(graphs.y, name))


def degree_features(graphs: PackedGraphs, maximum: int) -> PackedGraphs:
    """Give graphs without ``x`` one-hot degrees up to ``maximum`` (taken from training graphs; larger ones are
    clamped).
    """
    x = F.one_hot(graphs.degree().clamp_max(maximum), maximum + 1).float()
    return PackedGraphs(graphs.ptr, graphs.edge_ptr, graphs.edge_index, {**graphs.node, "x": x}, graphs.edge, graphs.y)


def known_names() -> list[str]:
    """Every name that :func:`load` knows."""
    return ["lollipop", *ogb.NAMES, *tudataset.NAMES]


def is_here(name: str, data: str | Path | None = None) -> bool:
    """Whether a set can be loaded without a download."""
    if name == "lollipop":
        return True
    for folder in data_folders(data):
        if name.startswith("ogbg"):
            if any((root / name.replace("-", "_") / "raw").is_dir() for root in (folder / "ogb", folder)):
                return True
        elif any(
            (p / f"{name}_A.txt").is_file() for r in (folder / "tu" / name, folder / name) for p in (r / "raw", r)
        ):
            return True
    return False
