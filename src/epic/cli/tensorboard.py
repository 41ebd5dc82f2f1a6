"""Curves for TensorBoard, if it is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def watcher(folder: Path) -> Callable[[dict[str, Any]], None] | None:
    """Return a function to call after each epoch, or None if TensorBoard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    writer: SummaryWriter | None = None

    def watch(line: dict[str, Any]) -> None:
        nonlocal writer
        if writer is None:  # a run that goes on after a kill hides what it does again
            writer = SummaryWriter(str(folder), purge_step=line["updates"])
        for name in ("loss", "validation_loss", "validation"):
            writer.add_scalar(name, line[name], line["updates"])
        writer.flush()

    return watch
