"""Checks of hyper-parameters: each returns the value to store, or raises an error that names it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from epic.augment.params import Check
from epic.errors import InputError, choose, need_number
from epic.graphs.packed import PackedGraphs


def _number_that(holds: Callable[[float], bool], words: str) -> Check:
    """Return a check for numbers for which ``holds`` is true; ``words`` say so."""

    def check(value: Any, name: str) -> float:
        if not holds(need_number(value, name)):
            raise InputError(f"{name} must {words}, got {value}")
        return float(value)

    return check


share = _number_that(lambda v: 0 <= v <= 1, "lie between 0 and 1")
open_share = _number_that(lambda v: 0 < v < 1, "lie between 0 and 1, both excluded")
positive = _number_that(lambda v: v > 0, "be a positive number")
not_negative = _number_that(lambda v: v >= 0, "be a number from 0 up")
ratio = _number_that(lambda v: 0 <= v <= 1000, "be a number from 0 to 1000 (generate makes more graphs)")


def count(value: Any, name: str) -> int:
    """Return a whole number from 1 up."""
    if need_number(value, name) != round(value):
        raise InputError(f"{name} must be a whole number, got {value}")
    if value < 1:
        raise InputError(f"{name} must be at least 1, got {value}")
    return int(value)


def flag(value: Any, name: str) -> bool:
    """Return True or False; any other word would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be true or false, got {value!r}")
    return bool(value)


def one_of(options: Iterable[str]) -> Check:
    """Return a check for one of the named options."""
    return lambda value, name: choose(value, options, name)


def optional(check: Check) -> Check:
    """Return a check that lets None pass."""
    return lambda value, name: None if value is None else check(value, name)


def need_float(graphs: PackedGraphs, method: str, why: str = "averages features") -> None:
    """Refuse integer features, which have no values between them."""
    for name, value in (("x", graphs.x), ("edge_attr", graphs.edge_attr)):
        if value is not None and not value.is_floating_point():
            raise InputError(f"{method} {why}, but {name} holds {value.dtype} categories: give one-hot features")
