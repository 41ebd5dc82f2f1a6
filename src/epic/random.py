"""Seeds. Nothing here reads or moves the global random state."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import torch
from torch import Tensor

from epic.errors import InputError

Seed = int | torch.Generator | None
"""An int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed."""


def check_seed(value: Any, name: str = "seed") -> Seed:
    """Return an int, a ``torch.Generator`` or None, or raise ``InputError``."""
    fits = value is None or isinstance(value, (torch.Generator, Integral))
    if not fits or isinstance(value, bool):
        raise InputError(f"{name} must be an int, a torch.Generator or None, got {value!r}")
    return value


def base_seed(seed: Seed) -> int:
    """Return the number to derive everything random from."""
    if check_seed(seed) is None:
        return secrets.randbits(63)
    if isinstance(seed, torch.Generator):
        return int(torch.randint(2**63 - 1, (), generator=seed, device=seed.device))
    return int(seed)  # type: ignore[arg-type]


def derived(*parts: object) -> torch.Generator:
    """Return a generator that is a pure function of the parts."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)


@contextmanager
def seeded(seed: Seed) -> Iterator[None]:
    """Let torch draw from ``seed`` inside the block, as initial weights do; afterwards its state is as before."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(base_seed(seed) % 2**64)  # torch.manual_seed would seed other devices too
        yield


def digest(*tensors: Tensor | None) -> str:
    """Return a fingerprint of contents."""
    state = hashlib.blake2b(digest_size=16)
    for tensor in tensors:
        if tensor is not None:
            state.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
        state.update(b"|")
    return state.hexdigest()


class GroupSampler:
    """Draw partners of items from their own group or from another. Items of group -1 take no part.

    Items are sorted by group: a partner is then a random place inside or outside the run of the item's group.
    """

    def __init__(self, group: Tensor) -> None:
        known = (group >= 0).nonzero()[:, 0]
        _, inverse, counts = group[known].unique(return_inverse=True, return_counts=True)
        self.order = known[torch.argsort(inverse, stable=True)]
        nowhere = torch.zeros_like(group)
        self._size = nowhere.index_put((known,), counts[inverse])
        self._begin = nowhere.index_put((known,), (counts.cumsum(0) - counts)[inverse])
        self._rank = nowhere.index_put((self.order,), torch.arange(self.order.numel()))

    @property
    def has_same(self) -> Tensor:
        """Which items have another item of their group."""
        return self._size > 1

    @property
    def has_other(self) -> Tensor:
        """Which items have an item of another group."""
        return (self._size > 0) & (self._size < self.order.numel())

    def same(self, item: Tensor, chance: Tensor) -> Tensor:
        """Return another item of the same group; ``chance`` is uniform in [0, 1)."""
        step = (chance * (self._size[item] - 1)).long()
        step = step + (step >= self._rank[item] - self._begin[item])  # jump over the item itself
        return self.order[self._begin[item] + step]

    def other(self, item: Tensor, chance: Tensor) -> Tensor:
        """Return an item of another group."""
        step = (chance * (self.order.numel() - self._size[item])).long()
        return self.order[step + torch.where(step >= self._begin[item], self._size[item], 0)]  # jump over the group


def uniform(count: int, generator: torch.Generator) -> Tensor:
    """Return uniform numbers in [0, 1), in float64 so that no item of a large group is out of reach."""
    return torch.rand(count, generator=generator, dtype=torch.double)
