"""How much of each of two graphs goes into their mixture, and which two."""

from __future__ import annotations

import torch
from scipy.special import betaincinv
from torch import Tensor

from epic.random import uniform


def beta(count: int, a: float, b: float, generator: torch.Generator) -> Tensor:
    """Numbers in [0, 1] from Beta(a, b).

    Through the inverse of the distribution: torch's own Beta draws from the global random state.
    """
    return torch.from_numpy(betaincinv(a, b, uniform(count, generator).numpy()))


def another(picked: Tensor, graphs: int, generator: torch.Generator) -> Tensor:
    """For each picked graph a random other one of the ``graphs`` (two at least)."""
    step = (uniform(picked.numel(), generator) * (graphs - 1)).long().to(picked.device)
    return (picked + 1 + step) % graphs
