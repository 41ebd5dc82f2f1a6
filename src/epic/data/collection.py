"""Datasets with a name: where they lie on the disk, where they come from, how they are read and kept."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from epic import __version__
from epic.data.dataset import Dataset
from epic.data.download import fetch
from epic.data.files import read_graphs, write_graphs
from epic.data.splits import Split
from epic.errors import InputError, choose, reading
from epic.labels import TASKS

log = logging.getLogger(__name__)
FORMAT = "acyclic molecules apart"  # of parsed sets; those of another one are parsed again

TEXTS = ("notes", "atoms", "bonds")  # of a dataset, kept in the header


@dataclass(frozen=True)
class Collection:
    """Datasets that are published together, one zip file each.

    A dataset is a folder ``<data>/<folder>/<directory>`` or ``<data>/<directory>``, or ``raw`` inside it.

    Attributes:
        folder: Name of the collection's folder in a data folder.
        names: Names of its datasets.
        url: Address of the zip file of a dataset.
        directory: Name of the folder of a dataset.
        mark: A file or folder that tells a dataset from other folders.
        files: Patterns of all files of a dataset.
        read: Reads a dataset from its folder.
    """

    folder: str
    names: tuple[str, ...]
    url: Callable[[str], str]
    directory: Callable[[str], str]
    mark: Callable[[str], str]
    files: tuple[str, ...]
    read: Callable[[Path, str], Dataset]

    def find(self, name: str, data: str | Path | None = None) -> Path | None:
        """Return the folder of a dataset, or None if it is not here."""
        roots = (folder / inner for folder in data_folders(data) for inner in (self.folder, ""))
        places = (root / self.directory(name) / raw for root in roots for raw in ("raw", ""))
        return next((place for place in places if (place / self.mark(name)).exists()), None)

    def load(self, name: str, *, data: str | Path | None, download: bool, progress: bool) -> Dataset:
        """Read a dataset, downloaded first if it is not here; parsed once, then read from the cache."""
        place = self.find(name, data)
        if place is None:
            if not download:
                folders = ", ".join(map(str, data_folders(data)))
                raise InputError(f"{name} is in none of {folders}, and downloads are off")
            log.info("%s is not here: downloading it from %s", name, self.url(name))
            fetch(self.url(name), folder=cache_folder() / self.folder, name=self.directory(name), progress=progress)
            place = self.find(name, cache_folder())
            if place is None:
                raise InputError(f"{self.url(name)} holds no {self.mark(name)}: check the name")
        found = place
        files = [f for pattern in self.files for f in found.glob(pattern)]
        with reading(found, "fetch it again"):
            return parsed(name, files=files, read=lambda: self.read(found, name))


def data_folders(data: str | Path | None = None) -> list[Path]:
    """List where to look for data, in this order: the folder named, ``EPIC_DATA``, the cache."""
    if data and not Path(data).is_dir():
        raise InputError(f"there is no data folder {data}")
    everywhere = os.environ.get("EPIC_DATA")
    if everywhere and not Path(everywhere).is_dir():
        raise InputError(f"there is no folder {everywhere}, which EPIC_DATA names: correct it, or unset it")
    return [*(Path(p) for p in (data, everywhere) if p), cache_folder()]


def cache_folder() -> Path:
    """Return where downloads and parsed sets are kept: ``EPIC_CACHE``, or a folder in the user's cache."""
    if named := os.environ.get("EPIC_CACHE"):
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epic-graph"
    except RuntimeError as error:
        raise InputError("you have no home folder to keep downloads in: name a folder with EPIC_CACHE") from error


def parsed(name: str, *, files: Iterable[Path], read: Callable[[], Dataset], how: object = None) -> Dataset:
    """Return what ``read`` gives, from the cache if it was read before and ``files`` have not changed since.

    ``how`` is whatever else the result depends on.
    """
    sources = sorted(f.resolve() for f in files)
    stamp = [__version__, FORMAT, repr(how), *(f"{f}:{f.stat().st_size}:{f.stat().st_mtime_ns}" for f in sources)]
    key = hashlib.blake2b(repr([str(f) for f in sources] + [repr(how)]).encode(), digest_size=6).hexdigest()
    path = cache_folder() / "parsed" / f"{name}-{key}.safetensors"
    try:
        graphs, header = read_graphs(path)
        with reading(path):
            if header["stamp"] == stamp:
                log.debug("%s: read from %s", name, path)
                split = header["split"] and Split(
                    **{k: torch.tensor(p, dtype=torch.long) for k, p in header["split"].items()}
                )
                notes, atoms, bonds = (tuple(header[k]) for k in TEXTS)
                task = choose(header["task"], TASKS, "task")
                return Dataset(name, graphs, task, split, notes, atoms=atoms, bonds=bonds)
    except InputError:
        pass
    dataset = read()
    parts = dataset.split and {k: part.tolist() for k, part in vars(dataset.split).items()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {"task": dataset.task, "split": parts, **{k: getattr(dataset, k) for k in TEXTS}}
        write_graphs(path, dataset.graphs, stamp=stamp, **kept)
    except (InputError, OSError) as error:  # a read-only home or a full disk is no reason to fail
        log.debug("cannot write %s: %s", path, error)
    return dataset


def integers(text: bytes, path: Path, columns: int | None = None) -> np.ndarray:
    """Read lines of integers, separated by commas or spaces, as an array [lines, columns].

    ``columns`` is the number of integers in a line (default: as many as in the first); ``path`` is for messages.
    """
    try:
        flat = np.array(text.replace(b",", b" ").split(), dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{path} is damaged ({error}): fetch it again") from error
    lines = text.splitlines()
    width = columns or max(1, len(lines[0].replace(b",", b" ").split()) if lines else 1)
    if flat.size != len(lines) * width:
        raise InputError(f"{path} is damaged: {flat.size} numbers in {len(lines)} lines, expected {width} in each")
    return flat.reshape(len(lines), width)
