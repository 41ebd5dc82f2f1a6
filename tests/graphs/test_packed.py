"""Packed graphs against PyG's own batches."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch

from epic import InputError
from epic.graphs.convert import pack
from epic.graphs.packed import join
from tests.sample_graphs import random_graph


def batch_of(seed, sizes, **options):
    rng = np.random.default_rng(seed)
    return Batch.from_data_list([random_graph(rng, n, y=k % 2, **options) for k, n in enumerate(sizes)])


def same(one, other):
    for name in ("edge_index", "x", "edge_attr", "y"):
        assert torch.equal(one[name], other[name]), name


@given(st.integers(0, 2**31), st.lists(st.integers(0, 7), min_size=1, max_size=6), st.booleans())
def test_edges_shuffled_across_graphs_are_sorted(seed, sizes, directed):
    batch = batch_of(seed, sizes, directed=directed)
    order = torch.randperm(batch.edge_index.shape[1], generator=torch.Generator().manual_seed(seed))
    expected = pack(batch)
    batch.edge_index, batch.edge_attr = batch.edge_index[:, order], batch.edge_attr[order]
    found = pack(batch)
    assert torch.equal(found.edge_ptr, expected.edge_ptr)
    for one, other in zip(found, expected, strict=True):
        edges = [sorted(map(tuple, torch.cat([g.edge_index.T, g.edge_attr], 1).tolist())) for g in (one, other)]
        assert edges[0] == edges[1]


@pytest.mark.parametrize(
    ("edge", "message"),
    [([[0], [9]], "names node 9"), ([[9], [0]], "names node 9"), ([[-1], [0]], "names node"), ([[1], [3]], "joins")],
)
def test_edges_that_cannot_be(edge, message):
    batch = batch_of(0, [3, 2])
    batch.edge_index = torch.tensor(edge)
    del batch.edge_attr
    with pytest.raises(InputError, match=message):
        pack(batch)


def test_edges_of_other_types_and_strides():
    batch = batch_of(0, [4, 0, 5])
    for edges in (batch.edge_index.int(), batch.edge_index.t().contiguous().t()):
        batch.edge_index = edges
        assert pack(batch).select(torch.tensor([2, 0])).ptr.tolist() == [0, 5, 9]


@given(
    st.integers(0, 2**31), st.lists(st.integers(0, 6), min_size=1, max_size=5), st.lists(st.integers(0, 99), max_size=8)
)
def test_selected_graphs(seed, sizes, wanted):
    batch = batch_of(seed, sizes)
    index = torch.tensor(wanted, dtype=torch.long) % len(sizes)
    found = pack(batch).select(index)
    for at, g in enumerate(index.tolist()):
        same(found[at], batch[g])


@pytest.mark.parametrize("number", [3, -4])
def test_there_is_no_such_graph(number):
    with pytest.raises(IndexError):
        pack(batch_of(0, [2, 3, 1])).select(torch.tensor([0, number]))


@given(st.integers(0, 2**31), st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=4), min_size=1, max_size=3))
def test_joined(seed, sizes):
    batches = [batch_of(seed + k, some) for k, some in enumerate(sizes)]
    graphs = [g for b in batches for g in b.to_data_list()]
    found = join([pack(b) for b in batches])
    for one, other in zip(found, graphs, strict=True):
        same(one, other)
    whole = found.to_batch()
    assert torch.equal(whole.batch, Batch.from_data_list(graphs).batch)
    for one, other in itertools.zip_longest(whole.to_data_list(), graphs):
        same(one, other)


@pytest.mark.parametrize("index", [[True, False, True], [0.9, 2.0], 1, [[1]]])
def test_what_is_no_list_of_numbers(index):
    with pytest.raises(InputError, match="by a list of their numbers"):
        pack(batch_of(0, [4, 3, 5])).select(torch.tensor(index))


def test_numbers_of_graphs_in_any_form():
    packed = pack(batch_of(0, [4, 3, 5]))
    for index in ([2, 0], np.array([2, 0]), torch.tensor([2, 0], dtype=torch.int32), torch.tensor([2, 9, 0])[::2]):
        assert packed.select(index).sizes.tolist() == [5, 4]


def test_inside_function_transforms():
    packed = pack(batch_of(0, [4, 3]))

    def total(x):
        part = replace(packed, node={"x": x}).select(torch.arange(2).flip(0))
        return (part.x.sum(1) * part.graph_of_node).sum()

    assert torch.func.grad(total)(packed.x)[:, 0].tolist() == [1.0] * 4 + [0.0] * 3


@pytest.mark.parametrize(
    ("at", "numbers"),
    [
        (slice(None, None, -1), [2, 1, 0]),
        ([2, 0], [2, 0]),
        ((1,), [1]),
        ([], []),
        (torch.tensor([1, 1]), [1, 1]),
        (torch.tensor([True, False, True]), [0, 2]),
        (np.array([-1]), [2]),
    ],
    ids=str,
)
def test_graphs_are_chosen_as_in_pyg(at, numbers):
    packed = pack(batch_of(0, [2, 3, 4]))
    assert packed[at].sizes.tolist() == [packed[n].num_nodes for n in numbers]
    for wrong in (3, [3], torch.tensor([True])):
        with pytest.raises(IndexError):
            packed[wrong]
