"""Tensors and a JSON header on disk: safetensors, written whole or not at all, never pickle."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from epic.errors import InputError


def write_tensors(path: str | Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Write tensors and header, whole or not at all."""
    write_bytes(path, tensor_bytes(tensors, header))


def tensor_bytes(tensors: dict[str, Tensor], header: dict[str, Any]) -> bytes:
    """Return the contents of such a file."""
    return save(
        {k: v.detach().cpu().contiguous() for k, v in tensors.items()} or {"empty": torch.zeros(0)},
        metadata={"epic": json.dumps(header)},
    )


def write_bytes(path: str | Path, payload: bytes) -> None:
    """Write to a temporary file, then rename it: a kill leaves the old file or the new one, never half of either."""
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


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
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {}).get("epic", "{}"))
            tensors = {k: file.get_tensor(k) for k in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, ValueError, OSError) as error:
        raise InputError(f"{path} is damaged or not a safetensors file ({error}): {remedy}") from error
    found = header.get("format") if isinstance(header, dict) else None
    if found not in forms:
        raise InputError(f"{path} holds {found or 'something else'}, not {' or '.join(forms)}")
    return tensors, header
