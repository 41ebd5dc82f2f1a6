"""Building blocks of our networks: encoders of features, and rounds of messages with edge attributes and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix
from epic.nn.messages import SortedEdges, neighbor_sum, segment_gather, segment_sum

BACKBONES = ("gin", "gcn")
KINDS = ("float", "int", "degree")
"""What a feature matrix may hold."""


@dataclass(frozen=True)
class FeatureSchema:
    """What a feature matrix holds: ``float`` columns, ``int`` categories (a table a column), or ``degree``."""

    kind: str
    sizes: tuple[int, ...] = ()

    @staticmethod
    def of(value: Tensor, what: str) -> FeatureSchema:
        """Read the kind and the width, or the number of categories, off a feature matrix."""
        value = matrix(value)
        if value.is_floating_point() or value.dtype == torch.bool:
            return FeatureSchema("float", (value.shape[1],))
        if value.numel() == 0:
            return FeatureSchema("int", (1,) * value.shape[1])
        if int(value.min()) < 0:
            raise InputError(f"integer {what} holds {int(value.min())}: categories must be 0 or more")
        return FeatureSchema("int", tuple((value.amax(0) + 1).tolist()))


def feature_schemas(graphs: PackedGraphs) -> tuple[FeatureSchema, FeatureSchema | None]:
    """Return the schemas of node features (degrees if there is no ``x``) and of edge attributes."""
    if graphs.num_nodes == 0:
        raise InputError(f"none of the {len(graphs)} graphs has a node, so there is nothing to learn from")
    if graphs.x is None:
        nodes = FeatureSchema("degree", (int(graphs.degree().max()) + 1,))
    else:
        nodes = FeatureSchema.of(graphs.x, "x")
    return nodes, None if graphs.edge_attr is None else FeatureSchema.of(graphs.edge_attr, "edge_attr")


class Encoder(nn.Module):
    """Turn a feature matrix into vectors.

    Categories never seen in learning share one vector, the last of their table.
    """

    first: Tensor
    last: Tensor

    def __init__(self, columns: FeatureSchema, width: int) -> None:
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

    def of_nodes(self, graphs: PackedGraphs, learned: str) -> Tensor:
        """Return the vectors of all nodes, from ``x`` or from degrees; ``learned`` says what was, for messages."""
        if self.columns.kind == "degree":
            return self(graphs.degree()[:, None], "degree")
        if graphs.x is None:
            raise InputError(f"the graphs have no x, but {learned} on graphs that have")
        return self(graphs.x, "x")


class Layer(nn.Module):
    """One round of messages and BatchNorm: GIN (Xu 2019, edge features as in Hu 2020) or GCN (Kipf 2017).

    ``hidden`` is the width inside GIN's two-layer network.
    """

    def __init__(self, backbone: str, width: int, edges: FeatureSchema | None, hidden: int | None = None) -> None:
        super().__init__()
        self.backbone = backbone
        self.edges = None if edges is None else Encoder(edges, width)
        if backbone == "gin":
            inner = hidden or width
            self.eps = nn.Parameter(torch.zeros(()))
            self.update: Any = nn.Sequential(
                nn.Linear(width, inner), nn.BatchNorm1d(inner), nn.ReLU(inplace=True), nn.Linear(inner, width)
            )
        else:
            self.update = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, h: Tensor, edges: SortedEdges, edge_attr: Tensor | None = None) -> Tensor:
        """Return new node vectors."""
        if self.backbone == "gin":
            return self.norm(self.update((1 + self.eps) * h + self._gathered(h, edges, edge_attr)))
        h = self.update(h)
        scale = edges.gcn_scale(h.dtype)
        if self.edges is None or edge_attr is None:
            h = scale * h
            return self.norm((h + self._gathered(h, edges, None)) * scale)
        return self.norm((scale * h + self._gathered(h, edges, edge_attr, scale)) * scale)

    def _gathered(self, h: Tensor, edges: SortedEdges, edge_attr: Tensor | None, scale: Tensor | None = None) -> Tensor:
        """Sum the messages that reach each node; ``scale`` multiplies those that a node sends."""
        attr = None if self.edges is None or edge_attr is None else self.edges(edge_attr, "edge_attr")
        if attr is None and edges.weight is None:
            return neighbor_sum(h, edges)
        message = segment_gather(h, edges.by_start)
        if attr is not None:
            message = F.relu(message + attr)
        if edges.weight is not None:
            message = message * edges.weight[:, None]
        if scale is not None:
            message = message * segment_gather(scale, edges.by_start)
        return segment_sum(message, edges.by_end)


def dropout(h: Tensor, p: float, training: bool) -> Tensor:
    """Zero each number with probability ``p`` (to 1/65,536) and scale the others by ``1 / (1 - p)``, as torch does.

    On a CPU torch draws a float64 for each number, a third of the time of training where dropout stands between all
    layers. Sixteen random bits take a fifth of that (``benchmarks/train.py`` races both).
    """
    if not training or not h.is_cpu:
        return F.dropout(h, p, training)
    words = torch.empty(-(-h.numel() // 4), dtype=torch.long).random_(-(2**63), None)
    bits = words.view(torch.int16)[: h.numel()].view(h.shape)
    return h * (bits >= min(round(p * 2**16), 2**16 - 1) - 2**15).to(h.dtype).mul_(1 / (1 - p))
