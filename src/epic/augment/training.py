"""What methods that act inside a training step share: parts of the model, and a seed that travels with the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Batch

from epic.errors import InputError

SEED = "augment_seed"


def need_parts(model: nn.Module, parts: Sequence[str], method: str) -> Any:
    """The model, if it can be run in pieces."""
    missing = [p for p in parts if not hasattr(model, p)]
    if missing:
        raise InputError(
            f"{method} needs a model with {', '.join(parts)}, but {type(model).__name__} has no {', '.join(missing)}: "
            "use epic.train.Backbone, or give your model these parts"
        )
    return model


def put_seed(batch: Batch, generator: torch.Generator) -> None:
    """Let a batch carry the randomness of its training step, from whatever process makes it."""
    batch[SEED] = torch.randint(2**63 - 1, (), generator=generator)


def step_generator(batch: Batch, method: str) -> torch.Generator:
    """The generator (on the CPU) that the seed of a batch stands for."""
    if SEED not in batch:
        raise InputError(f"the batch has no seed of {method}: call it on the batch first, {method}()(batch)")
    return torch.Generator().manual_seed(int(batch[SEED]))
