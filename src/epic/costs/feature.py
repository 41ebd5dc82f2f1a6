"""Price operations by the distance of input features, without learning."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from epic.costs.base import Cost, euclidean
from epic.errors import InputError, need_number
from epic.graphs.packed import PackedGraphs, matrix
from epic.matching.types import NodeCosts


class FeatureCost(Cost):
    """A substitution costs the Euclidean distance of the two nodes' features, a deletion or insertion ``edit``.

    Integer features are categories: they are compared as if one-hot. Graphs without ``x`` are compared by degree.

    Args:
        edit: price of a deletion or insertion. None takes the length of the node's own feature vector, its distance to
            an all-zero empty node.
    """

    kind = "feature"
    symmetric = True
    metric = "euclidean"

    def __init__(self, edit: float | None = None) -> None:
        if edit is not None and not 0 < need_number(edit, "edit") < torch.finfo(torch.float).max:
            raise InputError(f"edit must be positive and finite, got {edit}")
        self.edit = edit

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        return {}, {"edit": self.edit}

    @classmethod
    def from_state(cls, tensors: dict[str, Tensor], header: dict[str, Any]) -> FeatureCost:
        return cls(header["edit"])

    def embed(self, graphs: PackedGraphs) -> NodeCosts:
        """Take features as embeddings."""
        x = matrix(graphs.degree().float() if graphs.x is None else graphs.x)
        if x.dtype in (torch.half, torch.bfloat16, torch.bool):
            x = x.float()
        if x.is_floating_point():
            length = x.norm(dim=1)
        else:
            length = torch.full((x.shape[0],), float(x.shape[1]) ** 0.5, device=x.device)
        # An all-zero node must not vanish for free: eq. (1) of the paper needs positive costs.
        price = length.clamp_min(1e-6) if self.edit is None else torch.full_like(length, self.edit)
        return NodeCosts(x, price, price, graphs.ptr)

    def substitution(self, source: Tensor, target: Tensor) -> Tensor:
        """Price substitutions by the Euclidean distance of features, categories as if one-hot."""
        if source.is_floating_point():
            return euclidean(source, target)
        # Column by column, to keep memory at n x m: integer features are few columns wide.
        differ = torch.zeros(*source.shape[:-1], target.shape[-2], dtype=torch.double, device=source.device)
        for column in range(source.shape[-1]):
            differ += source[..., :, None, column] != target[..., None, :, column]
        return (2 * differ).sqrt()
