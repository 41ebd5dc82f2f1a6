"""Files: tensors with a JSON header as safetensors, never pickle; written whole or not at all, by one process alone."""

from __future__ import annotations

import fcntl
import io
import json
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from epic.errors import InputError, reading

log = logging.getLogger(__name__)

EMPTY = "empty"
"""Name of the tensor in a file that needs none."""
DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.half, torch.bfloat16, torch.float, torch.double),
)
"""Types of numbers that torch can index, compare and sum; it knows others by name only."""


PICTURES = (".png", ".svg", ".pdf")
"""How the names of pictures may end."""


def check_like(found: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """Refuse tensors whose names, shapes or kinds of numbers are not the expected ones, and NaN or infinity.

    ``expected`` may be on the device ``meta``, so that no memory is asked for on the word of a file alone.

    Raises:
        InputError: The first difference.
    """
    for name in sorted({*found, *expected}):
        if name not in found or name not in expected:
            raise InputError(f"the tensor {name!r} is {'missing' if name in expected else 'not expected'}")
        value, like = found[name], expected[name]
        if value.shape != like.shape or value.is_floating_point() != like.is_floating_point():
            told = [f"{t.dtype} {list(t.shape)}" for t in (value, like)]
            raise InputError(f"the tensor {name!r} is {told[0]}, expected {told[1]}")
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise InputError(f"the tensor {name!r} holds NaN or infinity")


def write_tensors(path: str | Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Write tensors and header, whole or not at all."""
    write_bytes(path, tensor_bytes(tensors, header))


def tensor_bytes(tensors: dict[str, Tensor], header: dict[str, Any]) -> bytes:
    """Return the contents of such a file."""
    return save(
        {k: v.detach().cpu().contiguous() for k, v in tensors.items()} or {EMPTY: torch.zeros(0)},
        metadata={"epic": json.dumps(header)},
    )


def write_bytes(path: str | Path, payload: bytes) -> None:
    """Write to a temporary file, then rename it: a kill leaves the old file or the new one, never half of either.

    A link stays one: what it points to is written.

    Raises:
        InputError: The disk is full, or the folder is missing or cannot be written; what was there is untouched.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    temporary = None
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():  # a pipe or a device such as /dev/stdout
            target.write_bytes(payload)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}."[:200])
        with os.fdopen(handle, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except (OSError, RuntimeError) as error:  # the latter by Python before 3.13, of links that form a circle
        said = getattr(error, "strerror", None) or error
        raise InputError(f"cannot write {path}: {said}; nothing there was changed") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


@contextmanager
def alone(path: str | Path, *, say: bool = True) -> Iterator[None]:
    """Be the only process that makes this file, or fills this folder; wait while another one does.

    A folder is locked itself, for a file a hidden one next to it, which goes at the end. The lock is released when the
    process ends, however it ends.

    Args:
        path: A file, or a folder that exists.
        say: Whether to warn that it waits; workers of one command wait for each other without a word.

    Raises:
        InputError: The folder of the file cannot be written.
    """
    path = Path(path)
    lock = path if path.is_dir() else path.with_name(f".{path.name}.lock")
    while True:
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(lock, os.O_RDONLY if lock is path else os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from error
        try:
            _flock(handle, path, say)
            # Whoever had it may have removed it; what counts is the file that has the name now.
            if not lock.exists() or lock.stat().st_ino != os.fstat(handle).st_ino:
                continue
            yield
            return
        finally:
            if lock is not path and lock.exists() and lock.stat().st_ino == os.fstat(handle).st_ino:
                lock.unlink()
            os.close(handle)


def _flock(handle: int, path: Path, say: bool) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        level = logging.WARNING if say else logging.DEBUG
        log.log(level, "another process is making %s: waiting until it is done", path)
        fcntl.flock(handle, fcntl.LOCK_EX)


def write_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    write_bytes(path, text.encode())


def write_figure(path: str | Path, figure: Any, **options: Any) -> None:
    """Write a matplotlib figure, whole or not at all; the name of the file says in which format."""
    if Path(path).suffix.lower() not in PICTURES:
        raise InputError(f"cannot write a picture as {path}: the name must end in {', '.join(PICTURES)}")
    contents = io.BytesIO()
    figure.savefig(contents, format=Path(path).suffix[1:].lower(), **options)
    write_bytes(path, contents.getvalue())


def whole(path: Path) -> bool:
    """Tell whether the file exists and is as long as its header says. The tensors are not read."""
    try:
        with safe_open(path, framework="pt"):
            return True
    except (SafetensorError, ValueError, OSError):
        return False


def read_tensors(
    path: str | Path, *forms: str, remedy: str = "save it again"
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what :func:`write_tensors` wrote.

    ``forms`` are the formats that its header may name, ``remedy`` is what to do about a damaged file.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    with reading(path, remedy), safe_open(path, framework="pt") as file:
        header = json.loads((file.metadata() or {}).get("epic", "{}"))
        tensors = {k: file.get_tensor(k) for k in file.keys() if k != EMPTY}  # noqa: SIM118 (not a dict)
        if odd := {t.dtype for t in tensors.values()}.difference(DTYPES):
            raise InputError(f"it holds {odd.pop()}")
    found = header.get("format") if isinstance(header, dict) else None
    if found not in forms:
        raise InputError(f"{path} holds {found or 'something else'}, not {' or '.join(forms)}")
    return tensors, header
