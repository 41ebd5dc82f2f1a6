"""What numba compiles against its slower form: the same to the last bit, or results would depend on what is
installed.
"""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch

from epic import EPIC, FeatureCost, InputError, LearnedCost, UnitCost, fast
from epic.data import lollipop
from epic.messages import Groups
from epic.packing import _edge_offsets, pack
from tests.conftest import without_numba
from tests.graphs import random_graph

pytest.importorskip("numba", reason="needs numba: pip install 'epic-graph[fast]'")


def batch_of(seed, sizes, **options):
    rng = np.random.default_rng(seed)
    return Batch.from_data_list([random_graph(rng, n, y=k % 2, **options) for k, n in enumerate(sizes)])


@given(st.integers(0, 2**31), st.lists(st.integers(0, 7), min_size=1, max_size=6), st.booleans(), st.booleans())
def test_offsets_of_edges(seed, sizes, directed, shuffled):
    batch = batch_of(seed, sizes, directed=directed)
    edges = batch.edge_index
    if shuffled:
        edges = edges[:, torch.randperm(edges.shape[1], generator=torch.Generator().manual_seed(seed))]
    ours = _edge_offsets(edges, batch.ptr)
    with without_numba():
        theirs = _edge_offsets(edges, batch.ptr)
    assert torch.equal(ours[0], theirs[0])
    assert (ours[1] is None) == (theirs[1] is None)
    assert ours[1] is None or torch.equal(ours[1], theirs[1])


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize(
    ("edge", "message"),
    [([[0], [9]], "names node 9"), ([[9], [0]], "names node 9"), ([[-1], [0]], "names node"), ([[1], [3]], "joins")],
)
def test_edges_that_cannot_be(edge, message):
    with pytest.raises(InputError, match=message):
        _edge_offsets(torch.tensor(edge), torch.tensor([0, 3, 5]))


@pytest.mark.usefixtures("both_ways")
def test_edges_of_other_types_and_strides():
    batch = batch_of(0, [4, 0, 5])
    expected = _edge_offsets(batch.edge_index, batch.ptr)[0]
    for edges in (batch.edge_index.int(), batch.edge_index.t().contiguous().t()):
        assert torch.equal(_edge_offsets(edges, batch.ptr)[0], expected)
        batch.edge_index = edges
        packed = pack(batch)
        assert torch.equal(packed.select(torch.tensor([2, 0])).ptr, torch.tensor([0, 5, 9]))


@given(
    st.integers(0, 2**31), st.lists(st.integers(0, 6), min_size=1, max_size=5), st.lists(st.integers(0, 99), max_size=8)
)
def test_selected_graphs(seed, sizes, wanted):
    packed = pack(batch_of(seed, sizes))
    index = torch.tensor(wanted, dtype=torch.long) % len(sizes)
    ours = packed.select(index)
    with without_numba():
        theirs = packed.select(index)
    for name in ("ptr", "edge_ptr", "edge_index", "x", "edge_attr", "y"):
        assert torch.equal(getattr(ours, name), getattr(theirs, name)), name
    for at, g in enumerate(index.tolist()):
        assert torch.equal(ours.graph(at).edge_index, packed.graph(g).edge_index)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("number", [3, -4])
def test_there_is_no_such_graph(number):
    with pytest.raises(IndexError):
        pack(batch_of(0, [2, 3, 1])).select(torch.tensor([0, number]))


@given(st.lists(st.integers(0, 9), max_size=30), st.booleans())
def test_groups(elements, in_order):
    index = torch.tensor(sorted(elements) if in_order else elements, dtype=torch.long)
    ours = Groups(index, 10)
    with without_numba():
        theirs = Groups(index, 10)
    assert ours.ptr.tolist() == theirs.ptr.tolist() == np.searchsorted(np.sort(index.numpy()), np.arange(11)).tolist()
    assert ours.places.tolist() == theirs.places.tolist() == np.argsort(index.numpy(), kind="stable").tolist()
    assert (ours.order is None) == (theirs.order is None)


COSTS = {
    "unit": UnitCost(),
    "dear": FeatureCost(edit=0.01),  # nearly everything is deleted and inserted
    "feature": FeatureCost(edit=3.0),
    "free": FeatureCost(edit=1e-300),
}


@given(
    st.integers(0, 2**31),
    st.lists(st.integers(0, 8), min_size=2, max_size=6),
    st.sampled_from(sorted(COSTS)),
    st.booleans(),
    st.sampled_from([None, 0, 2]),
)
def test_graphs_half_way(seed, sizes, cost, directed, width):
    batch = batch_of(seed, sizes, directed=directed, loops=directed, edge_width=width)
    augment = EPIC(COSTS[cost], ratio=3, classes=2, degree_features=False)
    ours = augment(batch, seed)
    with without_numba():
        theirs = augment(batch, seed)
    assert ours.keys() == theirs.keys()
    for key in ours.keys():  # noqa: SIM118 (a Batch is no dict)
        assert torch.equal(ours[key], theirs[key]), key


@pytest.mark.parametrize("low", [0.0, 1 - 2**-53])
def test_keys_that_tie_or_round_up(monkeypatch, low):
    """Few different keys, and keys that with the number of their pair become that of the next."""

    def chances(count, generator):
        return (low + torch.randint(3, (count,), generator=generator) / 3).clamp(max=1 - 2**-53).double()

    monkeypatch.setattr("epic.path.halfway.chances", chances)
    monkeypatch.setattr("epic.path.orders.chances", chances)
    batch = batch_of(1, [9, 7, 12, 3, 8])
    augment = EPIC(UnitCost(), ratio=8, classes=2, degree_features=False)
    ours = augment(batch, 0)
    with without_numba():
        theirs = augment(batch, 0)
    assert torch.equal(ours.edge_index, theirs.edge_index)
    assert torch.equal(ours.x, theirs.x)
    assert torch.equal(ours.y, theirs.y)


def test_learned_costs_and_large_graphs():
    train = lollipop(60, seed=0)
    cost = LearnedCost().fit(train, epochs=1, progress=False, seed=0)
    augment = EPIC(cost, ratio=2, classes=4, degree_features=False)
    batch = Batch.from_data_list([train[i] for i in range(12)])
    ours = augment(batch, 5)
    with without_numba():
        theirs = augment(batch, 5)
    assert torch.equal(ours.edge_index, theirs.edge_index)
    assert torch.equal(ours.y, theirs.y)
    large = batch_of(0, [70, 110, 5])
    augment = EPIC(UnitCost(), ratio=2, classes=2, degree_features=False)
    ours = augment(large, 5)
    with without_numba():
        theirs = augment(large, 5)
    assert torch.equal(ours.edge_index, theirs.edge_index)


def test_it_is_used_where_it_is_there():
    from epic.assignment import compiled

    assert fast.compiled("assignment.compiled", "solve") is compiled.solve


def test_without_a_folder_to_keep_it_in_it_is_compiled_anew(monkeypatch):
    tried = []

    def njit(signatures, cache=False, **options):
        tried.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr("numba.njit", njit)
    assert fast.fast("void()")(len) is len
    assert tried == [True, False]
