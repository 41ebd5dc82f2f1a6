"""What is said when an input cannot be used: the value that is wrong, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """An input that cannot be used. The message shows the value and the remedy."""


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
    near = difflib.get_close_matches(str(value), known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    raise InputError(f"unknown {what} {value!r}{hint} Known: {', '.join(known)}")
