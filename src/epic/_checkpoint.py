"""Training that survives a kill: everything needed to go on, in one file written in one piece."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from epic._io import read_tensors, write_tensors
from epic.errors import InputError

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
    path: Path, identity: str, modules: dict[str, nn.Module], optimizer: torch.optim.Optimizer
) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """Restore modules and optimizer in place; return the weights of the best epoch and the history.

    Raises:
        InputError: The file is damaged, or of a run with another identity.
    """
    tensors, header = read_tensors(path, FORM, remedy="delete it to start again")
    if header["identity"] != identity:
        raise InputError(
            f"the checkpoint {path} belongs to other graphs or settings: delete it to start again, "
            "or choose another path"
        )
    parts: dict[str, dict[str, Tensor]] = {"best": {}}
    for key, value in tensors.items():
        part, _, name = key.partition(".")
        parts.setdefault(part, {})[name] = value
    for part, module in modules.items():
        module.load_state_dict(parts.get(part, {}))
    slots: dict[int, dict[str, Tensor]] = {}
    for key, value in parts.get("optimizer", {}).items():
        index, _, name = key.partition(".")
        slots.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict({"state": slots, "param_groups": optimizer.state_dict()["param_groups"]})
    return parts["best"], header["history"]
