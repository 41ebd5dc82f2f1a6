"""What numba compiles against its slower form: the same to the last bit, or results would depend on what is
installed.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import forward_ad
from torch_geometric.data import Batch

from epic import EPIC, FeatureCost, InputError, LearnedCost, UnitCost
from epic._kernels import backend as fast
from epic.data import lollipop
from epic.graphs.convert import _edge_offsets, pack
from epic.graphs.packed import join
from epic.labels import mix, soft_labels
from epic.nn.messages import Segments
from tests.conftest import without_numba
from tests.sample_graphs import random_graph

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
    ours = Segments(index, 10)
    with without_numba():
        theirs = Segments(index, 10)
    assert ours.ptr.tolist() == theirs.ptr.tolist() == np.searchsorted(np.sort(index.numpy()), np.arange(11)).tolist()
    assert ours.places.tolist() == theirs.places.tolist() == np.argsort(index.numpy(), kind="stable").tolist()
    assert (ours.order is None) == (theirs.order is None)


@given(st.integers(0, 2**31), st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=4), min_size=1, max_size=3))
def test_packs_end_to_end(seed, sizes):
    packs = [pack(batch_of(seed + k, some)) for k, some in enumerate(sizes)]
    ours = join(packs)
    with without_numba():
        theirs = join(packs)
    for name in ("ptr", "edge_ptr", "edge_index", "x", "edge_attr", "y"):
        assert torch.equal(getattr(ours, name), getattr(theirs, name)), name
    for found, graph in zip(ours, itertools.chain(*packs), strict=True):
        assert torch.equal(found.edge_index, graph.edge_index)
        assert torch.equal(found.x, graph.x)


@given(st.lists(st.integers(-1, 4), max_size=6), st.sampled_from([torch.long, torch.int, torch.int16]))
def test_labels_of_classes(num_classes, kind):
    y = torch.tensor(num_classes, dtype=kind)

    def labels():
        try:
            return soft_labels(y, 4).tolist()
        except InputError as error:
            return str(error)

    ours = labels()
    with without_numba():
        assert labels() == ours
    if all(0 <= c < 4 for c in num_classes):
        assert ours == np.eye(4)[num_classes].tolist() if num_classes else ours == []
    else:
        assert "class index" in ours


@given(
    st.integers(0, 2**31),
    st.lists(st.sampled_from([0.0, 1.0, 0.3, 1 - 1e-12]), max_size=5),
    st.sampled_from([torch.float, torch.double]),
)
def test_mixed_labels(seed, share, precision):
    generator = torch.Generator().manual_seed(seed)
    source, target = (torch.rand(len(share), 3, generator=generator, dtype=precision) for _ in range(2))
    source[1:2, 0] = target[2:3, 1] = torch.nan
    ours = mix(source, target, torch.tensor(share, dtype=torch.double))
    with without_numba():
        theirs = mix(source, target, torch.tensor(share, dtype=torch.double))
    assert ours.dtype == theirs.dtype == precision
    assert torch.equal(ours.nan_to_num(nan=-1), theirs.nan_to_num(nan=-1))
    for row, w in enumerate(share):
        if w in (0, 1):
            end = (source, target)[int(w)][row]
            assert torch.equal(ours[row].nan_to_num(nan=-1), end.nan_to_num(nan=-1))


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
    augment = EPIC(COSTS[cost], ratio=3, num_classes=2, degree_features=False)
    ours = augment(batch, seed)
    with without_numba():
        theirs = augment(batch, seed)
    assert ours.keys() == theirs.keys()
    for key in ours.keys():  # noqa: SIM118 (a Batch is no dict)
        assert torch.equal(ours[key], theirs[key]), key


@pytest.mark.parametrize(("low", "step"), [(0.0, 1 / 3), (1 - 3 * 2**-53, 2**-53)])
def test_keys_that_tie_or_round_up(monkeypatch, low, step):
    """Few different keys, and keys that with the number of their pair become that of the next."""

    def uniform(count, generator):
        return low + torch.randint(3, (count,), generator=generator).double() * step

    monkeypatch.setattr("epic.paths.interpolation.uniform", uniform)
    monkeypatch.setattr("epic.paths.orders.uniform", uniform)
    batch = batch_of(1, [9, 7, 12, 3, 8])
    augment = EPIC(UnitCost(), ratio=8, num_classes=2, degree_features=False)
    ours = augment(batch, 0)
    with without_numba():
        theirs = augment(batch, 0)
    assert torch.equal(ours.edge_index, theirs.edge_index)
    assert torch.equal(ours.x, theirs.x)
    assert torch.equal(ours.y, theirs.y)


def test_learned_costs_and_large_graphs():
    train = lollipop(60, seed=0)
    cost = LearnedCost().fit(train, epochs=1, progress=False, seed=0)
    augment = EPIC(cost, ratio=2, num_classes=4, degree_features=False)
    batch = Batch.from_data_list([train[i] for i in range(12)])
    ours = augment(batch, 5)
    with without_numba():
        theirs = augment(batch, 5)
    assert torch.equal(ours.edge_index, theirs.edge_index)
    assert torch.equal(ours.y, theirs.y)
    large = batch_of(0, [70, 110, 5])
    augment = EPIC(UnitCost(), ratio=2, num_classes=2, degree_features=False)
    ours = augment(large, 5)
    with without_numba():
        theirs = augment(large, 5)
    assert torch.equal(ours.edge_index, theirs.edge_index)


@pytest.mark.usefixtures("both_ways")
class TestWhatDoesNotFit:
    """Refused, with and without numba: compiled loops look at memory without asking."""

    def graphs(self, **changes):
        return replace(pack(batch_of(0, [4, 3, 5])), **changes)

    @pytest.mark.parametrize("ptr", [[0, 3_000_000, 3], [-3, 0, 3], [2, 3, 3]])
    def test_offsets_of_a_batch(self, ptr):
        batch = batch_of(0, [2, 1])
        batch.ptr = torch.tensor(ptr)
        with pytest.raises((InputError, RuntimeError, IndexError)):
            EPIC(UnitCost(), ratio=1, num_classes=2, degree_features=False)(batch, 0)

    @pytest.mark.parametrize(
        "changes", [{"edge_ptr": [0, 2, 3, 10**6]}, {"edge_ptr": [0, 2]}, {"ptr": [0, 10**6, 7, 12]}, {"ptr": [0, 4]}]
    )
    def test_offsets_of_a_pack(self, changes):
        broken = self.graphs(**{name: torch.tensor(value) for name, value in changes.items()})
        with pytest.raises((RuntimeError, IndexError)):
            broken.select(torch.tensor([0, 2, 1]))

    @pytest.mark.parametrize("node", [10**9, -(10**9)])
    def test_edges_of_a_pack(self, node):
        graphs = self.graphs()
        edges = graphs.edge_index.clone()
        edges[1, :] = node
        with pytest.raises(IndexError):
            EPIC(UnitCost(), ratio=4, num_classes=2, degree_features=False)(replace(graphs, edge_index=edges), 0)

    @pytest.mark.parametrize("index", [[True, False, True], [0.9, 2.0], 1, [[1]]])
    def test_what_is_no_list_of_numbers(self, index):
        with pytest.raises(InputError, match="by a list of their numbers"):
            self.graphs().select(torch.tensor(index))

    def test_matches_of_other_graphs(self):
        few, many = (FeatureCost().measure(pack(batch_of(0, sizes))) for sizes in ([2, 2], [9, 9]))
        pair = torch.tensor([0]), torch.tensor([1])
        with pytest.raises(IndexError):
            FeatureCost().price(few, few, FeatureCost().match(many, many, *pair))


@pytest.mark.usefixtures("both_ways")
def test_numbers_of_graphs_in_any_form():
    packed = pack(batch_of(0, [4, 3, 5]))
    for index in ([2, 0], np.array([2, 0]), torch.tensor([2, 0], dtype=torch.int32), torch.tensor([2, 9, 0])[::2]):
        assert packed.select(index).sizes.tolist() == [5, 4]


@pytest.mark.usefixtures("both_ways")
def test_short_integers_as_offsets():
    batch = batch_of(0, [4, 3])
    expected = [cost.distances(batch, progress=False) for cost in (UnitCost(), FeatureCost())]
    batch.ptr = batch.ptr.int()
    assert [
        torch.equal(cost.distances(batch, progress=False), e)
        for cost, e in zip((UnitCost(), FeatureCost()), expected, strict=True)
    ] == [True, True]


@pytest.mark.usefixtures("both_ways")
def test_derivatives_forward():
    nodes = FeatureCost().measure(pack(batch_of(0, [4, 3])))
    matches = FeatureCost().match(nodes, nodes, torch.tensor([0]), torch.tensor([1]))
    tangent = torch.ones_like(nodes.embedding).cumsum(0)

    def distance(embedding):
        given = replace(nodes, embedding=embedding)
        return FeatureCost().price(given, given, matches).distance

    leaf = nodes.embedding.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(distance(leaf).sum(), leaf)
    expected = float((gradient * tangent).sum())
    with forward_ad.dual_level():
        found = forward_ad.unpack_dual(distance(forward_ad.make_dual(nodes.embedding, tangent))).tangent
    assert expected != 0
    assert float(found) == pytest.approx(expected)
    assert float(torch.func.jvp(distance, (nodes.embedding,), (tangent,))[1]) == pytest.approx(expected)


@pytest.mark.usefixtures("both_ways")
def test_inside_function_transforms():
    packed = pack(batch_of(0, [4, 3]))

    def total(x):
        part = replace(packed, node={"x": x}).select(torch.arange(2).flip(0))
        return (part.x.sum(1) * part.graph_of_node).sum()

    assert torch.func.grad(total)(packed.x)[:, 0].tolist() == [1.0] * 4 + [0.0] * 3


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
