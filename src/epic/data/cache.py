"""Datasets that were parsed before, kept as safetensors until their source files change."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

from epic import __version__
from epic.data.dataset import Dataset
from epic.data.files import read_graphs, write_graphs
from epic.data.splits import Split
from epic.errors import InputError

log = logging.getLogger(__name__)

PARTS = ("train", "validation", "test")


def cache_folder() -> Path:
    """Return where downloads and parsed sets are kept: ``EPIC_CACHE``, or a folder in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("EPIC_CACHE") or Path(base) / "epic-graph")


def parsed(name: str, files: Iterable[Path], read: Callable[[], Dataset], how: object = None) -> Dataset:
    """Return what ``read`` gives, from the cache if it was read before and ``files`` have not changed since.

    ``how`` is whatever else the result depends on.
    """
    sources = sorted(f.resolve() for f in files)
    stamp = [__version__, repr(how), *(f"{f}:{f.stat().st_size}:{f.stat().st_mtime_ns}" for f in sources)]
    key = hashlib.blake2b(repr([str(f) for f in sources] + [repr(how)]).encode(), digest_size=6).hexdigest()
    path = cache_folder() / "parsed" / f"{name}-{key}.safetensors"
    try:
        graphs, header = read_graphs(path, check=False)
        if header.get("stamp") == stamp:
            log.debug("%s: read from %s", name, path)
            split = header["split"] and Split(*(torch.tensor(header["split"][p]) for p in PARTS))
            return Dataset(name, graphs, header["task"], split, tuple(header["notes"]))
    except InputError:
        pass
    dataset = read()
    split = dataset.split and {p: getattr(dataset.split, p).tolist() for p in PARTS}
    _keep(path, dataset, stamp=stamp, task=dataset.task, split=split, notes=dataset.notes)
    return dataset


def _keep(path: Path, dataset: Dataset, **header: Any) -> None:
    """Write to the cache if that is possible: a read-only home is no reason to fail."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_graphs(path, dataset.graphs, **header)
    except OSError as error:
        log.debug("cannot write %s: %s", path, error)
