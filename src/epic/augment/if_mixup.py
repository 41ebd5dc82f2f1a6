"""ifMixup: two graphs laid over each other, node by node in file order."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.mixtures import mixture
from epic.augment.params import param
from epic.augment.sampling import another, beta
from epic.graphs.packed import PackedGraphs, matrix, offsets


class IfMixup(Augmentation):
    """Average the adjacency and the features of two graphs, the smaller padded with empty nodes.

    Guo and Mao, Interpolating Graph Pair to Regularize Graph Classification, AAAI 2023. Node k of the one lies on node
    k of the other, as the files have them: ``A = l A1 + (1 - l) A2``, ``X = l X1 + (1 - l) X2``, and labels alike, with
    ``l`` from Beta(``alpha``, 1), near 1 most of the time. Edges are weighted (``edge_weight``), which the backbones
    honour. Every graph of a batch is replaced by its mixture with a random other one, as there.

    Our choices: an edge's attributes are the average over the graphs that have it, by their share, since its weight
    tells already how much of it there is. A batch of one graph stays as it is. Integer categories have no average and
    are refused; other attributes of nodes and edges are dropped. Degree features are mixed like any other: the degrees
    of the overlay, which has all edges of both, would hide how little weight some of them have. Directed graphs need
    nothing special.
    """

    info = MethodInfo(
        paper="Guo and Mao, ifMixup, AAAI 2023",
        changes="everything: weighted edges and features of two graphs averaged",
        needs="float features",
        label="mixed by the share of each graph",
        edge_attr="averages (float only)",
        cost="one sort of all edges",
    )
    mixes = True
    follows_degrees = False

    alpha: float = param(
        default=20.0, grid=(10.0, 5.0, 1.0), check=checks.positive, kw_only=False, help="shares follow Beta(alpha, 1)"
    )
    ratio: float = param(default=1.0)
    replace: bool = param(default=True)

    def prepare(self, graphs: PackedGraphs, **options: Any) -> None:
        super().prepare(graphs, **options)
        checks.need_float(graphs, "ifMixup")

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        checks.need_float(graphs, "ifMixup")
        if len(graphs) < 2:
            return None
        other = another(picked, len(graphs), generator)
        share = beta(picked.numel(), self.alpha, 1.0, generator).to(picked.device)
        return overlay(graphs, picked, other, share)


def overlay(graphs: PackedGraphs, one: Tensor, two: Tensor, share: Tensor) -> PackedGraphs:
    """``share`` of the graphs ``one`` and the rest of ``two``, node on node in their order."""
    sides = graphs.select(torch.cat([one, two]))
    part = torch.cat([share, 1 - share])
    ptr = offsets(torch.maximum(*sides.sizes.chunk(2)))
    total = int(ptr[-1])
    shift = ptr[:-1].repeat(2) - sides.ptr[:-1]
    place = torch.arange(sides.num_nodes, device=ptr.device) + shift[sides.graph_of_node]

    node: dict[str, Tensor] = {}
    if sides.x is not None:
        x = matrix(sides.x)
        x = x.new_zeros(total, x.shape[1]).index_add_(0, place, x * part[sides.graph_of_node, None].to(x.dtype))
        node["x"] = x.view(-1, *sides.x.shape[1:])

    weight = part.float()[sides.graph_of_node[sides.edge_index[0]]]
    if "edge_weight" in sides.edge:
        weight = weight * sides.edge["edge_weight"]
    u, v = place[sides.edge_index]
    pairs, at = (u * total + v).unique(return_inverse=True)
    summed = weight.new_zeros(pairs.numel()).index_add_(0, at, weight)
    there = (summed != 0).nonzero()[:, 0]  # a share may round to 0
    edge = {"edge_weight": summed[there]}
    if sides.edge_attr is not None:
        attr = matrix(sides.edge_attr)
        blend = attr.new_zeros(pairs.numel(), attr.shape[1])
        blend.index_add_(0, at, (attr * weight[:, None]).to(attr.dtype))
        blend = blend[there] / summed[there, None].to(attr.dtype)
        edge["edge_attr"] = blend.view(-1, *sides.edge_attr.shape[1:])
    pairs = pairs[there]
    ends = torch.stack([pairs // total, pairs % total])
    edge_ptr = torch.searchsorted(ends[0].contiguous(), ptr)
    made = PackedGraphs(ptr, edge_ptr, ends, node, edge)
    return mixture(made, graphs.labels, graphs.titles, source=one, target=two, share=1 - share)
