"""Datasets with a name: where they lie on the disk, where they come from, and how they are read."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from epic.data.cache import cache_folder, parsed
from epic.data.dataset import Dataset
from epic.data.download import fetch
from epic.errors import InputError

log = logging.getLogger(__name__)


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
        roots = [
            root / self.directory(name) for folder in data_folders(data) for root in (folder / self.folder, folder)
        ]
        places = (place for root in roots for place in (root / "raw", root))
        return next((place for place in places if (place / self.mark(name)).exists()), None)

    def load(self, name: str, data: str | Path | None, download: bool, progress: bool) -> Dataset:
        """Read a dataset, downloaded first if it is not here; parsed once, then read from the cache."""
        place = self.find(name, data)
        if place is None:
            if not download:
                folders = ", ".join(map(str, data_folders(data)))
                raise InputError(f"{name} is in none of {folders}, and downloads are off")
            log.info("%s is not here: downloading it from %s", name, self.url(name))
            fetch(self.url(name), cache_folder() / self.folder, self.directory(name), progress)
            place = self.find(name, cache_folder())
            if place is None:
                raise InputError(f"{self.url(name)} holds no {self.mark(name)}: check the name")
        found = place
        return parsed(name, [f for p in self.files for f in found.glob(p)], lambda: self.read(found, name))


def data_folders(data: str | Path | None = None) -> list[Path]:
    """List where to look for data, in this order: the folder named, ``EPIC_DATA``, the cache."""
    if data and not Path(data).is_dir():
        raise InputError(f"there is no data folder {data}")
    return [*(Path(p) for p in (data, os.environ.get("EPIC_DATA")) if p), cache_folder()]
