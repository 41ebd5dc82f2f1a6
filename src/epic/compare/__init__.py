"""Which method helps on your graphs: runs, their store, tuning, statistics and verdicts.

The package is callable: ``epic.compare(graphs, ["epic"], model=MyNet)`` is :func:`epic.compare.study.compare`.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """A module that can be called."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        # Imported at the call: a worker that needs one file of the room must not wait for all of them.
        from epic.compare.study import compare

        return compare(*arguments, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        """What ``help`` and editors show of the call."""
        from epic.compare.study import compare

        return inspect.signature(compare)


sys.modules[__name__].__class__ = _Room
