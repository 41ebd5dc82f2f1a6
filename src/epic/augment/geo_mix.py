"""GeoMix: two graphs averaged on a few common places, along an approximate Gromov-Wasserstein geodesic."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from epic.augment import checks
from epic.augment.base import MethodInfo
from epic.augment.dense import Dense, blended, sparse
from epic.augment.params import param
from epic.augment.pool import PooledMixup
from epic.graphs.packed import PackedGraphs
from epic.matching.gromov import align, emd
from epic.random import uniform


class GeoMix(PooledMixup):
    """Add graphs from approximate Gromov-Wasserstein geodesics.

    Zeng et al., Graph Mixup on Approximate Gromov-Wasserstein Geodesics, ICML 2024. A coupling of low rank lays both
    graphs on ``size`` common places. On these, adjacency and features are averaged, ``1 - l`` of the one and ``l`` of
    the other, and labels alike. ``l`` is drawn evenly between 0 and ``share``. Edges are weighted (``edge_weight``),
    which the backbones honour, and weights up to ``cut`` go: nothing is drawn or rounded, as in the authors' code.
    Needs POT (the extra ``ot``).

    Graphs are mixed in ``fit``, ``pool_size`` of them; a batch draws from these. Options of ``fit`` are ``progress``,
    and ``folder``: where the pool is kept in shards, to be continued after a kill and used again.

    Our choices: all places have the same mass, where the paper lets it vary: a network does not see it. The two halves
    of the coupling are found in turn by conditional gradient, with exact linear problems, where the paper does mirror
    descent. Without ``size`` there are as many places as the training graphs have nodes on average, which agrees with
    the sizes that the authors chose. The partner has another label and is the nearest in size of eight drawn ones; the
    authors take the nearest of all. Every graph of the pool is from a different pair. An edge's attributes are
    averages by the weight that each edge brings to it. Integer categories have no average and are refused; other
    attributes are dropped. Degree features are averaged like any other, because degrees count edges and not their
    weights. Self-loops arise where neighbours share a place, as the formula has them. Directed graphs need nothing
    special.
    """

    info = MethodInfo(
        paper="Zeng et al., Graph Mixup on Approximate Gromov-Wasserstein Geodesics, ICML 2024",
        changes="everything: weighted edges and features of two graphs on common places averaged",
        needs="fit: mixes a pool of graphs; float features; POT (extra ot)",
        label="mixed by the share of each graph",
        edge_attr="averages (float only)",
        cost="optimal transport in fit, then a draw from the pool",
    )
    follows_degrees = False
    near_in_size = True

    share: float = param(
        default=0.05, grid=(0.5,), check=checks.share, kw_only=False, help="largest share of the second graph"
    )
    size: int | None = param(
        default=None, check=checks.optional(checks.count), help="nodes of a mixture; None takes the average"
    )
    structure: float = param(
        default=1.0, check=checks.share, help="weight of the structure in the coupling; features have the rest"
    )
    cut: float = param(default=0.001, check=checks.not_negative, help="edges up to this weight are dropped")
    ratio: float = param(default=1.0)

    size_: int = 1
    """Nodes of a mixture, as given or as found."""

    def look(self, graphs: PackedGraphs) -> None:
        emd()  # fails early if POT is missing
        self.size_ = max(1, round(float(graphs.sizes.double().mean()))) if self.size is None else self.size

    def draw_shares(self, count: int, generator: torch.Generator) -> Tensor:
        return 1 - self.share * uniform(count, generator)

    def mix_pair(self, one: Dense, two: Dense, share: float) -> Data:
        plans, _ = align(one.side, two.side, size=self.size_, structure=self.structure)
        mixed = blended(one, two, plans, share)
        return sparse(mixed, np.stack(np.nonzero(mixed.side.a > self.cut)), weighted=True)
