"""Training that survives a kill: everything needed to go on, in one file written in one piece."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from epic._io import read_tensors, write_tensors
from epic.errors import InputError

FORM = "epic-checkpoint/1"


def identity(settings: object, *parts: str) -> str:
    """Names a run by its settings and its data, so that a checkpoint is never continued on something else."""
    text = json.dumps([settings, *parts], sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class Checkpoint:
    """Weights, optimiser, history, and the weights of the best epoch so far.

    ``loss`` tells how good an epoch of the history is (lower is better; the first of equals counts). Anything random
    has to be a function of the seed and the epoch, and the learning rate of the epoch: then a resumed run equals an
    uninterrupted one.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        identity: str,
        loss: Callable[[dict[str, Any]], float],
        path: str | Path | None,
    ) -> None:
        self.model, self.optimizer, self.identity, self.loss = model, optimizer, identity, loss
        self.path = None if path is None else Path(path)
        self.history: list[dict[str, Any]] = []
        self.best: dict[str, Tensor] = {}
        if self.path is not None and self.path.exists():
            self._load(self.path)

    def add(self, epoch: dict[str, Any]) -> None:
        """Append an epoch, keep its weights if it is the best, and write the file."""
        self.history.append(epoch)
        if self.since_best() == 0:
            self.best = {k: v.detach().clone() for k, v in self.model.state_dict().items()}
        if self.path is not None:
            self._save(self.path)

    def best_epoch(self) -> int:
        losses = [self.loss(e) for e in self.history]
        return losses.index(min(losses))

    def since_best(self) -> int:
        """Epochs since the best one."""
        return len(self.history) - 1 - self.best_epoch() if self.history else 0

    def finish(self) -> None:
        """Go back to the weights of the best epoch, and remove the file."""
        if self.best:
            self.model.load_state_dict(self.best)
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _save(self, path: Path) -> None:
        tensors = {f"now.{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"best.{k}": v for k, v in self.best.items()}
        for index, slots in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{k}": torch.as_tensor(v) for k, v in slots.items()}
        write_tensors(path, tensors, {"format": FORM, "identity": self.identity, "history": self.history})

    def _load(self, path: Path) -> None:
        tensors, header = read_tensors(path, FORM, remedy="delete it to start anew")
        if header["identity"] != self.identity:
            raise InputError(
                f"the checkpoint {path} belongs to other graphs or settings: delete it to start anew, "
                "or choose another path"
            )
        self.model.load_state_dict({k[4:]: v for k, v in tensors.items() if k.startswith("now.")})
        self.best = {k[5:]: v for k, v in tensors.items() if k.startswith("best.")}
        slots: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors.items():
            if key.startswith("optimizer."):
                _, index, name = key.split(".", 2)
                slots.setdefault(int(index), {})[name] = value
        self.optimizer.load_state_dict({"state": slots, "param_groups": self.optimizer.state_dict()["param_groups"]})
        self.history = header["history"]
