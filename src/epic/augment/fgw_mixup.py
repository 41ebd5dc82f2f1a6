"""FGW-Mixup: the graph nearest to two others in the fused Gromov-Wasserstein distance."""

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
from epic.augment.sampling import beta
from epic.graphs.packed import PackedGraphs
from epic.matching.gromov import barycenter, emd


class FGWMixup(PooledMixup):
    """Add fused Gromov-Wasserstein barycentres of two graphs.

    Ma et al., Fused Gromov-Wasserstein Graph Mixup for Graph-level Classifications, NeurIPS 2023. The new graph has the
    least ``l d(G, G1) + (1 - l) d(G, G2)``, where d is the squared distance that compares adjacency matrices, with the
    weight ``structure``, and node features, with the rest. It has ``l n1 + (1 - l) n2`` nodes; ``l`` comes from
    Beta(``alpha``, ``alpha``). Its largest entries become edges, as many as give it the mixed density of both. Features
    are those of the barycentre. Needs POT (the extra ``ot``).

    Graphs are mixed in ``fit``, ``pool_size`` of them; a batch draws from these. Options of ``fit`` are ``progress``,
    and ``folder``: where the pool is kept in shards, to be continued after a kill and used again.

    Labels have the same shares ``l`` and ``1 - l``, as in the paper. The authors' code weighs them by the shares of the
    squared distances to both graphs instead, which is something else: in a flat space the distances, not their squares,
    have the ratio of ``1 - l`` to ``l``. For ``l = 0.8`` that label has 0.94 of the first graph.

    Our choices: couplings are found by conditional gradient from two starts, with exact linear problems, and the
    barycentre begins as the graph with the larger share, so that it is that graph where ``l`` is 0 or 1. The number of
    edges is exact, where the authors look for a threshold. An edge's attributes are averages by the weight that each
    edge brings to it. Integer categories have no average and are refused; other attributes are dropped. There are no
    self-loops. In directed graphs each direction is an entry of its own.
    """

    info = MethodInfo(
        paper="Ma et al., Fused Gromov-Wasserstein Graph Mixup, NeurIPS 2023",
        changes="everything: a graph between two, by optimal transport",
        needs="fit: mixes a pool of graphs; float features; POT (extra ot)",
        label="mixed by the share of each graph",
        edge_attr="averages (float only)",
        cost="optimal transport in fit, then a draw from the pool",
    )

    alpha: float = param(
        default=0.2, grid=(1.0,), check=checks.positive, kw_only=False, help="shares follow Beta(alpha, alpha)"
    )
    structure: float = param(
        default=0.95, check=checks.share, help="weight of the structure in the distance; features have the rest"
    )
    ratio: float = param(default=0.2)

    def look(self, graphs: PackedGraphs) -> None:
        emd()  # fails early if POT is missing

    def draw_shares(self, count: int, generator: torch.Generator) -> Tensor:
        return beta(count, self.alpha, self.alpha, generator)

    def mix_pair(self, one: Dense, two: Dense, share: float) -> Data:
        sizes = np.array([len(one.side), len(two.side)])
        parts = np.array([share, 1 - share])
        size = max(1, round(float(parts @ sizes)))
        plans, _ = barycenter(one.side, two.side, share=share, size=size, structure=self.structure)
        density = float(parts @ (np.array([one.edges, two.edges]) / sizes**2))
        mixed = blended(one, two, plans, share)
        return sparse(mixed, densest(mixed.side.a, density * size**2), weighted=False)


def densest(a: np.ndarray, edges: float) -> np.ndarray:
    """Return ends ``[2, edges]`` of the largest entries off the diagonal, about ``edges`` of them, none that is 0.

    Both directions of an edge go together where the matrix is symmetric.
    """
    symmetric = bool((a == a.T).all())
    u, v = np.triu_indices(len(a), 1) if symmetric else np.nonzero(~np.eye(len(a), dtype=bool))
    value = np.round(a[u, v], 12)  # entries that differ by rounding only go by their place
    order = np.argsort(-value, kind="stable")[: round(edges / 2 if symmetric else edges)]
    order = order[value[order] > 0]
    ends = np.stack([u[order], v[order]])
    if symmetric:
        ends = np.concatenate([ends, ends[::-1]], axis=1)
    return ends[:, np.lexsort((ends[1], ends[0]))]
