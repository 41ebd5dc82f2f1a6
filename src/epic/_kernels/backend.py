"""Whether and how inner loops are compiled by numba (extra ``fast``).

Compiled code lives in this folder only, behind the function that it replaces. The contract is the same matching and the
same graphs as without numba (integers, ties included).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

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

    Returns:
        The decorator. Where numba is not installed, it leaves the function as it is.
    """
    if not _installed():
        return lambda function: function
    from numba import njit

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        signatures = list(dict.fromkeys(signature.format(bits=bits) for bits in (32, 64)))
        settings = {"nogil": True, "error_model": "numpy", **options}
        try:
            return njit(signatures, cache=True, **settings)(function)
        except RuntimeError:  # there is no folder to keep the cache in
            return njit(signatures, **settings)(function)

    return compiled


def interpreted(*modules: dict[str, Any], **replaced: Any) -> dict[str, Any]:
    """Return the names of modules of compiled functions with the same functions as plain Python.

    Args:
        *modules: ``vars`` of the modules that call each other, the lowest first.
        **replaced: functions to put in the place of some.

    Returns:
        All names. The functions among them call each other and not the compiled ones.
    """
    plain = {name: value for module in modules for name, value in module.items()}
    for name, value in plain.items():
        function = getattr(value, "py_func", value)
        if isinstance(function, FunctionType) and function.__module__.startswith("epic._kernels."):
            plain[name] = FunctionType(function.__code__, plain, name)
    plain.update(replaced)
    return plain


def scipy_block(field: np.ndarray, top: int, left: int, m: int, partner: np.ndarray, memory: tuple = ()) -> bool:
    """Do what :func:`epic._kernels.assignment.solve_block` does, with scipy."""
    reduced = field[top : top + partner.size, left : left + m]
    if reduced.size and not float(reduced.min()) > LOWEST:  # float: LOWEST is beyond float32
        return False
    rows, columns = linear_sum_assignment(np.minimum(reduced, 0.0))
    partner[:] = -1
    partner[rows] = np.where(reduced[rows, columns] <= 0.0, columns, -1)
    return True


SCIPY = {"solve_block": scipy_block, "room": lambda rows, columns: ()}
"""What :func:`interpreted` puts in the place of the compiled assignment."""
