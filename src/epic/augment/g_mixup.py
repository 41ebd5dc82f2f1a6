"""G-Mixup: graphs drawn between the average graphs of two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.params import param
from epic.augment.pool import shaped_like
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix, offsets
from epic.graphs.ragged import firsts, ranks
from epic.labels import mix, soft_labels
from epic.random import digest

AREA = 1 << 22
"""Possible edges to draw at a time, so that large graphons do not take gigabytes."""


class GMixup(Augmentation):
    """Add graphs drawn from a mixture of two classes' graphons.

    Han et al., G-Mixup: Graph Data Augmentation for Graph Classification, ICML 2022. A class's graphon is the average
    adjacency of its graphs, nodes sorted by degree and cut or padded to the median size, without its small singular
    values. A new graph mixes the graphons and labels of two random classes, ``l`` of the one and ``1 - l`` of the
    other; its edges are drawn independently, and isolated nodes are removed.

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
    threshold: float = param(default=0.2, check=checks.not_negative, help="singular values below this are dropped")
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

    def fingerprint(self) -> str:
        found = self.graphons
        return f"{super().fingerprint()} {digest(found.ends, found.chance, found.x, found.edge_attr, found.y)}"

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        checks.need_float(graphs, "G-Mixup")
        found, count = self.graphons, picked.numel()
        kinds = len(found.y)
        one = torch.randint(kinds, (count,), generator=generator)
        two = (one + 1 + torch.randint(kinds - 1, (count,), generator=generator)) % kinds
        share = self.share * (1 + torch.rand(count, generator=generator)) / 2
        made = found.draw(one, two, share, generator).to(graphs.ptr.device)
        return shaped_like(made, graphs)


