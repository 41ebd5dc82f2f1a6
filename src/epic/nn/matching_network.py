"""A graph matching network: it embeds the nodes of two graphs that attend to each other (Li et al., ICML 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import buckets, padded_index
from epic.nn.layers import Encoder, FeatureSchema

AREA = 1 << 18
"""Entries of a padded block of similarities."""


@dataclass(frozen=True)
class Block:
    """Pairs of similar size, both sides padded to the same length.

    Args:
        graph: Numbers of the graphs ``[2, P]``.
        index: Their nodes ``[2, P, N]``.
        real: Which of them are not padding ``[2, P, N]``.
    """

    graph: Tensor
    index: Tensor
    real: Tensor


def blocks(ptr: Tensor, area: int = AREA) -> list[Block]:
    """Pair the first half of packed graphs with the second half, in blocks of bounded size."""
    half = (ptr.numel() - 1) // 2
    size = ptr.diff()
    longer = torch.maximum(size[:half], size[half:])
    found = []
    for pairs in buckets(longer, longer, area):
        graph = torch.cat([pairs, pairs + half]).to(ptr.device)
        index, real = padded_index(ptr[graph], size[graph])
        shape = (2, pairs.numel(), index.shape[1])
        found.append(Block(graph.view(2, -1), index.view(shape), real.view(shape)))
    return found


class Round(nn.Module):
    """Messages inside each graph, attention across the pair, and an update from both."""

    def __init__(self, hidden_channels: int, edges: FeatureSchema | None) -> None:
        super().__init__()
        self.message = nn.Linear(hidden_channels, hidden_channels)
        self.edges = None if edges is None else Encoder(edges, hidden_channels)
        self.update = nn.Sequential(
            nn.Linear(3 * hidden_channels, hidden_channels),
            nn.BatchNorm1d(hidden_channels),
            nn.ReLU(inplace=True),
            nn.Linear(hidden_channels, hidden_channels),
        )
        self.norm = nn.BatchNorm1d(hidden_channels)

    def forward(self, h: Tensor, graphs: PackedGraphs, parts: list[Block], back: Tensor) -> Tensor:
        message = self.message(h).index_select(0, graphs.edge_index[0])
        if self.edges is not None and graphs.edge_attr is not None:
            message = message + self.edges(graphs.edge_attr, "edge_attr")
        message = F.relu(message, inplace=True)
        if "edge_weight" in graphs.edge:
            message = message * graphs.edge["edge_weight"][:, None].to(h.dtype)
        inside = torch.zeros_like(h).index_add_(0, graphs.edge_index[1], message)
        return self.norm(h + self.update(torch.cat([h, inside, h - attended(h, parts, back)], dim=1)))


def attended(h: Tensor, parts: list[Block], back: Tensor) -> Tensor:
    """Return for each node the average of its partner graph's nodes, weighted by a softmax of inner products."""
    seen = []
    for part in parts:
        one, two = h[part.index]
        score = one @ two.transpose(1, 2) / h.shape[1] ** 0.5
        hidden = [~r[:, None, :] for r in part.real]
        low = torch.finfo(score.dtype).min  # not -inf: a graph without nodes would make NaN of it
        to_two = score.masked_fill(hidden[1], low).softmax(2).masked_fill(hidden[1], 0.0)
        to_one = score.transpose(1, 2).masked_fill(hidden[0], low).softmax(2).masked_fill(hidden[0], 0.0)
        seen.append(torch.stack([to_two @ two, to_one @ one])[part.real])
    return torch.cat(seen).index_select(0, back)


class MatchingNetwork(nn.Module):
    """Embed the nodes of two graphs, each with attention to the other graph, and each graph as a whole.

    Our choices: a message is made of its sender and its edge, since the update knows the receiver; an update adds to
    the vector; inner products are scaled as in attention; a graph's vector is a gated mean of its nodes. BatchNorm
    stands in the updates, as in GIN, and after the vectors of graphs. Without it they shrink to one point if triplets
    are hard, and stay there with the loss at the margin. In evaluation mode a pair does not depend on its batch.

    Args:
        nodes: What node features are.
        edges: What edge attributes are; None if there are none.
        hidden_channels: Width of each layer.
        num_layers: Number of rounds of messages.
    """

    def __init__(
        self, nodes: FeatureSchema, edges: FeatureSchema | None, *, hidden_channels: int = 100, num_layers: int = 5
    ) -> None:
        super().__init__()
        self.first = Encoder(nodes, hidden_channels)
        self.rounds = nn.ModuleList(Round(hidden_channels, edges) for _ in range(num_layers))
        self.gate = nn.Linear(hidden_channels, 2 * hidden_channels)
        self.last = nn.Sequential(
            nn.Linear(hidden_channels, hidden_channels), nn.BatchNorm1d(hidden_channels, affine=False)
        )

    def forward(self, graphs: PackedGraphs, parts: list[Block] | None = None) -> Tensor:
        """Return node vectors ``[N, hidden_channels]``; graph k of the first half meets graph k of the second half."""
        parts = blocks(graphs.ptr) if parts is None else parts
        h = self.first.of_nodes(graphs, "the matching network was trained")
        at = torch.cat([part.index[part.real] for part in parts])
        back = torch.empty_like(at)
        back[at] = torch.arange(at.numel(), device=at.device)
        for layer in self.rounds:
            h = layer(h, graphs, parts, back)
        return h

    def embed(self, graphs: PackedGraphs) -> Tensor:
        """Return one vector for each graph of the pairs."""
        gate, value = self.gate(self(graphs)).chunk(2, dim=1)
        total = value.new_zeros(len(graphs), value.shape[1])
        total.index_add_(0, graphs.graph_of_node, gate.sigmoid() * value)
        return self.last(total / graphs.sizes.clamp_min(1)[:, None])

    def distances(self, graphs: PackedGraphs, one: Tensor, two: Tensor) -> Tensor:
        """Return squared distances of pairs of graphs, averaged over the entries of their vectors."""
        a, b = self.embed(graphs.select(torch.cat([one, two]))).chunk(2)
        return (a - b).square().mean(1)
