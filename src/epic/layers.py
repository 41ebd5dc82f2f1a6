"""Building blocks of our networks: encoders of features, and rounds of messages with edge attributes and weights."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from epic.errors import InputError
from epic.pack import matrix

BACKBONES = ("gin", "gcn")


@dataclass(frozen=True)
class Columns:
    """What a feature matrix holds: ``float`` columns, ``int`` categories (a table a column), or ``degree``."""

    kind: str
    sizes: tuple[int, ...] = ()

    @staticmethod
    def of(value: Tensor, what: str) -> Columns:
        """Read the kind and the width, or the number of categories, off a feature matrix."""
        value = matrix(value)
        if value.is_floating_point() or value.dtype == torch.bool:
            return Columns("float", (value.shape[1],))
        if value.numel() == 0:
            return Columns("int", (1,) * value.shape[1])
        if int(value.min()) < 0:
            raise InputError(f"integer {what} holds {int(value.min())}: categories must be 0 or more")
        return Columns("int", tuple((value.amax(0) + 1).tolist()))


class Encoder(nn.Module):
    """Turn a feature matrix into vectors.

    Categories never seen in learning share one vector, the last of their table.
    """

    first: Tensor
    last: Tensor

    def __init__(self, columns: Columns, width: int) -> None:
        super().__init__()
        self.columns = columns
        self.linear: nn.Linear | None = None
        if columns.kind == "float":
            self.linear = nn.Linear(columns.sizes[0], width)
        else:
            self.table = nn.Embedding(sum(columns.sizes) + len(columns.sizes), width)
            ends = torch.tensor([s + 1 for s in columns.sizes]).cumsum(0)
            self.register_buffer("last", ends - 1, persistent=False)
            self.register_buffer("first", torch.cat([ends.new_zeros(1), ends[:-1]]), persistent=False)

    def forward(self, value: Tensor, what: str) -> Tensor:
        value = matrix(value)
        width = self.columns.sizes[0] if self.linear is not None else len(self.columns.sizes)
        floats = value.is_floating_point() or value.dtype == torch.bool
        if value.shape[1] != width or floats != (self.linear is not None):
            raise InputError(
                f"{what} has {value.shape[1]} {'float' if floats else 'integer'} columns, but the network was made for "
                f"{width} {'float' if self.linear is not None else 'integer'} columns"
            )
        if self.linear is not None:
            return self.linear(value.to(self.linear.weight.dtype))
        return self.table(torch.minimum(value.long() + self.first, self.last)).sum(1)


def gcn_scale(edge_index: Tensor, nodes: int, edge_weight: Tensor | None, like: Tensor) -> Tensor:
    """GCN's normalisation ``[nodes, 1]``: one over the root of the weighted in-degree, self-loop included."""
    weight = like.new_ones(edge_index.shape[1]) if edge_weight is None else edge_weight.to(like.dtype)
    return (like.new_ones(nodes).index_add_(0, edge_index[1], weight)).rsqrt()[:, None]


class Layer(nn.Module):
    """One round of messages and BatchNorm: GIN (Xu 2019, edge features as in Hu 2020) or GCN (Kipf 2017).

    ``hidden`` is the width inside GIN's two-layer network. Edge weights multiply messages.
    """

    def __init__(self, backbone: str, width: int, edges: Columns | None, hidden: int | None = None) -> None:
        super().__init__()
        self.backbone = backbone
        self.edges = None if edges is None else Encoder(edges, width)
        if backbone == "gin":
            inner = hidden or width
            self.eps = nn.Parameter(torch.zeros(()))
            self.update: nn.Module = nn.Sequential(
                nn.Linear(width, inner), nn.BatchNorm1d(inner), nn.ReLU(inplace=True), nn.Linear(inner, width)
            )
        else:
            self.update = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)

    def forward(
        self,
        h: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
        scale: Tensor | None = None,
    ) -> Tensor:
        """New node vectors; ``scale`` is :func:`gcn_scale`, computed once for all layers."""
        gcn = self.backbone == "gcn"
        if gcn:
            h = self.update(h)
        message = h.index_select(0, edge_index[0])  # several times faster than h[index] on a CPU
        if self.edges is not None and edge_attr is not None:
            message = F.relu(message + self.edges(edge_attr, "edge_attr"))
        if edge_weight is not None:
            message = message * edge_weight[:, None]
        if gcn:
            if scale is None:
                scale = gcn_scale(edge_index, h.shape[0], edge_weight, h)
            message = message * scale.index_select(0, edge_index[0])
            return self.norm((scale * h).index_add_(0, edge_index[1], message) * scale)
        return self.norm(self.update(((1 + self.eps) * h).index_add_(0, edge_index[1], message)))
