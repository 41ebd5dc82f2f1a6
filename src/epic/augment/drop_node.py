"""DropNode: nodes left out at random."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch_geometric.data import Batch

from epic.augment.base import Augmentation, MethodInfo, need_float, need_share
from epic.errors import InputError, choose
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs, PackedGraphs, matrix
from epic.graphs.subgraphs import keep_nodes, never_empty
from epic.random import Seed

MODES = ("delete", "zero")


class DropNode(Augmentation):
    """Leave out each node with probability ``p``.

    Feng et al., Graph Random Neural Networks for Semi-Supervised Learning on Graphs, NeurIPS 2020. There the feature
    rows of left-out nodes become zero while the edges stay, and features are scaled by ``1 - p`` at test:
    ``mode="zero"``, used with ``p=0.5``. In graph classification nodes are rather deleted with their edges:
    ``mode="delete"``, the default, as in You et al., NeurIPS 2020. By default every graph of a batch is thinned, anew
    at each step. Remaining edges keep their attributes.

    Our choices: one random node remains where all would go; where only a share of the graphs is changed, :meth:`plain`
    scales by the mean share of rows seen in training; degree features that were set to zero are not computed anew.
    """

    about = MethodInfo(
        paper="Feng et al., Graph Random Neural Networks, NeurIPS 2020",
        changes="nodes: some left out with their edges (or features zeroed)",
        needs="nothing (float x for zeroing)",
        label="unchanged",
        edge_attr="kept",
        cost="one random number a node",
    )
    grid = {"p": (0.2, 0.1, 0.3, 0.5)}

    def __init__(
        self,
        p: float = 0.2,
        mode: str = "delete",
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
        self.mode = choose(mode, MODES, "mode")
        self.follows_degrees = self.mode == "delete"

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        chosen = graphs.select(picked)
        stays = (torch.rand(chosen.num_nodes, generator=generator) >= self.p).to(graphs.ptr.device)
        if self.mode == "delete":
            return keep_nodes(chosen, never_empty(chosen, stays, generator))
        x = _features(chosen)
        return replace(chosen, node={**chosen.node, "x": torch.where(stays[:, None], matrix(x), 0).view(x.shape)})

    @torch.no_grad()
    def eval_batch(self, batch: Graphs) -> Batch:
        if self.mode == "delete":
            return super().eval_batch(batch)
        graphs = self._labelled(pack(batch), need=False)
        zeroed = self.p * self.ratio / (1.0 if self.replace else 1.0 + self.ratio)
        return self._finish(replace(graphs, node={**graphs.node, "x": _features(graphs) * (1 - zeroed)}), 0)


def _features(graphs: PackedGraphs) -> Tensor:
    """What can be set to zero and scaled, or an error."""
    if graphs.x is None:
        raise InputError('DropNode needs node features x for mode="zero": add some, or pass mode="delete"')
    need_float(replace(graphs, edge={}), "DropNode", 'sets features to zero in mode="zero"')
    return graphs.x
