"""Fetch archives, whole or not at all, and never outside their folder."""

from __future__ import annotations

import errno
import http.client
import os
import shutil
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from tqdm import tqdm

from epic.errors import InputError, reading

MOST_BYTES = 1 << 34
"""Bytes of an archive, or of what is in it, at most: 16 GiB."""
MOST_RATIO = 200
"""How much larger the files of an archive may be than the archive, at most; TU's text packs about 10 times."""


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
                    if file.tell() > MOST_BYTES:
                        raise InputError(f"{url} is longer than {MOST_BYTES} bytes: not fetched")
                if size and file.tell() != size:
                    raise InputError(f"{url} broke off after {file.tell()} of {size} bytes: try again")
    except urllib.error.HTTPError as error:
        raise InputError(f"{url} answered {error.code} {error.reason}: check the name") from error
    except (OSError, http.client.HTTPException) as error:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise InputError(f"cannot write to {path.parent.parent}: {os.strerror(error.errno)}") from error  # type: ignore[union-attr, arg-type]
        reason = getattr(error, "reason", error)
        raise InputError(
            f"cannot reach {url} ({reason}): connect to the network, or put the files in a folder and name it with "
            "--data or EPIC_DATA"
        ) from error


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a zip whose every member stays inside ``folder``, is no link, and unpacks to a plausible size.

    Raises:
        InputError: A member would do otherwise, or the zip is damaged; nothing is unpacked then, or part of it.
    """
    folder.mkdir(parents=True)
    root = folder.resolve()
    with reading(archive.name, "try again"), zipfile.ZipFile(archive) as file:
        for member in file.infolist():
            place = (root / member.filename).resolve()
            link = (member.external_attr >> 16) & 0o170000 == 0o120000
            if link or (place != root and root not in place.parents):
                raise InputError(f"it holds {member.filename!r}, which leads out of its folder")
        size, limit = sum(m.file_size for m in file.infolist()), (1 << 20) + MOST_RATIO * archive.stat().st_size
        if size > min(limit, MOST_BYTES):  # zipfile never writes more than a member says
            raise InputError(f"it would unpack to {size} bytes")
        file.extractall(root)
