"""What costs say of nodes, of pairs of graphs, and of the assignments found for them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from epic.errors import InputError
from epic.graphs.ragged import owners


@dataclass(frozen=True)
class NodeCosts:
    """What a cost knows of each node of some packed graphs: a vector to compare, the price of losing it and of gaining
    it.
    """

    embedding: Tensor
    deletion: Tensor
    insertion: Tensor
    ptr: Tensor

    def to(self, device: torch.device | str) -> NodeCosts:
        tensors = (self.embedding, self.deletion, self.insertion, self.ptr)
        if all(t.device == device for t in tensors):
            return self
        return NodeCosts(*(t.to(device) for t in tensors))

    def finite(self) -> NodeCosts:
        """Itself, or an error where a cost is not a number."""
        for value in (self.embedding, self.deletion, self.insertion):
            # A sum is far cheaper than isfinite; the dearer one in float64 is for large numbers that overflow.
            if value.is_floating_point() and not any(
                math.isfinite(float(value.sum(dtype=precision))) for precision in (None, torch.double)
            ):
                raise InputError(
                    "the costs of these graphs hold NaN or infinity: look for NaN or huge values in x and edge_attr"
                )
        return self

    def detach(self) -> NodeCosts:
        if not any(t.requires_grad for t in (self.embedding, self.deletion, self.insertion)):
            return self
        return NodeCosts(self.embedding.detach(), self.deletion.detach(), self.insertion.detach(), self.ptr)

    def double(self) -> NodeCosts:
        """In float64, for distances: inner products of near-equal vectors cancel."""
        h = self.embedding
        return NodeCosts(
            h.double() if h.is_floating_point() else h, self.deletion.double(), self.insertion.double(), self.ptr
        )


@dataclass(frozen=True)
class PairCosts:
    """Costs of P pairs of graphs, padded: pair p is real in ``[:rows[p], :columns[p]]``.

    ``source`` and ``target`` ``[P, n]``, ``[P, m]`` say which node each row and column is; ``pair`` which of the asked
    pairs each p is.
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

    ``source`` and ``target`` list the nodes of all source and target graphs, pair after pair (offsets ``source_ptr``,
    ``target_ptr``). ``partner`` runs along ``source`` and holds the position in ``target`` of the node that replaces
    it, -1 where it is deleted; ``origin`` runs along ``target`` the other way, -1 where the node is inserted.
    """

    source: np.ndarray
    target: np.ndarray
    source_ptr: np.ndarray
    target_ptr: np.ndarray
    partner: np.ndarray
    origin: np.ndarray


@dataclass(frozen=True)
class OperationCosts:
    """What assignments cost: ``source[u]`` to substitute or delete u, ``target[v]`` to insert v (0 where it replaces a
    node).
    """

    source: Tensor
    target: Tensor
    source_ptr: np.ndarray
    target_ptr: np.ndarray

    @property
    def distance(self) -> Tensor:
        """Cost of each pair."""
        total = self.source.new_zeros(self.source_ptr.size - 1)
        for value, ptr in ((self.source, self.source_ptr), (self.target, self.target_ptr)):
            total = total.index_add(0, torch.from_numpy(owners(ptr)).to(value.device), value)
        return total

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Both sides in float64, to sum over paths."""
        source, target = (t.detach().cpu().numpy().astype(np.float64) for t in (self.source, self.target))
        return source, target
