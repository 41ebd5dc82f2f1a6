"""Ask any classifier of batches about packed graphs: a user's network, or a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from epic.errors import InputError
from epic.graphs.packed import PackedGraphs

CHUNK = 256
"""Graphs that a classifier is given at a time."""


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Put a module into evaluation mode, and every part of it back into the mode that it had."""
    modes = [(part, part.training) for part in model.modules()] if isinstance(model, nn.Module) else []
    if modes:
        model.eval()  # by its own method: a module may do more than set a flag
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


@torch.no_grad()
def class_scores(model: Callable[[Batch], Tensor], graphs: PackedGraphs) -> Tensor:
    """Return the scores of classes ``[graphs, classes]`` that a classifier gives for at least one graph, on the CPU.

    It takes a ``Batch`` and returns such scores, or ``[graphs]`` or ``[graphs, 1]``, positive for class 1 of two.

    Raises:
        InputError: It returns something else.
    """
    device = next((p.device for p in model.parameters()), None) if isinstance(model, nn.Module) else None
    parts = []
    with evaluating(model):
        for at in range(0, len(graphs), CHUNK):
            some = graphs[at : at + CHUNK]
            scores = model((some if device is None else some.to(device)).to_batch())
            if not isinstance(scores, Tensor) or scores.shape[:1] != (len(some),) or scores.dim() > 2:
                shape = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
                raise InputError(f"the model must return scores [{len(some)}, classes], got {shape}")
            parts.append(scores.detach().reshape(len(some), -1).cpu())
    found = torch.cat(parts)
    if bool(found.isnan().any()):
        raise InputError("the model returns NaN for some graphs, so they have no class: fix the model")
    return torch.cat([torch.zeros_like(found), found], 1) if found.shape[1] == 1 else found
