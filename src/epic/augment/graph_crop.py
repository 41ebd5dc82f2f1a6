"""GraphCrop: the surroundings of a random node."""

from __future__ import annotations

import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.params import param
from epic.augment.regions import Regions, by_pagerank, keep_first
from epic.graphs.packed import PackedGraphs


class GraphCrop(Augmentation):
    """Keep the ``share`` of the nodes that lie nearest to a random one by personalised PageRank.

    Wang et al., GraphCrop: Subgraph Cropping for Graph Classification, arXiv 2009.10564, 2020. A random walk from a
    random root, which starts again with probability ``restart`` at each step, ranks the nodes; the first ``share`` of
    them (rounded up) and all edges among them stay, with their attributes. Each graph is cropped with some probability
    there: here half of a batch by default, another half at each step.

    Our choices: where the root's component has too few nodes, the ranking goes on from a new random root in another
    one; the walk follows edges in both directions.
    """

    info = MethodInfo(
        paper="Wang et al., GraphCrop, arXiv 2020",
        changes="nodes: those near a random one are kept",
        cost="one PageRank a batch",
    )

    share: float = param(
        default=0.7, grid=(0.5, 0.8, 0.9), check=checks.share, kw_only=False, help="of the nodes to keep"
    )
    restart: float = param(default=0.15, check=checks.open_share, help="chance that the walk goes back to its root")
    replace: bool = param(default=True)

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        chosen = graphs.select(picked)
        return keep_first(chosen, by_pagerank(Regions.of(chosen, generator), self.restart), self.share)
