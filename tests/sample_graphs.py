"""Random graphs of every awkward kind."""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.data import Data


def random_graph(
    rng: np.random.Generator,
    nodes: int,
    density: float = 0.4,
    directed: bool = False,
    loops: bool = False,
    x: str | None = "float",
    edge_width: int | None = 2,
    y: object = None,
) -> Data:
    """Any graph: ``x`` is float, int, onehot or None; ``edge_width`` None for none, 0 for a flat vector."""
    a = rng.random((nodes, nodes)) < density
    if not loops:
        np.fill_diagonal(a, False)
    if not directed:
        a = np.triu(a)
        a = a | a.T
    edges = np.argwhere(a)
    edges = edges[rng.permutation(len(edges))]  # any order of edges must survive
    data = Data(edge_index=torch.from_numpy(edges.T.copy()).long().reshape(2, -1), num_nodes=nodes)
    if x == "float":
        data.x = torch.from_numpy(rng.normal(size=(nodes, 3))).float()
    elif x == "int":
        data.x = torch.from_numpy(rng.integers(0, 4, size=(nodes, 2)))
    elif x == "onehot":
        data.x = torch.eye(3)[torch.from_numpy(rng.integers(0, 3, size=nodes))]
    if edge_width is not None:
        shape = (len(edges),) if edge_width == 0 else (len(edges), edge_width)
        value = torch.from_numpy(rng.normal(size=shape)).float()
        if not directed:  # both directions of an edge carry the same attribute
            first = {}
            for row, (u, v) in enumerate(edges.tolist()):
                key = (min(u, v), max(u, v))
                value[row] = value[first.setdefault(key, row)]
        data.edge_attr = value
    if y is not None:
        data.y = torch.as_tensor(y)
    return data
