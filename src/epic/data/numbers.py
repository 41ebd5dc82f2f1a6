"""Read tables of integers from text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from epic.errors import InputError


def integers(text: bytes, path: Path, columns: int | None = None) -> np.ndarray:
    """Read lines of integers, separated by commas or spaces, as an array [lines, columns].

    ``columns`` is the number of integers in a line (default: as many as in the first); ``path`` is for messages.
    """
    try:
        flat = np.array(text.replace(b",", b" ").split(), dtype=np.int64)
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): fetch it again") from error
    lines = text.splitlines()
    width = columns or (len(lines[0].replace(b",", b" ").split()) if lines else 1)
    if flat.size != len(lines) * width:
        raise InputError(f"{path} is damaged: {flat.size} numbers in {len(lines)} lines, expected {width} in each")
    return flat.reshape(len(lines), width)
