"""Inner loops compiled by numba, where it is installed (extra ``fast``).

They live in files named ``compiled.py``. Each has a slower form in numpy or torch with the same answers to the last
bit, so that results do not depend on whether numba is there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

INTEGERS, FIELD, VALUES = "int64[::1]", "float{bits}[:, ::1]", "float{bits}[::1]"


@cache
def compiled(file: str, name: str) -> Callable[..., Any] | None:
    """The function ``name`` of a module below ``epic``; None where numba is not installed."""
    try:
        module = import_module(f"epic.{file}")
    except ImportError:
        return None
    return getattr(module, name)


def integers(*tensors: Tensor) -> tuple[np.ndarray, ...] | None:
    """Index tensors as plain memory; None where one is elsewhere, on a device or inside a function transform."""
    for t in tensors:
        if not t.is_cpu:
            return None
    try:
        return tuple(np.ascontiguousarray(t.numpy(), dtype=np.int64) for t in tensors)
    except RuntimeError:  # a transform's
        return None


def constant(h: Tensor) -> bool:
    """Whether it is plain memory of floats in order, that no derivative is asked of."""
    if not h.is_cpu or h.requires_grad or h.dtype not in (torch.float, torch.double) or not h.is_contiguous():
        return False
    if forward_ad._current_level >= 0 and forward_ad.unpack_dual(h).tangent is not None:
        return False
    try:
        h.numpy()
    except RuntimeError:  # inside a function transform
        return False
    return True


def fast(signature: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile for both precisions now, in a fixed order: several processes may fill the cache on disk at once, and
    numba names what it keeps there by the order in which it comes.
    """
    from numba import njit

    def made(function: Callable[..., Any]) -> Callable[..., Any]:
        signatures = list(dict.fromkeys(signature.format(bits=bits) for bits in (32, 64)))
        how = {"nogil": True, "error_model": "numpy", **options}
        try:
            return njit(signatures, cache=True, **how)(function)
        except RuntimeError:  # no folder to keep it in
            return njit(signatures, **how)(function)

    return made
