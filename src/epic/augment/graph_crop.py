"""GraphCrop: the surroundings of a random node."""

from __future__ import annotations

import torch
from torch import Tensor

from epic.augment.base import Augmentation, MethodInfo, need_share
from epic.augment.pagerank import by_pagerank, need_restart
from epic.augment.regions import Regions, keep_first
from epic.graphs.packed import PackedGraphs
from epic.random import Seed


class GraphCrop(Augmentation):
    """Keep the ``share`` of the nodes that lie nearest to a random one by personalised PageRank.

    Wang et al., GraphCrop: Subgraph Cropping for Graph Classification, arXiv 2009.10564, 2020. A random walk from a
    random root, which starts again with probability ``restart`` at each step, ranks the nodes; the first ``share`` of
    them (rounded up) and all edges among them stay, with their attributes. Each graph is cropped with some probability
    there: here half of a batch by default, drawn anew at each step.

    Our choices: where the root's component has too few nodes, the ranking goes on from a new random root in another
    one; the walk follows edges in both directions.
    """

    about = MethodInfo(
        paper="Wang et al., GraphCrop, arXiv 2020",
        changes="nodes: those near a random one are kept",
        needs="nothing",
        label="unchanged",
        edge_attr="kept",
        cost="one PageRank a batch",
    )
    grid = {"share": (0.7, 0.5, 0.8, 0.9)}

    def __init__(
        self,
        share: float = 0.7,
        restart: float = 0.15,
        ratio: float = 0.5,
        replace: bool = True,
        seed: Seed = None,
        *,
        num_classes: int | None = None,
        degree_features: bool | None = None,
        task: str | None = None,
    ) -> None:
        super().__init__(ratio, replace, seed, num_classes=num_classes, degree_features=degree_features, task=task)
        self.share = need_share(share, "share")
        self.restart = need_restart(restart)

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        chosen = graphs.select(picked)
        return keep_first(chosen, by_pagerank(Regions.of(chosen, generator), self.restart), self.share)
