"""Average graphs of classes, and graphs drawn from between two of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix, offsets
from epic.graphs.ragged import ranks
from epic.labels import mix

AREA = 1 << 22
"""Possible edges to draw at a time, so that large graphons do not take gigabytes."""


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
        """A graph from ``share`` of the classes ``one`` and the rest of ``two``, for each entry."""
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
        node, edge = {}, {}
        if self.x is not None:
            g, at = alive.nonzero().T
            node["x"] = torch.lerp(self.x[two[g], at], self.x[one[g], at], share[g, None])
        if self.edge_attr is not None:
            at = u * size + v
            edge["edge_attr"] = torch.lerp(
                self.edge_attr[two[graph], at], self.edge_attr[one[graph], at], share[graph, None]
            )
        return PackedGraphs(
            offsets(alive.sum(1)),
            offsets(torch.bincount(graph, minlength=count)),
            torch.stack([place[graph * size + u], place[graph * size + v]]),
            node,
            edge,
            mix(self.y[two], self.y[one], share),
        )


def graphons(graphs: PackedGraphs, y: Tensor, threshold: float) -> Graphons:
    """The average graph of each distinct row of ``y``."""
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
        x = _averages(matrix(graphs.x)[kept], of_node[kept] * size + rank[kept], of_node[kept], kinds, size)
    if graphs.edge_attr is not None:
        edge_attr = _averages(matrix(graphs.edge_attr)[edges], at, group[owner], kinds, size**2)
    return Graphons(
        size,
        undirected,
        ends,
        chance[:, ends[0], ends[1]].float(),
        x,
        edge_attr,
        torch.where(torch.isinf(rows) & (rows < 0), torch.nan, rows),
    )


def by_degree(graphs: PackedGraphs) -> Tensor:
    """Place of each node in its graph, by falling degree; equal ones stay in their order."""
    return ranks(-graphs.degree(0) - graphs.degree(1), group=graphs.graph_of_node, ptr=graphs.ptr)


def usvt(mean: Tensor, threshold: float) -> Tensor:
    """Universal singular value thresholding (Chatterjee 2015) of ``[..., n, n]``, clipped to uniform.

    The largest singular value stays however small it is.
    """
    left, value, right = torch.linalg.svd(mean)
    stays = value >= threshold * mean.shape[-1] ** 0.5
    stays[..., 0] = True
    return ((left * (value * stays)[..., None, :]) @ right).clamp(0, 1)


def _single(graphs: PackedGraphs, rank: Tensor, size: int) -> Tensor:
    """One edge for each ordered pair of nodes that stay, sorted by place, without self-loops."""
    u, v = graphs.edge_index
    kept = ((rank[u] < size) & (rank[v] < size) & (u != v)).nonzero()[:, 0]
    key = (graphs.ptr[graphs.graph_of_node[u]] + rank[u]) * graphs.num_nodes + rank[v]
    _, first = np.unique(key[kept].numpy(), return_index=True)
    return kept[torch.from_numpy(first)]


def _averages(value: Tensor, at: Tensor, group: Tensor, kinds: int, places: int) -> Tensor:
    """Averages ``[kinds, places, width]`` of what lies at each place; an empty place has the average of its kind."""
    value = value.double()

    def mean(index: Tensor, count: int) -> tuple[Tensor, Tensor]:
        total = value.new_zeros(count, value.shape[1]).index_add_(0, index, value)
        number = torch.bincount(index, minlength=count)[:, None]
        return total / number.clamp_min(1), number

    here, number = mean(at, kinds * places)
    whole, _ = mean(group, kinds)
    return torch.where(number > 0, here, whole.repeat_interleave(places, 0)).view(kinds, places, -1).float()
