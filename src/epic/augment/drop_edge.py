"""DropEdge: edges left out at random."""

from __future__ import annotations

import torch
from torch import Tensor

from epic.augment.base import Augmentation, MethodInfo, need_share
from epic.graphs.packed import PackedGraphs
from epic.graphs.subgraphs import keep_edges, undirected
from epic.random import Seed


class DropEdge(Augmentation):
    """Leave out each edge with probability ``p``, both directions together.

    Rong et al., DropEdge: Towards Deep Graph Convolutional Networks on Node Classification, ICLR 2020. By default every
    graph of a batch is thinned, anew at each step, as there.
    """

    about = MethodInfo(
        paper="Rong et al., DropEdge, ICLR 2020",
        changes="edges: some left out",
        needs="nothing",
        label="unchanged",
        edge_attr="kept",
        cost="one random number an edge",
    )
    grid = {"p": (0.2, 0.1, 0.3, 0.5)}

    def __init__(
        self,
        p: float = 0.2,
        ratio: float = 1.0,
        replace: bool = True,
        seed: Seed = None,
        *,
        num_classes: int | None = None,
        degree_features: bool | None = None,
        task: str | None = None,
    ) -> None:
        super().__init__(ratio, replace, seed, num_classes=num_classes, degree_features=degree_features, task=task)
        self.p = need_share(p, "p")

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        chosen = graphs.select(picked)
        edge, count = undirected(chosen)
        stays = torch.rand(count, generator=generator) >= self.p
        return keep_edges(chosen, stays.to(edge.device)[edge])
