"""Functions for workers to do: they have to be importable there."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm


def half(number):
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2


def threads(_):
    import torch

    return torch.get_num_threads()


def die_once(task):
    """Number 2 kills its own process the first time it is tried."""
    number, folder = task
    mark = Path(folder) / "died"
    if number == 2 and not mark.exists():
        mark.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@dataclass(frozen=True)
class Slow:
    """Another function, slowly: there must be something in hand when a node dies."""

    function: Any
    seconds: float = 0.3

    def __call__(self, task):
        time.sleep(self.seconds)
        return self.function(task)


def kill_at_zero(number):
    """Number 0 kills its process every time, the others take a moment."""
    if number == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.3)
    return number


def note_and_wait(folder):
    """Show no progress, as runs do, say which process this is, and stay."""
    list(tqdm([1], disable=True))
    (Path(folder) / f"worker-{os.getpid()}").write_text("")
    time.sleep(60)


def note_and_hold(folder):
    """Say which process this is, and hold the interpreter's lock for long."""
    (Path(folder) / f"worker-{os.getpid()}").write_text("")
    return pow(3, 30_000_000)
