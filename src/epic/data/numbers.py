"""Read tables of integers from text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from epic.errors import InputError


def integers(text: bytes, path: Path, columns: int | None = None) -> np.ndarray:
    """Return a table of integers as an array [lines, columns].

    Args:
        text: Lines of integers with commas or spaces between them.
        path: Where the text comes from, for messages.
        columns: Numbers in a line (default: as many as in the first).

    Raises:
        InputError: If a value is no integer, or a line has more or fewer numbers.
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
