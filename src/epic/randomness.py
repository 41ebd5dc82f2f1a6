"""Seeds. Nothing here reads or moves the global random state."""

from __future__ import annotations

import hashlib
import secrets

import numpy as np
import torch
from torch import Tensor

Seed = int | torch.Generator | None


def base_seed(seed: Seed) -> int:
    """A number to derive everything from: the one given, one drawn from a generator, or a fresh one."""
    if seed is None:
        return secrets.randbits(63)
    if isinstance(seed, torch.Generator):
        return int(torch.randint(2**63 - 1, (), generator=seed, device=seed.device))
    return int(seed)


def derived(*parts: object) -> torch.Generator:
    """A generator that is a pure function of the parts."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)


def digest(*tensors: Tensor | None) -> str:
    """A fingerprint of contents."""
    state = hashlib.blake2b(digest_size=16)
    for tensor in tensors:
        if tensor is not None:
            state.update(np.ascontiguousarray(tensor.detach().cpu().numpy()).data)
        state.update(b"|")
    return state.hexdigest()
