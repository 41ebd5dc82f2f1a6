"""One graph as matrices, to be laid on a common support with another one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from epic.graphs.packed import PackedGraphs, matrix, ranges
from epic.matching.gromov import Side


class Dense:
    """One graph as matrices.

    Attributes:
        side: Weights of edges ``[n, n]``, summed over parallel edges, and features ``[n, width]``.
        attr: Edge attributes times weight ``[width, n, n]``; None where there are none.
        edges: Number of ordered pairs of different nodes with an edge.
    """

    def __init__(self, a: np.ndarray, x: np.ndarray | None, attr: np.ndarray | None = None) -> None:
        self.side = Side(a, np.zeros((len(a), 0)) if x is None else x)
        self.attr, self.bare = attr, x is None
        self.edges = int((a != 0).sum() - (np.diag(a) != 0).sum())

    @classmethod
    def of(cls, graphs: PackedGraphs, g: int) -> Dense:
        """Return graph ``g``."""
        one = graphs[g : g + 1]
        one = replace(one, edge={k: v.double() for k, v in one.edge.items()})
        whole = dense(one, torch.tensor([0]), one.num_nodes)[0].double().contiguous().numpy()
        x = None if one.x is None else matrix(one.x).double().numpy()
        return cls(whole[0], x, None if one.edge_attr is None else whole[1:])


def dense(graphs: PackedGraphs, index: Tensor, size: int) -> Tensor:
    """Return the weights of edges and attributes times weight ``[len(index), 1 + width, size, size]``.

    Parallel edges are summed.
    """
    count = graphs.edge_ptr.diff()[index]
    at = ranges(graphs.edge_ptr[index], count)
    row = torch.repeat_interleave(torch.arange(index.numel(), device=index.device), count)
    u, v = graphs.edge_index[:, at] - graphs.ptr[index[row]]
    weight = graphs.edge.get("edge_weight")
    weight = torch.ones(at.numel(), device=index.device) if weight is None else weight[at]
    value = weight[:, None]
    if graphs.edge_attr is not None:
        value = torch.cat([value, matrix(graphs.edge_attr)[at] * value], dim=1)
    width = value.shape[1]
    out = value.new_zeros(index.numel() * size * size, width).index_add_(0, (row * size + u) * size + v, value)
    return out.view(-1, size, size, width).permute(0, 3, 1, 2)


def blended(one: Dense, two: Dense, plans: tuple[np.ndarray, np.ndarray], share: float) -> Dense:
    """Return ``share`` of the one and the rest of the other, each laid on a common support by its coupling."""
    parts = []
    for graph, plan in zip((one, two), plans, strict=True):
        moved, lay = graph.side.moved(plan), plan * len(plan)
        a = (moved.a + moved.a.T) / 2 if graph.side.symmetric else moved.a  # rounding must not give edges a direction
        attr = None if graph.attr is None else lay @ graph.attr @ lay.T
        parts.append((a, moved.x, attr))
    (a, x, attr), (b, z, other) = parts
    mixed = None if attr is None or other is None else share * attr + (1 - share) * other
    return Dense(share * a + (1 - share) * b, None if one.bare else share * x + (1 - share) * z, mixed)


def sparse(mixed: Dense, ends: np.ndarray, *, weighted: bool) -> Data:
    """Return the graph with the edges ``ends`` ``[2, edges]`` of ``mixed``, none of weight 0.

    An edge's attributes are the average over the edges that it came from, by the weight of each.
    """
    weight = mixed.side.a[ends[0], ends[1]]
    data = Data(edge_index=torch.from_numpy(ends), num_nodes=len(mixed.side))
    if not mixed.bare:
        data.x = torch.from_numpy(mixed.side.x).float()
    if weighted:
        data.edge_weight = torch.from_numpy(weight).float()
    if mixed.attr is not None:
        data.edge_attr = torch.from_numpy((mixed.attr[:, ends[0], ends[1]] / weight).T.copy()).float()
    return data
