"""What matching takes and gives: costs of nodes, padded costs of pairs, assignments, and what their operations cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from epic.errors import InputError
from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import owners


@dataclass(frozen=True)
class NodeCosts:
    """What a cost says of each node of some packed graphs.

    Args:
        embedding: vectors ``[N, D]`` that substitution compares.
        deletion: price of deleting each node ``[N]``.
        insertion: price of inserting each node ``[N]``.
        ptr: offsets of the graphs' nodes.
    """

    embedding: Tensor
    deletion: Tensor
    insertion: Tensor
    ptr: Tensor

    def __len__(self) -> int:
        return self.ptr.numel() - 1

    def to(self, device: torch.device | str) -> NodeCosts:
        """Return the same costs on a device."""
        return NodeCosts(*(t.to(device) for t in (self.embedding, self.deletion, self.insertion, self.ptr)))

    def double(self) -> NodeCosts:
        """Return the same costs in float64, for distances: inner products of nearly equal vectors cancel."""
        h = self.embedding
        return NodeCosts(
            h.double() if h.is_floating_point() else h, self.deletion.double(), self.insertion.double(), self.ptr
        )

    def check_finite(self) -> NodeCosts:
        """Return itself.

        Raises:
            InputError: a cost is NaN or infinite.
        """
        for value in (self.embedding, self.deletion, self.insertion):
            # A sum is far cheaper than isfinite; the one in float64 is for large numbers that overflow.
            if value.is_floating_point() and not any(
                math.isfinite(float(value.sum(dtype=precision))) for precision in (None, torch.double)
            ):
                raise InputError(
                    "the costs of these graphs hold NaN or infinity: look for NaN or huge values in x and edge_attr"
                )
        return self


class Pricing(Protocol):
    """The two statements of what an edit costs (see :class:`epic.Cost`), from which everything else follows."""

    @property
    def metric(self) -> str | None: ...

    def embed(self, graphs: PackedGraphs) -> NodeCosts: ...

    def substitution(self, source: Tensor, target: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class PairCosts:
    """Costs of P pairs of graphs, padded: pair p occupies ``[:rows[p], :columns[p]]``.

    ``substitution`` is ``[P, n, m]``, ``deletion`` ``[P, n]`` and ``insertion`` ``[P, m]``. ``source`` ``[P, n]`` and
    ``target`` ``[P, m]`` name the node of each row and column; ``pair`` tells which of the listed pairs each p is.
    """

    substitution: Tensor
    deletion: Tensor
    insertion: Tensor
    rows: Tensor
    columns: Tensor
    source: Tensor
    target: Tensor
    pair: Tensor


@dataclass(frozen=True)
class Assignment:
    """Exact assignments of P pairs of graphs, laid end to end without padding.

    ``source`` and ``target`` list the nodes of all source and target graphs, pair after pair (offsets ``source_ptr``
    and ``target_ptr``). ``partner`` runs along ``source`` and holds the position in ``target`` of the node that
    replaces it, or -1 where it is deleted; ``origin`` runs along ``target`` the other way, with
    -1 where the node is inserted.
    """

    source: np.ndarray
    target: np.ndarray
    source_ptr: np.ndarray
    target_ptr: np.ndarray
    partner: np.ndarray
    origin: np.ndarray


@dataclass(frozen=True)
class OperationCosts:
    """What the operations of assignments cost.

    ``source[u]`` is the price of substituting or deleting u, ``target[v]`` of inserting v (0 where v replaces a node).
    ``source_ptr`` and ``target_ptr`` are the offsets of the pairs.
    """

    source: Tensor
    target: Tensor
    source_ptr: np.ndarray
    target_ptr: np.ndarray

    @property
    def distance(self) -> Tensor:
        """Total cost of each pair."""
        total = self.source.new_zeros(self.source_ptr.size - 1)
        for value, ptr in ((self.source, self.source_ptr), (self.target, self.target_ptr)):
            total = total.index_add(0, torch.from_numpy(owners(ptr)).to(value.device), value)
        return total
