"""Whether and how inner loops are compiled by numba (extra ``fast``).

Compiled code lives in this folder only, behind the function that it replaces. The contract is the same matching and the
same graphs as without numba (integers, ties included).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

INTEGERS, FIELD, VALUES = "int64[::1]", "float{bits}[:, ::1]", "float{bits}[::1]"

LOWEST = -1e300
"""Costs below this are refused: their sums could overflow, and no search would end."""


@cache
def _installed() -> bool:
    return find_spec("numba") is not None


def enabled() -> bool:
    """Return whether compiled loops are used: numba is installed, and ``EPIC_NO_NUMBA`` is not set."""
    return not os.environ.get("EPIC_NO_NUMBA") and _installed()


def jit(signature: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a function for both precisions when its module is imported.

    The order of signatures is fixed: several processes may fill numba's cache on disk at once, and numba names what it
    keeps there by the order in which it comes.

    Args:
        signature: numba signature in which ``{bits}`` stands for 32 and 64.
        **options: options of ``numba.njit``.
    """
    from numba import njit

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        signatures = list(dict.fromkeys(signature.format(bits=bits) for bits in (32, 64)))
        settings = {"nogil": True, "error_model": "numpy", **options}
        try:
            return njit(signatures, cache=True, **settings)(function)
        except RuntimeError:  # there is no folder to keep the cache in
            return njit(signatures, **settings)(function)

    return compiled
