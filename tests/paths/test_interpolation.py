"""Which operations are done in the middle of a path (the graphs: test_edit_path.py; with numba: test_fast.py)."""

import numpy as np
import torch
from torch_geometric.data import Data

from epic import FeatureCost, UnitCost, edit_path
from epic.paths.interpolation import draw_steps, keep_a_node
from tests.sample_graphs import random_graph


def test_steps_are_uniform_and_leave_out_the_ends():
    rng = np.random.default_rng(4)
    ops = edit_path(random_graph(rng, 5), random_graph(rng, 7), UnitCost())._ops
    n = len(ops)
    generator = torch.Generator().manual_seed(0)
    drawn = np.concatenate([draw_steps(ops, generator) for _ in range(4000)])
    counts = np.bincount(drawn, minlength=n + 1)
    assert counts[0] == counts[n] == 0
    expected = 4000 / (n - 1)
    assert np.abs(counts[1:n] - expected).max() < 6 * expected**0.5


def test_the_last_node_is_kept():
    far, near = (Data(x=torch.tensor([[x]]), edge_index=torch.zeros(2, 0).long()) for x in (9.0, -9.0))
    ops = edit_path(far, near, FeatureCost(edit=0.1))._ops
    deleted = ops.source >= 0  # and nothing is inserted yet
    assert deleted.sum() == 1
    assert not keep_a_node(ops, deleted).any()
    assert (keep_a_node(ops, ~deleted) == ~deleted).all()
