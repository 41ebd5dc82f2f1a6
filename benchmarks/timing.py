"""What the benchmarks share: times of rivals taken in turn, and a line of results."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import torch

from epic import __version__

RESULTS = Path(__file__).parents[1] / "results"


def keep_memory() -> None:
    """Have the C library keep what is freed, where it is glibc. Whether it gives memory back between two rounds is else
    left to chance, which slows a training step, of large arrays, by up to a half and small work not at all.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        trim, map_above = -1, -3
        library.mallopt(trim, 2**31 - 1)
        library.mallopt(map_above, 2**25)


def race(entries: dict[str, tuple[Callable[[], object], int]], rounds: int) -> dict[str, float]:
    """Milliseconds per item of each entry, the median over interleaved rounds.

    A noisy machine then slows all of them alike.
    """
    seen: dict[str, list[float]] = {name: [] for name in entries}
    for work, _ in entries.values():
        work()
    for _ in range(rounds):
        for name, (work, items) in entries.items():
            begin = time.perf_counter()
            work()
            seen[name].append((time.perf_counter() - begin) / items * 1e3)
    return {name: statistics.median(times) for name, times in seen.items()}


def record(path: Path, *, quiet: bool = False, **values: object) -> None:
    """Append a line of results, with where they come from, and say so unless ``quiet``."""
    place = {
        "epic": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "date": date.today().isoformat(),
    }
    with path.open("a") as file:
        file.write(json.dumps({**values, **place}) + "\n")
    if not quiet:
        print(f"\nappended to {path}")
