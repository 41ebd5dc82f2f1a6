"""DropNode: nodes left out at random."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.params import param
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix
from epic.graphs.subgraphs import keep_nodes, never_empty

MODES = ("delete", "zero")


class DropNode(Augmentation):
    """Leave out each node with probability ``p``.

    Feng et al., Graph Random Neural Networks for Semi-Supervised Learning on Graphs, NeurIPS 2020. There the feature
    rows of left-out nodes become zero while the edges stay, and features are scaled by ``1 - p`` at test:
    ``mode="zero"``, used with ``p=0.5``. In graph classification nodes are rather deleted with their edges:
    ``mode="delete"``, the default, as in You et al., NeurIPS 2020. By default every graph of a batch is thinned,
    differently at each step. Remaining edges keep their attributes.

    Our choices: one random node remains where all would go; where only a share of the graphs is changed,
    :meth:`eval_batch` scales by the mean share of rows seen in training; degree features that were set to zero stay
    zero.
    """

    info = MethodInfo(
        paper="Feng et al., Graph Random Neural Networks, NeurIPS 2020",
        changes="nodes: some left out with their edges (or features zeroed)",
        needs="nothing (float x for zeroing)",
        cost="one random number a node",
    )

    p: float = param(
        default=0.2, grid=(0.1, 0.3, 0.5), check=checks.share, kw_only=False, help="chance that a node is left out"
    )
    mode: str = param(default="delete", check=checks.one_of(MODES), help="delete nodes, or zero their features")
    ratio: float = param(default=1.0)
    replace: bool = param(default=True)

    @property
    def follows_degrees(self) -> bool:  # type: ignore[override]
        """Whether degree features are computed again. Those that were set to zero are not."""
        return self.mode == "delete"

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        chosen = graphs.select(picked)
        stays = (torch.rand(chosen.num_nodes, generator=generator) >= self.p).to(graphs.ptr.device)
        if self.mode == "delete":
            return keep_nodes(chosen, never_empty(chosen, stays, generator))
        x = _features(chosen)
        return replace(chosen, node={**chosen.node, "x": torch.where(stays[:, None], matrix(x), 0).view(x.shape)})

    def scale(self, graphs: PackedGraphs) -> PackedGraphs:
        """Scale features by the mean share of rows seen in training, where rows are set to zero there."""
        if self.mode == "delete":
            return graphs
        zeroed = self.p * self.ratio / (1.0 if self.replace else 1.0 + self.ratio)
        return replace(graphs, node={**graphs.node, "x": _features(graphs) * (1 - zeroed)})


def _features(graphs: PackedGraphs) -> Tensor:
    """Return what can be set to zero and scaled, or an error."""
    if graphs.x is None:
        raise InputError('DropNode needs node features x for mode="zero": add some, or pass mode="delete"')
    checks.need_float(replace(graphs, edge={}), "DropNode", 'sets features to zero in mode="zero"')
    return graphs.x
