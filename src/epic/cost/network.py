"""The network behind learned costs: an encoder of nodes, and a positive price for losing or gaining each."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from epic.errors import InputError, choose
from epic.pack import Pack, matrix

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
                f"{what} has {value.shape[1]} {'float' if floats else 'integer'} columns, but the cost was learned on "
                f"{width} {'float' if self.linear is not None else 'integer'} columns"
            )
        if self.linear is not None:
            return self.linear(value.to(self.linear.weight.dtype))
        return self.table(torch.minimum(value.long() + self.first, self.last)).sum(1)


class Layer(nn.Module):
    """One round of messages: GIN (Xu 2019, with edge features as in Hu 2020) or GCN (Kipf 2017)."""

    def __init__(self, backbone: str, width: int, edges: Columns | None) -> None:
        super().__init__()
        self.backbone = backbone
        self.edges = None if edges is None else Encoder(edges, width)
        if backbone == "gin":
            self.eps = nn.Parameter(torch.zeros(()))
            self.update: nn.Module = nn.Sequential(
                nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(inplace=True), nn.Linear(width, width)
            )
        else:
            self.update = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, h: Tensor, edge_index: Tensor, edge_attr: Tensor | None, scale: Tensor | None) -> Tensor:
        if self.backbone == "gcn":
            h = self.update(h)
        message = h.index_select(0, edge_index[0])  # several times faster than h[index] on a CPU
        if self.edges is not None and edge_attr is not None:
            message = F.relu(message + self.edges(edge_attr, "edge_attr"))
        if scale is not None:  # GCN: symmetric normalisation with a self-loop
            message = message * scale.index_select(0, edge_index[0])
            return self.norm((scale * h).index_add_(0, edge_index[1], message) * scale)
        return self.norm(self.update(((1 + self.eps) * h).index_add_(0, edge_index[1], message)))


class CostNetwork(nn.Module):
    """Node embeddings (all layers side by side) and what losing or gaining each node costs, at least ``floor``."""

    def __init__(
        self,
        nodes: Columns,
        edges: Columns | None,
        backbone: str = "gin",
        width: int = 32,
        layers: int = 3,
        floor: float = 0.1,
    ) -> None:
        super().__init__()
        choose(backbone, BACKBONES, "backbone")
        self.nodes, self.backbone, self.floor = nodes, backbone, floor
        self.encode = Encoder(nodes, width)
        self.edges = edges
        self.layers = nn.ModuleList(Layer(backbone, width, edges) for _ in range(layers))
        self.price = nn.Sequential(nn.Linear(width * layers, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, p: Pack) -> tuple[Tensor, Tensor]:
        """Embeddings ``[N, layers * width]`` and prices ``[N]``."""
        if self.nodes.kind == "degree":
            h = self.encode(p.degree()[:, None], "degree")
        elif p.x is None:
            raise InputError("the graphs have no x, but the cost was learned on graphs that have")
        else:
            h = self.encode(p.x, "x")
        edge_attr = p.edge_attr
        if self.edges is not None and edge_attr is None:
            raise InputError("the graphs have no edge_attr, but the cost was learned on graphs that have")
        scale = None
        if self.backbone == "gcn":
            scale = (p.degree(1).to(h.dtype) + 1).rsqrt()[:, None]
        outputs = []
        for layer in self.layers:
            h = F.relu(layer(h, p.edge_index, edge_attr, scale), inplace=True)
            outputs.append(h)
        embedding = torch.cat(outputs, dim=1)
        return embedding, F.softplus(self.price(embedding)).squeeze(1) + self.floor
