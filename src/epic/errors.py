"""Errors about input: the value that is wrong, and what to do about it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any


class InputError(ValueError):
    """An input that cannot be used. The message shows the value and the remedy."""


@contextmanager
def reading(path: object, remedy: str = "save it again") -> Iterator[None]:
    """Turn whatever goes wrong while a file is parsed into one sentence.

    A damaged file can make any line fail with any error. They all mean the same to its reader. An error that names the
    file is left as it is.

    Raises:
        InputError: Anything failed inside.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, InputError) and str(path) in str(error):
            raise
        said = " ".join(str(error).split()) or type(error).__name__
        said = said if len(said) < 300 else said[:297] + "..."
        raise InputError(f"{path} is damaged or holds something else ({said}): {remedy}") from error


def choose(value: object, options: Iterable[str], what: str) -> str:
    """Return ``value`` if it is one of ``options``; otherwise raise an error that names the nearest ones.

    >>> choose("bfs", ["random", "bfs"], "order")
    'bfs'
    >>> choose("randm", ["random", "bfs"], "order")
    Traceback (most recent call last):
    ...
    epic.errors.InputError: unknown order 'randm'; did you mean 'random'? Known: random, bfs
    """
    known = list(options)
    if isinstance(value, str) and value in known:
        return value
    near = nearest(str(value), known)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    raise InputError(f"unknown {what} {value!r}{hint} Known: {', '.join(known) or 'none'}")


def nearest(value: str, known: list[str]) -> list[str]:
    """Return up to three known names that may have been meant, the most similar first. Case does not count.

    >>> nearest("mutag", ["MUTAG", "Mutagenicity", "NCI1"])
    ['MUTAG', 'Mutagenicity']
    """
    lower = [name.lower() for name in known]
    found = difflib.get_close_matches(value.lower(), dict.fromkeys(lower), n=3, cutoff=0.5)
    return [known[lower.index(name)] for name in found]


def need_number(value: Any, name: str) -> float:
    """Return a finite number.

    >>> need_number(3, "lr")
    3.0
    """
    try:
        if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    except OverflowError:  # an int of hundreds of digits
        pass
    raise InputError(f"{name} must be a number, got {value!r}"[:300])


def need_count(value: object, name: str, *, least: int = 1, most: int | None = None) -> int:
    """Return a whole number from 1, or another, up; not above ``most``, if that is given.

    >>> need_count(3, "k")
    3
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if most is not None and int(value) > most:
        raise InputError(f"{name} must be at most {most}, got {value!r}")
    return int(value)


def need_some(names: Sequence[str], what: str) -> Sequence[str]:
    """Return the names, or raise an error if there are none: an empty list is a slip, not a choice.

    >>> need_some(["epic"], "methods")
    ['epic']
    """
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise InputError(f"{what} must be a list of names, got {names!r}")
    if not names:
        raise InputError(f"no {what} are named: give one at least, or leave the option out")
    return names
