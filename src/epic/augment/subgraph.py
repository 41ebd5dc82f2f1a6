"""Subgraph: a random connected part of each graph."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.params import param
from epic.augment.regions import Regions, keep_first
from epic.graphs.packed import PackedGraphs
from epic.random import uniform


class Subgraph(Augmentation):
    """Keep a ``share`` of the nodes, grown from a random one.

    You et al., Graph Contrastive Learning with Augmentations, NeurIPS 2020. The part grows by one node at a time, each
    taken at random from all neighbours of the nodes so far, until it has ``share`` of the nodes (rounded up); all edges
    among them stay, with their attributes. By default every graph is replaced and 85 % of its nodes are kept, as in
    replications; the authors keep a fifth, which in supervised training leaves little of a graph.

    Our choices: where a component is used up too early, growth goes on from a new random node; directions of edges do
    not matter to it.
    """

    info = MethodInfo(
        paper="You et al., Graph Contrastive Learning with Augmentations, NeurIPS 2020",
        changes="nodes: a random connected part is kept",
        cost="one shortest-path search a batch",
    )

    share: float = param(default=0.85, grid=(0.5, 0.2), check=checks.share, kw_only=False, help="of the nodes to keep")
    ratio: float = param(default=1.0)
    replace: bool = param(default=True)

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        chosen = graphs.select(picked)
        return keep_first(chosen, growth(Regions.of(chosen, generator), generator), self.share)


def growth(regions: Regions, generator: torch.Generator) -> np.ndarray:
    """Return the nodes of each graph in the order in which they are reached by random growth.

    Let every node wait for an exponential time from the moment when its first neighbour is in. Such waiting has no
    memory, so all that wait are equally likely to be the next: that is growth by random neighbours, and the moments are
    lengths of shortest ways, found for the whole batch at once.
    """
    waits = -np.log1p(-uniform(regions.chance.size, generator).numpy())
    return regions.order(regions.distance(waits))
