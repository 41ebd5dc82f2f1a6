"""The node operations of many pairs, laid end to end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from epic.graphs.ragged import counts, lengths, merge, offsets, owners
from epic.matching.types import Assignment, OperationCosts


@dataclass(frozen=True)
class Operations:
    """Pair p owns operations ``ptr[p]:ptr[p+1]``: its source nodes in order, then the target nodes to insert.

    ``source`` and ``target`` are places in ``Assignment.source`` and ``.target``, -1 for the missing side; ``price`` is
    what each operation costs.
    """

    source: np.ndarray
    target: np.ndarray
    price: np.ndarray
    ptr: np.ndarray

    @staticmethod
    def of(m: Assignment, prices: OperationCosts) -> Operations:
        """Return the operations of assignments.

        Args:
            m: The assignments.
            prices: What their operations cost.
        """
        new = m.origin < 0
        inserted, inserts = new.nonzero()[0], counts(new, m.target_ptr)
        nodes = lengths(m.source_ptr)
        order = merge(nodes, inserts)
        lost, won = prices.arrays()
        return Operations(
            np.concatenate([np.arange(m.source.size), np.full_like(inserted, -1)])[order],
            np.concatenate([m.partner, inserted])[order],
            np.concatenate([lost, won[inserted]])[order],
            offsets(nodes + inserts),
        )

    def __len__(self) -> int:
        return self.price.size

    @cached_property
    def pair(self) -> np.ndarray:
        """Pair of each operation."""
        return owners(self.ptr)

    def marks(self, done: np.ndarray, assignment: Assignment) -> tuple[np.ndarray, np.ndarray]:
        """Return which source and which target nodes have had their operation.

        Args:
            done: Whether each operation is done.
            assignment: The assignments that the operations come from.
        """
        source = np.zeros(assignment.source.size, dtype=bool)
        target = np.zeros(assignment.target.size, dtype=bool)
        source[self.source[done & (self.source >= 0)]] = True
        target[self.target[done & (self.target >= 0)]] = True
        return source, target

    def fraction(self, done: np.ndarray) -> np.ndarray:
        """Return the share of each pair's cost that is ``done`` (paper, eq. 1).

        Where all operations are free, it is the share of operations.
        """
        total, spent = (np.bincount(self.pair, price, self.ptr.size - 1) for price in (self.price, self.price * done))
        count, finished = lengths(self.ptr), counts(done, self.ptr)
        share = np.where(total > 0, spent / np.where(total > 0, total, 1.0), finished / np.maximum(count, 1))
        # Exact at both ends, whatever the rounding of the sums.
        share = np.where(finished == 0, 0.0, np.where(finished == count, 1.0, share))
        return np.clip(share, 0.0, 1.0)


def by_key(key: np.ndarray, ops: Operations) -> np.ndarray:
    """Return the position of each operation in its pair's path when sorted by ``key`` in [0, 1)."""
    rank = np.empty(key.size, dtype=np.int64)
    rank[np.argsort(ops.pair + key, kind="stable")] = np.arange(key.size)
    return rank - ops.ptr[:-1].repeat(lengths(ops.ptr))
