import numpy as np
import torch
from torch_geometric.data import Data

from epic import UnitCost
from epic.costs.unit import row_codes


def test_codes_are_equal_exactly_where_rows_are():
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.integers(0, 2, size=(400, 9))).float()
    for rows in (x, x.long(), x.double() * 1e-300, x.bool()):
        codes = row_codes(rows)
        assert torch.equal(codes[:, None] == codes, (rows[:, None] == rows).all(2))
    assert torch.equal(row_codes(torch.tensor([[0.0]])), row_codes(torch.tensor([[-0.0]])))
    # Neighbouring columns must not cancel.
    assert row_codes(torch.tensor([[1.0, 2.0], [2.0, 1.0]])).unique().numel() == 2


def test_without_features_nodes_are_compared_by_degree():
    path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    lone = Data(edge_index=torch.zeros(2, 0).long(), num_nodes=3)
    assert UnitCost().distance(path, path) == 0
    assert UnitCost().distance(path, lone) == 3