@dataclass(frozen=True)
class Graphons:
    """The average graph of each class.

    ``chance`` ``[classes, pairs]`` of an edge at each pair of places in ``ends`` ``[2, pairs]``; ``x``
    ``[classes, size, width]``; ``edge_attr`` ``[classes, size * size, width]``; ``y`` ``[classes, C]``.
    """

    size: int
    undirected: bool
    ends: Tensor
    chance: Tensor
    x: Tensor | None
    edge_attr: Tensor | None
    y: Tensor

    def draw(self, one: Tensor, two: Tensor, share: Tensor, generator: torch.Generator) -> PackedGraphs:
        """Draw a graph from ``share`` of the classes ``one`` and the rest of ``two``, for each entry."""
        count, size = one.numel(), self.size
        hits = []
        for part in torch.arange(count).split(max(1, AREA // max(1, self.ends.shape[1]))):
            chance = torch.lerp(self.chance[two[part]], self.chance[one[part]], share[part, None])
            drawn = (torch.rand(chance.shape, generator=generator) < chance).nonzero()
            hits.append(torch.stack([drawn[:, 0] + part[0], drawn[:, 1]]))
        graph, pair = torch.cat(hits, dim=1)
        u, v = self.ends[:, pair]
        if self.undirected:
            graph, u, v = torch.cat([graph, graph]), torch.cat([u, v]), torch.cat([v, u])
        key = ((graph * size + u) * size + v).sort().values  # edges of a graph lie together
        graph, u, v = key // size**2, key // size % size, key % size
        alive = torch.zeros(count, size, dtype=torch.bool)
        alive[graph, u] = alive[graph, v] = True
        spare = torch.randint(size, (count,), generator=generator)  # the one node of a graph without edges
        bare = (~alive.any(1)).nonzero()[:, 0]
        alive[bare, spare[bare]] = True
        place = alive.flatten().cumsum(0) - 1

        def mixed(value: Tensor, g: Tensor, at: Tensor) -> Tensor:
            return torch.lerp(value[two[g], at], value[one[g], at], share[g, None])

        return PackedGraphs(
            offsets(alive.sum(1)),
            offsets(torch.bincount(graph, minlength=count)),
            place[graph * size + torch.stack([u, v])],
            {} if self.x is None else {"x": mixed(self.x, *alive.nonzero().T)},
            {} if self.edge_attr is None else {"edge_attr": mixed(self.edge_attr, graph, u * size + v)},
            mix(self.y[two], target=self.y[one], share=share),
        )


def graphons(graphs: PackedGraphs, y: Tensor, threshold: float) -> Graphons:
    """Return the average graph of each distinct row of ``y``."""
    rows, group = torch.nan_to_num(y, nan=-torch.inf).unique(dim=0, return_inverse=True)  # NaN equals NaN here
    kinds = len(rows)
    if kinds < 2:
        raise InputError(f"G-Mixup needs graphs of two classes at least, but y has only {y[0].tolist()}")
    size = max(1, int(graphs.sizes.median()))
    rank = by_degree(graphs)
    edges = _single(graphs, rank, size)
    owner = graphs.graph_of_node[graphs.edge_index[0, edges]]
    u, v = rank[graphs.edge_index[:, edges]]
    at = (group[owner] * size + u) * size + v
    met = torch.bincount(at, minlength=kinds * size**2).view(kinds, size, size)
    mean = met.double() / torch.bincount(group)[:, None, None]
    first = graphs.ptr[owner]
    undirected = torch.equal((first + u) * size + v, ((first + v) * size + u).sort().values)
    chance = usvt(mean, threshold)
    ends = torch.triu_indices(size, size, 1)
    if not undirected:
        ends = torch.cat([ends, ends.flip(0)], dim=1)
    x = edge_attr = None
    if graphs.x is not None:
        kept = (rank < size).nonzero()[:, 0]
        of_node = group[graphs.graph_of_node]
        x = _averages(matrix(graphs.x)[kept], of_node[kept] * size + rank[kept], kinds, size)
    if graphs.edge_attr is not None:
        edge_attr = _averages(matrix(graphs.edge_attr)[edges], at, kinds, size**2)
    y = torch.where(rows.isneginf(), torch.nan, rows)
    return Graphons(size, undirected, ends, chance[:, ends[0], ends[1]].float(), x, edge_attr, y)


def by_degree(graphs: PackedGraphs) -> Tensor:
    """Place of each node in its graph, by falling degree; equal ones stay in their order."""
    return ranks(-graphs.degree(0) - graphs.degree(1), group=graphs.graph_of_node)


def usvt(mean: Tensor, threshold: float) -> Tensor:
    """Universal singular value thresholding (Chatterjee 2015) of ``[..., n, n]``, clipped to uniform.

    The largest singular value stays however small it is.
    """
    left, value, right = torch.linalg.svd(mean)
    stays = value >= threshold * mean.shape[-1] ** 0.5
    stays[..., 0] = True
    return ((left * (value * stays)[..., None, :]) @ right).clamp(0, 1)


def _single(graphs: PackedGraphs, rank: Tensor, size: int) -> Tensor:
    """Return one edge for each ordered pair of nodes that stay, sorted by place, without self-loops."""
    u, v = graphs.edge_index
    kept = ((rank[u] < size) & (rank[v] < size) & (u != v)).nonzero()[:, 0]
    key = (graphs.ptr[graphs.graph_of_node[u]] + rank[u]) * graphs.num_nodes + rank[v]
    return kept[firsts(key[kept])]


def _averages(value: Tensor, at: Tensor, kinds: int, places: int) -> Tensor:
    """Averages ``[kinds, places, width]`` of what lies at each place; an empty place has the average of its kind."""
    value = value.double()

    def mean(index: Tensor, count: int) -> tuple[Tensor, Tensor]:
        total = value.new_zeros(count, value.shape[1]).index_add_(0, index, value)
        number = torch.bincount(index, minlength=count)[:, None]
        return total / number.clamp_min(1), number

    here, number = mean(at, kinds * places)
    whole, _ = mean(at // places, kinds)
    return torch.where(number > 0, here, whole.repeat_interleave(places, 0)).view(kinds, places, -1).float()
