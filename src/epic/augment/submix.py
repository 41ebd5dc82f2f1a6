"""SubMix: a region of one graph in the place of a region of another."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.mixtures import mixture
from epic.augment.params import param
from epic.augment.regions import Regions, by_pagerank
from epic.augment.sampling import another
from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import merge, offsets, owners, ranges
from epic.random import uniform


class SubMix(Augmentation):
    """Put a region of another graph into each graph, and mix the labels by the edges that came from each.

    Yoo, Shim and Kang, Model-Agnostic Augmentation for Accurate Graph Classification, WWW 2022. In both graphs a random
    root is drawn and the nodes of its component ranked by personalised PageRank (``restart`` is the chance to go back
    to the root). The k first nodes of the graph take, rank by rank, the attributes of the k first of its partner and
    the edges among them, while edges that lead out of the region stay. k is ``U(0, p)`` of the smaller component,
    rounded up. By default every graph of a batch is replaced, with any other graph of the batch as its partner. Edge
    attributes come along with the edges.

    Our choices: a graph left without edges is labelled by its nodes instead; the walk follows edges in both directions.
    """

    info = MethodInfo(
        paper="Yoo et al., Model-Agnostic Augmentation for Accurate Graph Classification, WWW 2022",
        changes="nodes, edges, features: a region comes from another graph",
        label="mixed by the share of edges from each graph",
        cost="one PageRank a batch",
    )
    mixes = True

    p: float = param(
        default=0.4, grid=(0.2, 0.6), check=checks.share, kw_only=False, help="largest share of the region"
    )
    restart: float = param(default=0.15, check=checks.open_share, help="chance that the walk goes back to its root")
    ratio: float = param(default=1.0)
    replace: bool = param(default=True)

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        count, total = picked.numel(), len(graphs)
        if total < 2:
            return None
        both = graphs.select(torch.cat([picked, another(picked, total, generator)]))
        regions = Regions.of(both, generator)
        order = by_pagerank(regions, self.restart)
        room = _first_component(regions, order).reshape(2, count).min(0)
        size = np.ceil(self.p * uniform(count, generator).numpy() * room).astype(np.int64)
        return graft(both, order, size)


def graft(both: PackedGraphs, order: np.ndarray, size: np.ndarray) -> PackedGraphs:
    """Graph i of the first half with its ``size[i]`` first nodes taken from graph i of the second half.

    ``order`` lists the nodes of each graph, first ones first.
    """
    count = size.size
    ptr, edge_ptr, (source, target) = (t.cpu().numpy() for t in (both.ptr, both.edge_ptr, both.edge_index))
    old = order[ranges(ptr[:count], size)]
    new = order[ranges(ptr[count:-1], size)]
    inside = np.zeros(ptr[-1], dtype=bool)
    inside[old] = inside[new] = True
    place = np.arange(ptr[-1])
    place[new] = old
    node_from = np.arange(ptr[count])
    node_from[old] = new

    within = inside[source] & inside[target]
    half = edge_ptr[count]
    stay = np.flatnonzero(~within[:half])
    come = half + np.flatnonzero(within[half:])
    owner = owners(edge_ptr)
    stayed = np.bincount(owner[stay], minlength=count)
    came = np.bincount(owner[come] - count, minlength=count)
    edge_from = np.concatenate([stay, come])[merge(stayed, came)]

    edges, nodes = stayed + came, np.diff(ptr[: count + 1])
    share = np.where(edges > 0, came / np.maximum(edges, 1), size / np.maximum(nodes, 1))
    made = both.edited(
        ptr=ptr[: count + 1],
        edge_ptr=offsets(edges),
        edge_index=place[np.stack([source[edge_from], target[edge_from]])],
        node_at=node_from,
        edge_at=edge_from,
    )
    first, second = torch.arange(2 * count).view(2, -1)
    return mixture(made, both.labels, both.titles, source=first, target=second, share=torch.from_numpy(share))


def _first_component(regions: Regions, order: np.ndarray) -> np.ndarray:
    """Nodes of the component that comes first, for each graph."""
    size = np.bincount(regions.component, minlength=1)
    filled = np.diff(regions.ptr) > 0
    room = np.zeros(filled.size, dtype=np.int64)
    room[filled] = size[regions.component[order[regions.ptr[:-1][filled]]]]
    return room
