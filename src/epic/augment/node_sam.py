"""NodeSam: one node split in two, two neighbours merged into one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.params import param
from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import counts, offsets, owners
from epic.random import uniform

SECOND, BOTH = 1, 2


class NodeSam(Augmentation):
    """Split a random node into two neighbours, and merge the ends of a random edge: as many nodes as before.

    Yoo, Shim and Kang, Model-Agnostic Augmentation for Accurate Graph Classification, WWW 2022. Each edge of the split
    node goes to one of its halves at random, and a new edge joins the two; the merged node has the neighbours of both
    ends. As merging also loses an edge for every neighbour that the two ends share, ``adjust`` lets as many neighbours
    of the split node be joined to both halves, so that dense graphs do not thin out. ``rounds`` repeats it all. By
    default every graph of a batch is changed, differently at each step.

    Our choices: both halves have the attributes of the split node; a merged node has the mean of float ``x`` of its two
    ends, and takes anything else (integer ``x``, other attributes) from a random one of them. Edge attributes are kept:
    the new edge has those of a random edge at the split node (of the graph, if there is none), and of two edges that
    become one, the surviving end's counts. Loops stay with the first half. In directed graphs the new edge goes both
    ways. It is never the edge to be merged, as that would undo the split; graphs without edges stay the same.
    """

    info = MethodInfo(
        paper="Yoo et al., Model-Agnostic Augmentation for Accurate Graph Classification, WWW 2022",
        changes="nodes, edges: one node split, two neighbours merged",
        edge_attr="kept; the new edge copies one near it",
        cost="a few passes over the edges",
    )

    rounds: int = param(default=1, grid=(2, 4), check=checks.count, kw_only=False, help="how often to split and merge")
    adjust: bool = param(default=True, check=checks.flag, help="make up for edges lost in merging")
    ratio: float = param(default=1.0)
    replace: bool = param(default=True)

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        chosen = graphs.select(picked)
        for _ in range(self.rounds):
            chosen = split_and_merge(chosen, draw_change(chosen, self.adjust, generator))
        return chosen


@dataclass(frozen=True)
class Change:
    """What happens to graphs: one entry for each graph that has an edge, but ``side`` for each node of all graphs.

    ``split``: the node to split. ``side``: where its edge to each node goes, if it has one: 0 to the first half, 1 to
    the second, 2 to both. ``like``: the edge whose attributes the new one has. ``merge``: the edge whose ends are
    merged. ``flip``: whether it is the second of them that survives.
    """

    graph: np.ndarray
    split: np.ndarray
    side: np.ndarray
    like: np.ndarray
    merge: np.ndarray
    flip: np.ndarray


def draw_change(graphs: PackedGraphs, adjust: bool, generator: torch.Generator) -> Change:
    """Draw a random change of each graph."""
    ptr, edge_ptr, (source, target) = _arrays(graphs)
    owner = owners(edge_ptr)
    proper = source != target
    able = np.flatnonzero(counts(proper, edge_ptr))
    size = len(graphs)
    draws = [uniform(size, generator).numpy() for _ in range(4)]
    side = np.where(uniform(int(ptr[-1]), generator).numpy() < 0.5, SECOND, 0)
    split = ptr[:-1] + (draws[0] * np.diff(ptr)).astype(np.int64)
    merge = _one_of(proper, edge_ptr, draws[1])
    at_split = proper & ((source == split[owner]) | (target == split[owner]))
    like = _one_of(at_split, edge_ptr, draws[2])
    if adjust:

        def near(node: np.ndarray) -> np.ndarray:
            """Return which nodes are neighbours of the graph's ``node``."""
            found = np.zeros(ptr[-1], dtype=bool)
            found[target[proper & (source == node[owner])]] = True
            found[source[proper & (target == node[owner])]] = True
            return found

        shared = counts(near(source[merge]) & near(target[merge]), ptr) if source.size else np.zeros(size, np.int64)
        around = np.flatnonzero(near(split))
        graph = np.searchsorted(ptr, around, side="right") - 1
        mixed = np.lexsort((uniform(around.size, generator).numpy(), graph))
        place = np.arange(around.size) - offsets(np.bincount(graph, minlength=size))[graph[mixed]]
        side[around[mixed[place < shared[graph[mixed]]]]] = BOTH
    like = np.where(like < 0, merge, like)
    return Change(able, split[able], side, like[able], merge[able], draws[3][able] < 0.5)


