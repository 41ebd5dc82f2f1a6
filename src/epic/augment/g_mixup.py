"""G-Mixup: graphs drawn between the average graphs of two classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.graphon import Graphons, graphons
from epic.augment.params import param
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix
from epic.labels import soft_labels


class GMixup(Augmentation):
    """Add graphs drawn from a mixture of two classes' graphons.

    Han et al., G-Mixup: Graph Data Augmentation for Graph Classification, ICML 2022. A class's graphon is the average
    adjacency of its graphs, nodes sorted by degree and cut or padded to the median size, without its small singular
    values. A new graph mixes the graphons and labels of two random classes, ``l`` of the one and ``1 - l`` of the
    other; its edges are drawn each by itself, and nodes left without an edge go.

    ``share``: ``l`` is drawn evenly between half of it and all of it (0.2: the paper; 0.01: the authors' code).
    ``threshold``: singular values below this times the root of the size go.

    Our choices: node features have a graphon as well, their averages over the aligned nodes (a place that no graph of
    the class reaches has the average of all its nodes), mixed alike. So have float edge attributes: averages over the
    edges at a place. Integer categories have no average and are refused; other attributes are dropped. The largest
    singular value always stays, or sparse classes would have no edges at all. Each batch has new graphs.
    Where labels are 0/1 tasks, every combination that occurs is a class. There are no self-loops; in directed graphs
    nodes are sorted by edges in and out together, and each direction is drawn by itself.
    """

    info = MethodInfo(
        paper="Han et al., G-Mixup, ICML 2022",
        changes="everything: drawn from two classes' average graphs",
        needs="fit: counts the average graph of each class; float features",
        label="mixed by the share of each class",
        edge_attr="averages (float only)",
        cost="one random number a pair of nodes",
    )
    mixes = True

    share: float = param(
        default=0.2, grid=(0.01, 0.5), check=checks.share, kw_only=False, help="largest share of a class"
    )
    threshold: float = param(default=0.2, check=checks.not_negative, help="below which singular values go")
    ratio: float = param(default=0.2)

    _graphons: Graphons | None = None

    @property
    def graphons(self) -> Graphons:
        if self._graphons is None:
            raise InputError("G-Mixup needs the graphons of the classes: call fit(train) first")
        return self._graphons

    def prepare(self, graphs: PackedGraphs, **options: Any) -> None:
        super().prepare(graphs, **options)
        checks.need_float(graphs, "G-Mixup")
        y = soft_labels(graphs.labels, self.num_classes_).cpu()
        if self.task_ == "values":
            raise InputError(f"G-Mixup needs classes, but y holds real values such as {float(y.flatten()[0]):g}")
        known = (~y.isnan().all(1)).nonzero()[:, 0]  # graphs without any label are no class
        self._graphons = graphons(graphs.to("cpu").select(known), y[known], self.threshold)

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        found, count = self.graphons, picked.numel()
        kinds = len(found.y)
        one = torch.randint(kinds, (count,), generator=generator)
        two = (one + 1 + torch.randint(kinds - 1, (count,), generator=generator)) % kinds
        share = self.share * (1 + torch.rand(count, generator=generator)) / 2
        made = found.draw(one, two, share, generator).to(graphs.ptr.device)
        node, edge = _shaped(made.node, graphs.x, "x"), _shaped(made.edge, graphs.edge_attr, "edge_attr")
        return replace(made, node=node, edge=edge, y=made.labels.to(graphs.labels.dtype))


def _shaped(made: Mapping[str, Tensor], like: Tensor | None, name: str) -> dict[str, Tensor]:
    """Averages in the shape and the precision that the batch has; refuse a batch unlike the graphs of fit."""
    value = made.get(name)
    if value is None and like is None:
        return {}
    if value is None or like is None or matrix(like).shape[1] != value.shape[1]:
        widths = [None if v is None else matrix(v).shape[1] for v in (like, value)]
        raise InputError(f"{name} of the batch has width {widths[0]}, but {widths[1]} in fit: fit on graphs like these")
    return {name: value.to(like.dtype).view(-1, *like.shape[1:])}
