"""Which operations are done in the middle of a path (the graphs themselves: test_edit_path.py)."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from epic import FeatureCost, LearnedCost, UnitCost, edit_path
from epic.data import lollipop
from epic.graphs.convert import pack
from epic.paths.interpolation import interpolate_pairs, keep_a_node, sample_step
from tests.conftest import without_numba
from tests.graphs.test_packed import batch_of
from tests.sample_graphs import random_graph

COSTS = {
    "unit": UnitCost(),
    "dear": FeatureCost(edit=0.01),  # nearly everything is deleted and inserted
    "feature": FeatureCost(edit=3.0),
    "free": FeatureCost(edit=1e-300),
}


def test_steps_are_uniform_and_leave_out_the_ends():
    rng = np.random.default_rng(4)
    path = edit_path(random_graph(rng, 5), random_graph(rng, 7), UnitCost())
    n, generator = len(path), torch.Generator().manual_seed(0)
    drawn = [sample_step(path._ops, "random", generator).sum() for _ in range(4000)]
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


def alike(graphs, cost, seed):
    """The same graphs and shares with and without numba."""
    generator = torch.Generator().manual_seed(seed)
    i = torch.randint(len(graphs), (12,), generator=generator)
    j = (i + 1 + torch.randint(len(graphs) - 1, (12,), generator=generator)) % len(graphs)
    made = []
    for switch in (None, without_numba):
        draw = torch.Generator().manual_seed(seed)
        if switch is None:
            made.append(interpolate_pairs(graphs, i=i, j=j, cost=cost, order="random", generator=draw))
        else:
            with switch():
                made.append(interpolate_pairs(graphs, i=i, j=j, cost=cost, order="random", generator=draw))
    (ours, share), (theirs, other) = made
    for name in ("ptr", "edge_ptr", "edge_index"):
        assert torch.equal(getattr(ours, name), getattr(theirs, name)), name
    for name, value in {**ours.node, **ours.edge}.items():
        assert torch.equal(value, {**theirs.node, **theirs.edge}[name]), name
    assert share == pytest.approx(other, rel=1e-6)
    return ours, share


@settings(max_examples=50)
@given(
    st.integers(0, 2**31),
    st.lists(st.integers(0, 8), min_size=2, max_size=6),
    st.sampled_from(sorted(COSTS)),
    st.booleans(),
)
def test_graphs_with_and_without_numba(seed, sizes, cost, directed):
    alike(pack(batch_of(seed, sizes, directed=directed, loops=directed)), COSTS[cost], seed)


def test_learned_costs_and_large_graphs_with_and_without_numba():
    train = lollipop(60, seed=0)
    cost = LearnedCost().fit(train, epochs=1, progress=False, seed=0)
    made, share = alike(pack([train[i] for i in range(12)]), cost, 5)
    assert len(made) == 12
    assert ((share >= 0) & (share <= 1)).all()
    assert len(set(share.tolist())) > 6
    alike(pack(batch_of(0, [70, 110, 5])), UnitCost(), 5)
