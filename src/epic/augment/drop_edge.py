"""DropEdge: edges left out at random."""

from __future__ import annotations

import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.params import param
from epic.graphs.packed import PackedGraphs
from epic.graphs.subgraphs import keep_edges, undirected


class DropEdge(Augmentation):
    """Leave out each edge with probability ``p``, both directions together.

    Rong et al., DropEdge: Towards Deep Graph Convolutional Networks on Node Classification, ICLR 2020. By default every
    graph of a batch is thinned, differently at each step, as there.
    """

    info = MethodInfo(
        paper="Rong et al., DropEdge, ICLR 2020", changes="edges: some left out", cost="one random number an edge"
    )

    p: float = param(
        default=0.2, grid=(0.1, 0.3, 0.5), check=checks.share, kw_only=False, help="chance that an edge is left out"
    )
    ratio: float = param(default=1.0)
    replace: bool = param(default=True)

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        chosen = graphs.select(picked)
        edge, names = undirected(chosen)
        stays = torch.rand(names.numel(), generator=generator) >= self.p
        return keep_edges(chosen, stays.to(edge.device)[edge])
