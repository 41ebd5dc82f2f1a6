"""Training that survives a kill: everything needed to go on, in one file written in one piece."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from epic._io import check_like, read_tensors, write_tensors
from epic.errors import InputError, reading

FORM = "epic-checkpoint/1"


def identity(settings: object, *parts: str) -> str:
    """Return a name for a run by its settings and data, so that its checkpoint is never continued on others."""
    text = json.dumps([settings, *parts], sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def save_checkpoint(
    path: Path,
    identity: str,
    modules: dict[str, nn.Module],
    optimizer: torch.optim.Optimizer,
    best: dict[str, Tensor],
    history: list[dict[str, Any]],
) -> None:
    """Write the weights of named modules, optimizer state, the weights of the best epoch, and the history."""
    tensors = {f"{name}.{k}": v for name, module in modules.items() for k, v in module.state_dict().items()}
    tensors |= {f"best.{k}": v for k, v in best.items()}
    for index, slots in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{k}": torch.as_tensor(v) for k, v in slots.items()}
    write_tensors(path, tensors, {"format": FORM, "identity": identity, "history": history})


def load_checkpoint(
    path: Path,
    identity: str,
    modules: dict[str, nn.Module],
    optimizer: torch.optim.Optimizer,
    judge: Callable[[dict[str, Any]], float],
) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """Restore modules and optimizer in place; return the weights of the best epoch and the history.

    Raises:
        InputError: The file is damaged, or of a run with another identity.
    """
    remedy = "delete it to start again"
    tensors, header = read_tensors(path, FORM, remedy=remedy)
    if header.get("identity") != identity:
        raise InputError(f"the checkpoint {path} belongs to other graphs or settings: {remedy}, or choose another path")
    with reading(path, remedy):
        parts: dict[str, dict[str, Tensor]] = {"best": {}, "optimizer": {}, **{part: {} for part in modules}}
        for key, value in tensors.items():
            part, _, name = key.partition(".")
            parts[part][name] = value
        slots = _slots(parts["optimizer"], optimizer)
        for part, module in modules.items():  # all are checked before any is changed
            check_like(parts[part], module.state_dict())
        check_like(parts["best"], next(iter(modules.values())).state_dict())
        history, updates = header["history"], 0
        for line in history:
            numbers = all(isinstance(v, (int, float, type(None))) for v in [*line.values(), judge(line)])
            if not numbers or line.keys() != history[0].keys() or line["updates"] <= updates:
                raise InputError("its history is not a line of numbers for each epoch")
            updates = line["updates"]
        for part, module in modules.items():
            module.load_state_dict(parts[part])
        optimizer.load_state_dict({"state": slots, "param_groups": optimizer.state_dict()["param_groups"]})
    return parts["best"], history


def _slots(tensors: dict[str, Tensor], optimizer: torch.optim.Optimizer) -> dict[int, dict[str, Tensor]]:
    """Return what the optimizer remembers of each parameter: numbers, and tensors shaped like the parameter."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    slots: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        index, _, name = key.partition(".")
        like = torch.zeros(()) if name == "step" else params[int(index)]
        check_like({key: value}, {key: like})
        if name == "step" and float(value) < 1:
            raise InputError(f"{key} is {float(value)}")
        slots.setdefault(int(index), {})[name] = value
    if any(slots[i].keys() != slots[0].keys() for i in range(len(slots))):
        raise InputError("what it remembers of some parameters is missing")
    return slots
