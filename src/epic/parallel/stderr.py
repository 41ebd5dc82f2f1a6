"""Keep the end of what worker processes write to stderr: it says why one of them died."""

from __future__ import annotations

import os
import threading
from functools import partial
from itertools import takewhile
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

KEPT = 1 << 14
"""Bytes to remember."""


class Stderr:
    """Pass on what workers write to stderr, and remember the end of it.

    A process inherits stderr when it starts. So descriptor 2 is a pipe for just that moment, and a thread copies from
    the pipe to the real stderr.

    Attributes:
        context: A multiprocessing context that starts processes in this way.
    """

    def __init__(self) -> None:
        self._tail = b""
        source, self._sink = os.pipe()
        self._thread = threading.Thread(target=self._copy, args=(source,), daemon=True)
        self._thread.start()
        self.context = SpawnContext()
        self.context.Process = partial(_Process, self._sink)  # type: ignore[misc, assignment]

    def _copy(self, source: int) -> None:
        with open(source, "rb", buffering=0) as pipe:
            while piece := pipe.read(1 << 12):
                self._tail = (self._tail + piece)[-KEPT:]
                os.write(2, piece)

    def error(self) -> str:
        """Return what the last worker died of, in its own words; empty if it wrote nothing. Ends the copying."""
        self.close()
        self._thread.join(timeout=5)
        return error_in(self._tail.decode(errors="replace"))

    def close(self) -> None:
        """Let the copying end with the workers."""
        if self._sink >= 0:
            os.close(self._sink)
            self._sink = -1


class _Process(SpawnProcess):
    """Starts with the pipe as its stderr."""

    def __init__(self, sink: int, **options: Any) -> None:
        super().__init__(**options)
        self._sink = sink

    def start(self) -> None:
        real = os.dup(2)
        os.dup2(self._sink, 2)
        try:
            super().start()
        finally:
            os.dup2(real, 2)
            os.close(real)


def error_in(text: str) -> str:
    """Find the error in what a process wrote: the paragraph that ends its last traceback, else its last line.

    >>> error_in("Traceback (most recent call last):\\n  File a\\nRuntimeError:\\n  No start.\\n\\n  Do that.\\n")
    'RuntimeError: No start.'
    >>> error_in("Loading\\nFatal Python error: Segmentation fault\\n")
    'Fatal Python error: Segmentation fault'
    """
    _, traceback, rest = text.rpartition("Traceback (most recent call last):\n")
    lines = rest.splitlines()
    if not traceback:
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
    while lines and lines[0].startswith(" "):
        del lines[0]
    return " ".join(line.strip() for line in takewhile(str.strip, lines))