def split_and_merge(graphs: PackedGraphs, change: Change) -> PackedGraphs:
    """Graphs after the change, each as large as before."""
    ptr, edge_ptr, (source, target) = _arrays(graphs)
    n, owner = int(ptr[-1]), owners(edge_ptr)
    first, second = change.split, n + np.arange(change.split.size)  # second halves are numbered after all nodes
    half_1, half_2 = np.full((2, len(graphs)), -1)
    half_1[change.graph], half_2[change.graph] = first, second

    # Split: edges move over to the second half, or are doubled; the new edge goes both ways.
    leaves, enters = source == half_1[owner], target == half_1[owner]
    side = np.where(leaves == enters, 0, change.side[np.where(leaves, target, source)])
    twice = np.flatnonzero(side == BOTH)
    at = np.concatenate([np.arange(owner.size), twice, change.like, change.like])
    u = np.concatenate([source, source[twice], first, second])
    v = np.concatenate([target, target[twice], second, first])
    moves = np.concatenate([np.flatnonzero(side == SECOND), owner.size + np.arange(twice.size)])
    old = at[moves]
    u[moves] = np.where(leaves[old], half_2[owner[old]], u[moves])
    v[moves] = np.where(enters[old], half_2[owner[old]], v[moves])
    owner = owner[at]

    # Merge: edges of the end that goes away hang on the one that survives, unless it has them already.
    kept = np.where(change.flip, v[change.merge], u[change.merge])
    gone = np.where(change.flip, u[change.merge], v[change.merge])
    keeper, goner = np.full((2, len(graphs)), -1)
    keeper[change.graph], goner[change.graph] = kept, gone
    u_gone, v_gone = u == goner[owner], v == goner[owner]
    u_kept, v_kept = u == keeper[owner], v == keeper[owner]
    drop = (u_gone & v_kept) | (u_kept & v_gone)
    u, v = np.where(u_gone, keeper[owner], u), np.where(v_gone, keeper[owner], v)
    name = u * (n + second.size) + v
    moved = np.flatnonzero((u_gone | v_gone) & ~drop)
    drop[moved] = np.isin(name[moved], name[(u_kept | v_kept) & ~drop & ~(u_gone | v_gone)])

    # The second half lives in the place of the node that went away, unless that is itself.
    place, origin = np.arange(n + second.size), np.arange(n + second.size)
    origin[second] = first
    place[second] = np.where(gone == second, kept, gone)
    node_from = np.arange(n)
    node_from[place[second]] = first
    node_from[place[kept]] = origin[kept]

    stays = np.flatnonzero(~drop)
    stays = stays[np.argsort(owner[stays], kind="stable")]
    made = graphs.edited(
        ptr=ptr,
        edge_ptr=offsets(np.bincount(owner[stays], minlength=len(graphs))),
        edge_index=place[np.stack([u[stays], v[stays]])],
        node_at=node_from,
        edge_at=at[stays],
    )
    if graphs.x is not None and made.x is not None and graphs.x.is_floating_point():
        merged, one, two = (
            torch.from_numpy(t).to(graphs.ptr.device) for t in (place[kept], origin[kept], origin[gone])
        )
        made.x[merged] = (graphs.x[one] + graphs.x[two]) / 2
    return replace(made, y=graphs.y)


def _arrays(graphs: PackedGraphs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return graphs.ptr.cpu().numpy(), graphs.edge_ptr.cpu().numpy(), graphs.edge_index.cpu().numpy()


def _one_of(marked: np.ndarray, ptr: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Draw a random marked element of each list, -1 where there is none."""
    at, begin = np.flatnonzero(marked), offsets(marked)[ptr]
    place = begin[:-1] + (chance * np.diff(begin)).astype(np.int64)
    return np.where(np.diff(begin) > 0, np.append(at, -1)[np.minimum(place, at.size)], -1)
