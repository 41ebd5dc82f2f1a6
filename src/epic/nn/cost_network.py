"""The network of learned costs: it embeds nodes and prices losing or gaining each."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from epic.errors import InputError, choose
from epic.graphs.packed import PackedGraphs
from epic.nn.layers import BACKBONES, Encoder, FeatureSchema, Layer
from epic.nn.messages import SortedEdges


class CostNetwork(nn.Module):
    """Embed nodes (the outputs of all layers, concatenated) and price them.

    Args:
        nodes: What node features are.
        edges: What edge attributes are; None if there are none.
        backbone: ``gin`` or ``gcn``.
        hidden_channels: Width of each layer.
        num_layers: Number of layers.
        floor: Lowest price of a deletion or insertion.
    """

    def __init__(
        self,
        nodes: FeatureSchema,
        edges: FeatureSchema | None,
        *,
        backbone: str = "gin",
        hidden_channels: int = 32,
        num_layers: int = 3,
        floor: float = 0.1,
    ) -> None:
        super().__init__()
        choose(backbone, BACKBONES, "backbone")
        self.nodes, self.edges, self.floor = nodes, edges, floor
        self.encode = Encoder(nodes, hidden_channels)
        self.layers = nn.ModuleList(Layer(backbone, hidden_channels, edges) for _ in range(num_layers))
        self.price = nn.Sequential(
            nn.Linear(hidden_channels * num_layers, hidden_channels), nn.ReLU(), nn.Linear(hidden_channels, 1)
        )

    @property
    def device(self) -> torch.device:
        """The device of its parameters."""
        return next(self.parameters()).device

    def forward(self, graphs: PackedGraphs) -> tuple[Tensor, Tensor]:
        """Return embeddings ``[N, num_layers * hidden_channels]`` and prices ``[N]``."""
        h = self.encode.of_nodes(graphs, "the cost was learned")
        if self.edges is not None and graphs.edge_attr is None:
            raise InputError("the graphs have no edge_attr, but the cost was learned on graphs that have")
        sorted_edges = SortedEdges(graphs.edge_index, h.shape[0])
        outputs = []
        for layer in self.layers:
            h = F.relu(layer(h, sorted_edges, graphs.edge_attr), inplace=True)
            outputs.append(h)
        embedding = torch.cat(outputs, dim=1)
        return embedding, F.softplus(self.price(embedding)).squeeze(1) + self.floor
