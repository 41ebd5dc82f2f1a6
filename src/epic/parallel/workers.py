"""Worker processes that end with their parent, are left alone by Ctrl-C, and report errors on stderr."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import takewhile
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

KEPT = 1 << 14
"""Bytes to remember."""


class Workers:
    """Start workers, pass on what they write to stderr, and remember the end of it.

    A process inherits stderr when it starts. So descriptor 2 is a pipe for just that moment, and a thread copies from
    the pipe to the real stderr. It inherits blocked signals too: Ctrl-C reaches the whole group of processes, and it is
    for the parent alone to act on it.

    Attributes:
        context: A multiprocessing context that starts processes in this way.
    """

    def __init__(self) -> None:
        self._tail = b""
        source, self._sink = os.pipe()
        self._thread = threading.Thread(target=self._copy, args=(source,), daemon=True)
        with without_ctrl_c():
            self._thread.start()
        self._started: list[_Process] = []
        self.context = SpawnContext()
        self.context.Process = partial(_Process, self._sink, self._started)  # type: ignore[misc, assignment]

    def _copy(self, source: int) -> None:
        with open(source, "rb", buffering=0) as pipe:
            while piece := pipe.read(1 << 12):
                self._tail = (self._tail + piece)[-KEPT:]
                with suppress(OSError):  # nobody may be there to read it
                    os.write(2, piece)

    def error(self) -> str:
        """Return what the last worker died of, in its own words; empty if it wrote nothing. Ends the copying."""
        self.close()
        self._thread.join(timeout=5)
        return error_in(self._tail.decode(errors="replace"))

    def kill(self) -> None:
        """End all workers at once, whatever they are doing."""
        for process in self._started:
            process.kill()

    def close(self) -> None:
        """Let the copying end with the workers."""
        if self._sink >= 0:
            os.close(self._sink)
            self._sink = -1


class _Process(SpawnProcess):
    """Starts with the pipe as its stderr and without Ctrl-C."""

    def __init__(self, sink: int, started: list[_Process], **options: Any) -> None:
        super().__init__(**options)
        self._sink, self._list = sink, started

    def start(self) -> None:
        real = os.dup(2)
        with without_ctrl_c():
            os.dup2(self._sink, 2)
            try:
                super().start()
                self._list.append(self)
            finally:
                os.dup2(real, 2)
                os.close(real)

    def __getstate__(self) -> dict[str, Any]:
        # First in order, so that it is called before the worker imports what its tasks need.
        return {"_tie": _Tie(), **self.__dict__, "_list": []}


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Block Ctrl-C for processes that are started here, and deliver one that comes meanwhile at the end.

    What is started inherits the blocked signal. But the system may give it to another thread of ours, and Python then
    to the main one: so the handler waits as well.
    """
    came: list[Any] = []
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda *signals: came.append(signals)) if main else None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if main:
            signal.signal(signal.SIGINT, signal.SIG_DFL if handler is None else handler)
        if came:
            signal.raise_signal(signal.SIGINT)


class _Tie:
    """What ties a worker to its parent as soon as the worker reads it."""

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return end_with_parent, (os.getpid(),)


def end_with_parent(parent: int) -> None:
    """Let this process end when its parent does, however that ends: a parent that is killed cannot see to it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the kernel does it, whatever runs here
        if os.getppid() != parent:  # it had ended before
            os._exit(1)
        return

    def watch() -> None:
        process = multiprocessing.parent_process()
        if process is not None:
            process.join()
            os._exit(1)

    threading.Timer(1.0, watch).start()


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
