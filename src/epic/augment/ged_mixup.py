"""GED-Mixup: edit paths of single nodes and edges at unit cost, a control for EPIC."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.mixtures import mixture
from epic.augment.params import param
from epic.augment.sampling import PAIRS, draw_pairs
from epic.graphs.packed import PackedGraphs
from epic.paths.edge_level import EdgePaths, edge_paths
from epic.random import uniform


class GEDMixup(Augmentation):
    """Graphs from edit paths of single nodes and edges, every operation at unit cost.

    A control in the manner of GED-Mixup (in the study "Is Graph Mixup Beneficial?", ICML 2026): EPIC without learning,
    and with edges edited one by one. In place of the exact edit distance, nodes are matched by its bipartite
    approximation (Riesen and Bunke, Approximate graph edit distance computation by means of bipartite graph matching,
    Image and Vision Computing, 2009). What the matching leaves to do is a list of substitutions, deletions and
    insertions of nodes, and of deletions, insertions and changed attributes of edges; each counts as 1.

    They are done in random order, except that a node comes before its first edge and goes after its last. Of n
    operations ``round(l n)`` are done, l uniform in [0, 1] for each pair, so that both ends of the path may come out.
    The label is mixed by the share of operations done (by l, where the two graphs do not differ).

    A graph that fell apart although both of its originals are connected is drawn again, order and l, up to ``tries``
    times in all; if it still falls apart, the way to the nearer end of its path is halved until it is connected, as the
    ends are. ``pairs``: which graphs may be paired.

    An edge is all that joins two nodes: in directed graphs one or both directions, edited together. Edge attributes are
    kept. Features that are degrees, and absent ones, do not tell nodes apart: edges already count.
    """

    info = MethodInfo(
        paper="control; GED-Mixup in Is Graph Mixup Beneficial?, ICML 2026",
        changes="nodes, edges, features: a graph on the edit path of two",
        label="mixed by the share of operations done",
        cost="one assignment a graph",
    )
    mixes = True

    pairs: str = param(
        default="random", grid=PAIRS[:2], check=checks.one_of(PAIRS), kw_only=False, help="which graphs to pair"
    )
    tries: int = param(default=5, check=checks.count, help="draws before a disconnected graph is repaired")

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        i, j = draw_pairs(graphs.y, graphs=len(graphs), count=picked.numel(), pairs=self.pairs, generator=generator)
        if i.numel() == 0:
            return None
        here = graphs.to("cpu")
        paths = edge_paths(here, i=i, j=j, use_x=self.found_.degrees is None)
        done, share = self._draw(paths, here.sizes[i].numpy(), here.sizes[j].numpy(), generator)
        made = paths.graphs(graphs, done)
        return mixture(made, graphs.labels, graphs.titles, source=i, target=j, share=torch.from_numpy(share))

    def _draw(
        self, paths: EdgePaths, source: np.ndarray, target: np.ndarray, generator: torch.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw which operations are done, and their share in each pair; drawn again where a graph falls apart.

        ``source`` and ``target`` are the numbers of nodes at both ends.
        """
        length = np.diff(paths.ptr)
        rank, steps, share = np.zeros(len(paths), np.int64), np.zeros_like(length), np.zeros(length.size)
        waiting = np.ones(length.size, bool)
        nothing = np.zeros(len(paths), bool)
        whole = paths.connected(nothing, waiting) & paths.connected(~nothing, waiting)
        low, high = source == 0, length - (target == 0)  # never an empty graph, even where an end is one
        for _ in range(self.tries):
            drawn, l = paths.order(generator), uniform(length.size, generator).numpy()
            here = waiting[paths.pair]
            rank[here] = drawn[here]
            count = np.minimum(np.maximum(np.rint(l * length).astype(np.int64), low), high)
            steps[waiting] = count[waiting]
            share[waiting] = np.where(length > 0, count / np.maximum(length, 1), l)[waiting]
            waiting = waiting & whole
            waiting &= ~paths.connected(rank < steps[paths.pair], waiting)
            if not waiting.any():
                break
        while waiting.any():  # both ends are connected: it comes to an end
            near = np.where(2 * steps < length, steps // 2, (length + steps + 1) // 2)
            steps[waiting] = near[waiting]
            share[waiting] = (near / np.maximum(length, 1))[waiting]
            waiting &= ~paths.connected(rank < steps[paths.pair], waiting)
        return rank < steps[paths.pair], share
