"""Fetch archives, whole or not at all, and never outside their folder."""

from __future__ import annotations

import shutil
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from tqdm import tqdm

from epic.errors import InputError


def fetch(url: str, *, folder: Path, name: str, progress: bool = True) -> Path:
    """Download a zip and unpack it as ``folder/name``.

    Everything happens in a temporary folder next to it, which is renamed at the end.
    """
    target = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}.") as work:
        archive = Path(work) / "archive.zip"
        _download(url, archive, progress)
        unpacked = Path(work) / "unpacked"
        unpack(archive, unpacked)
        inside = [p for p in unpacked.iterdir() if p.name != "__MACOSX"]
        source = inside[0] if len(inside) == 1 and inside[0].is_dir() else unpacked
        if target.exists():
            shutil.rmtree(target)
        source.rename(target)
    return target


def _download(url: str, path: Path, progress: bool) -> None:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer, path.open("wb") as file:
            size = int(answer.headers.get("Content-Length") or 0)
            with tqdm(
                total=size or None, unit="B", unit_scale=True, desc=url.rsplit("/", 1)[-1], disable=not progress
            ) as bar:
                while piece := answer.read(1 << 16):
                    file.write(piece)
                    bar.update(len(piece))
                if size and file.tell() != size:
                    raise InputError(f"{url} broke off after {file.tell()} of {size} bytes: try again")
    except urllib.error.HTTPError as error:
        raise InputError(f"{url} answered {error.code} {error.reason}: check the name") from error
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise InputError(
            f"cannot reach {url} ({reason}): connect to the network, or put the files in a folder and name it with "
            "--data or EPIC_DATA"
        ) from error


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a zip whose every member stays inside ``folder``."""
    folder.mkdir(parents=True)
    root = folder.resolve()
    try:
        with zipfile.ZipFile(archive) as file:
            for member in file.infolist():
                place = (root / member.filename).resolve()
                link = (member.external_attr >> 16) & 0o170000 == 0o120000
                if link or (place != root and root not in place.parents):
                    raise InputError(
                        f"the archive holds {member.filename!r}, which leads out of its folder: not unpacked"
                    )
            file.extractall(root)
    except zipfile.BadZipFile as error:
        raise InputError(f"{archive.name} is not a whole zip file ({error}): try again") from error
