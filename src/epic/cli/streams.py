"""Streams that a command can rely on, whatever it was started with."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any


class _Messages:
    """Stderr that ignores failed writes: a message that nobody can read must not stop the work."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def mend_streams() -> None:
    """Open streams that are closed, and replace characters that a stream cannot encode."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:  # the first file to be opened would get its number, and messages of libraries in it
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif hasattr(stream := getattr(sys, name), "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not isinstance(sys.stderr, _Messages):
        sys.stderr = _Messages(sys.stderr)


def drop_output() -> None:
    """Discard what stdout cannot write, which Python would try to write again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
