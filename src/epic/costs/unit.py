"""Count operations: the cost of classical graph edit distance."""

from __future__ import annotations

import torch
from torch import Tensor

from epic.costs.base import Cost
from epic.graphs.packed import PackedGraphs, matrix
from epic.matching.types import NodeCosts


class UnitCost(Cost):
    """Every operation costs 1, except that the substitution of equal nodes is free.

    Nodes are equal if their features are, or their degrees where graphs have no ``x``. Edges are not priced: this is a
    lower bound of the edit distance that also counts edge edits.

    >>> from torch_geometric.data import Data
    >>> g = Data(x=torch.tensor([[1.0], [2.0]]), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> h = Data(x=torch.tensor([[1.0], [3.0], [4.0]]), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> UnitCost().distance(g, h)
    2.0
    """

    kind = "unit"
    symmetric = True
    metric = "discrete"

    def embed(self, graphs: PackedGraphs) -> NodeCosts:
        """Reduce each node's features to one number."""
        price = torch.ones(graphs.num_nodes, device=graphs.ptr.device)
        x = graphs.degree() if graphs.x is None else graphs.x
        return NodeCosts(row_codes(x)[:, None], price, price, graphs.ptr)

    def substitution(self, source: Tensor, target: Tensor) -> Tensor:
        """Price 0 for equal nodes, 1 for others."""
        return (source != target.transpose(-1, -2)).double()


def row_codes(x: Tensor) -> Tensor:
    """Return one 64-bit number for each row, equal for equal rows: comparison then costs the same whatever the width.

    Different rows collide with probability about 2^-64.
    """
    rows = matrix(x)
    # + 0.0 turns -0.0 into 0.0
    bits = (rows.double() + 0.0).view(torch.int64) if rows.is_floating_point() else rows.long()
    mixer = torch.Generator().manual_seed(0x45504943)
    odd = torch.randint(-(2**63), 2**63 - 1, (2, rows.shape[1]), generator=mixer).to(x.device) | 1
    mixed = (bits + 1) * odd[0]
    mixed = (mixed ^ (mixed >> 29)) * odd[1]
    return (mixed ^ (mixed >> 32)).sum(1)
