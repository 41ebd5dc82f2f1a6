"""Warnings about augmented batches, given once by each augmentation."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from epic.graphs.convert import graph_attributes
from epic.graphs.packed import ABOUT, Graphs, PackedGraphs

if TYPE_CHECKING:
    from torch_geometric.data import Batch

    from epic.augment.base import Augmentation

LEVEL = 6
"""Calls between a warning here and the user's call of the augmentation."""


class Notices:
    """Warnings that an augmentation gives once; ``fresh`` until it looked at a batch."""

    def __init__(self) -> None:
        self.fresh = True
        self._said: set[str] = set()

    def look(self, method: Augmentation, data: Graphs, packed: PackedGraphs, batch: Batch) -> None:
        """Warn if a batch of one gets nothing added, and if attributes of whole graphs are left out."""
        name = type(method).__name__
        if len(packed) == 1 and method.makes_graphs and method.ratio and not bool(batch.augmented.any()):
            if method.mixes:
                self._once("one", f"{name} adds nothing to a batch of one: it mixes two graphs. Take larger batches")
            elif not round(method.ratio):
                why = f"a ratio of {method.ratio} rounds to none. Take larger batches, or ratio=1"
                self._once("one", f"{name} adds nothing to a batch of one: {why}")
        self.fresh = False
        if method.mixes:
            known = {*packed.node, *packed.edge, *ABOUT}
            if lost := sorted(key for key in graph_attributes(data, known) if key not in batch):
                self._once("lost", f"{name} leaves out {', '.join(lost)}: a mixture of two graphs has none")

    def _once(self, key: str, text: str) -> None:
        if key not in self._said:
            self._said.add(key)
            warnings.warn(f"{text} (said once)", stacklevel=LEVEL)
