"""The classifiers that augmentation is judged with: GIN and GCN, with the shapes used for TU sets and for OGB."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Batch

from epic.data.smiles import ATOM_SIZES, BOND_SIZES
from epic.errors import InputError, choose, need_count
from epic.graphs.packed import PackedGraphs
from epic.nn.layers import BACKBONES, Encoder, FeatureSchema, Layer, dropout, feature_schemas
from epic.nn.messages import Segments, SortedEdges, segment_sum
from epic.random import Seed, seeded

POOLS = ("sum", "mean")
MOST = 1 << 14
"""Layers, and channels of a layer, at most: beyond that it is a slip, and takes all memory."""


@dataclass(frozen=True)
class BackboneConfig:
    """Shape of a backbone.

    Args:
        conv: ``gin`` or ``gcn``.
        hidden_channels: Width of each layer.
        num_layers: Number of layers.
        hidden: Width inside GIN's two-layer network (default: ``hidden_channels``).
        pool: ``sum`` or ``mean`` of the node vectors.
        head_norm: Whether BatchNorm comes between pooling and head. Without it, sums over the nodes of a graph are so
            large that the ReLUs of the head die in the first updates at the usual learning rate of 0.01, and the
            network stays at chance (docs/research.md).
        head_layers: Layers after pooling.
        dropout: Dropout in the head.
        between: Whether dropout acts after each layer too.
    """

    conv: str = "gin"
    hidden_channels: int = 64
    num_layers: int = 5
    hidden: int | None = None
    pool: str = "sum"
    head_norm: bool = True
    head_layers: int = 2
    dropout: float = 0.5
    between: bool = False

    def __post_init__(self) -> None:
        choose(self.conv, BACKBONES, "backbone")
        choose(self.pool, POOLS, "pool")
        if not isinstance(self.dropout, Real) or not 0 <= self.dropout < 1:
            raise InputError(f"dropout must lie in [0, 1), got {self.dropout!r}")
        for name in ("hidden_channels", "num_layers", "head_layers"):
            if need_count(getattr(self, name), name) > MOST:
                raise InputError(f"{name} must be at most {MOST}, got {getattr(self, name)}")


TU = BackboneConfig()
OGB = BackboneConfig(hidden_channels=300, hidden=600, pool="mean", head_norm=False, head_layers=1, between=True)


class GraphNorm(nn.BatchNorm1d):
    """BatchNorm over graphs. One graph alone has nothing to be compared with: it meets the running averages."""

    def forward(self, input: Tensor) -> Tensor:
        if self.training and input.shape[0] == 1:
            return F.batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        return super().forward(input)


class Backbone(nn.Module):
    """A classifier of graphs that can be run in pieces.

    ``forward`` is ``head(embed(batch))`` and ``embed`` is ``pool(nodes(batch), batch)``. ``encode`` gives the first
    node vectors, which ``nodes`` and ``embed`` also take from outside. Edge attributes are used if the network was made
    with them; ``edge_weight`` of a batch multiplies messages.

    Args:
        nodes: What node features are.
        edges: What edge attributes are; None if there are none.
        outputs: Numbers to return for each graph.
        config: Shape of the network.
    """

    def __init__(
        self, nodes: FeatureSchema, edges: FeatureSchema | None, outputs: int, config: BackboneConfig = TU
    ) -> None:
        super().__init__()
        self.config = config
        self.first = Encoder(nodes, config.hidden_channels)
        self.layers = nn.ModuleList(
            Layer(config.conv, config.hidden_channels, edges, config.hidden) for _ in range(config.num_layers)
        )
        parts: list[nn.Module] = [GraphNorm(config.hidden_channels)] if config.head_norm else []
        for _ in range(config.head_layers - 1):
            parts += [nn.Linear(config.hidden_channels, config.hidden_channels), nn.ReLU(), nn.Dropout(config.dropout)]
        self.head = nn.Sequential(*parts, nn.Linear(config.hidden_channels, outputs))
        self.uses_edges = edges is not None

    def encode(self, batch: Batch) -> Tensor:
        """Return node vectors before any message."""
        if batch.x is None:
            raise InputError("the batch has no x: give its graphs features, for instance one-hot degrees")
        return self.first(batch.x, "x")

    def nodes(self, batch: Batch, h: Tensor | None = None) -> Tensor:
        """Return node vectors after all layers.

        Args:
            batch: The graphs.
            h: Encoded nodes (default: :meth:`encode` of the batch).
        """
        h = self.encode(batch) if h is None else h
        attr = batch.edge_attr if self.uses_edges else None
        edges = SortedEdges(batch.edge_index, h.shape[0], batch.get("edge_weight"))
        for index, layer in enumerate(self.layers):
            h = layer(h, edges, attr)
            if not self.config.between or index < len(self.layers) - 1:  # OGB's last layer has no ReLU
                h = F.relu(h, inplace=True)
            if self.config.between:
                h = dropout(h, self.config.dropout, self.training)
        return h

    def pool(self, h: Tensor, batch: Batch) -> Tensor:
        """Return one vector for each graph.

        Args:
            h: Node vectors.
            batch: The graphs.
        """
        groups = Segments(batch.batch, batch.num_graphs)
        total = segment_sum(h, groups)
        return total if self.config.pool == "sum" else total / groups.ptr.diff().clamp_min(1)[:, None]

    def embed(self, batch: Batch, h: Tensor | None = None) -> Tensor:
        """Return one vector for each graph.

        Args:
            batch: The graphs.
            h: Encoded nodes, as in :meth:`nodes`.
        """
        return self.pool(self.nodes(batch, h), batch)

    def forward(self, batch: Batch) -> Tensor:
        return self.head(self.embed(batch))


def backbone_for(graphs: PackedGraphs, *, outputs: int, conv: str = "gin", seed: Seed = 0, **changes: Any) -> Backbone:
    """Return a backbone that fits graphs: OGB's shape for integer (molecule) features, the TU shape otherwise.

    Args:
        graphs: Graphs with features ``x``.
        outputs: Numbers to return for each graph.
        conv: ``gin`` or ``gcn``.
        seed: Initial weights are a function of it; the global random state stays as it is.
        **changes: Fields of :class:`BackboneConfig`.

    Raises:
        InputError: The graphs have no ``x``, or there is no such field.
    """
    if graphs.x is None:
        raise InputError("the graphs have no x: give them features, for instance one-hot degrees")
    nodes, edges = feature_schemas(graphs)
    molecules = nodes.kind == "int"
    if molecules and len(nodes.sizes) in (len(ATOM_SIZES), len(ATOM_SIZES) + 1):  # EPIC may append its indicator
        atoms = map(max, nodes.sizes, ATOM_SIZES)
        nodes = FeatureSchema("int", (*atoms, *nodes.sizes[len(ATOM_SIZES) :]))
    if molecules and edges is not None and edges.kind == "int" and len(edges.sizes) == len(BOND_SIZES):
        edges = FeatureSchema("int", tuple(map(max, edges.sizes, BOND_SIZES)))
    for name in changes:
        choose(name, BackboneConfig.__dataclass_fields__, "option of the backbone")
    with seeded(seed):
        return Backbone(nodes, edges, outputs, replace(OGB if molecules else TU, conv=conv, **changes))
