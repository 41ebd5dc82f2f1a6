"""ReducedCosts of many pairs at once against those of single pairs and of the prices they are made of."""

import numpy as np
import pytest
import torch

from epic import FeatureCost, LearnedCost, UnitCost
from epic.data import lollipop
from epic.graphs.convert import pack
from epic.graphs.ragged import offsets
from epic.matching import euclidean
from epic.matching.reduced import ReducedCosts
from tests.sample_graphs import random_graph


def costs():
    rng = np.random.default_rng(0)
    for kind in ("float", "int"):
        graphs = [random_graph(rng, n, x=kind) for n in (5, 1, 8, 3, 6)]
        yield UnitCost(), graphs
        yield FeatureCost(), graphs
    some = lollipop(24, seed=0)
    yield LearnedCost().fit(some, epochs=1, progress=False), [some[i] for i in range(5)]


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
@pytest.mark.usefixtures("both_ways")
def test_stacked_blocks_are_the_single_ones(precision):
    for cost, graphs in costs():
        nodes = cost.measure(pack(graphs))
        if precision == torch.float32:
            vectors = nodes.embedding.float() if nodes.embedding.is_floating_point() else nodes.embedding
            nodes = type(nodes)(vectors, nodes.deletion.float(), nodes.insertion.float(), nodes.ptr)
        gain = cost.gains(nodes, nodes)
        first, second = np.array([0, 2, 3, 1, 4, 4]), np.array([2, 0, 3, 4, 1, 0])
        ptr = nodes.ptr.numpy()
        u, n, v, m = ptr[first], np.diff(ptr)[first], ptr[second], np.diff(ptr)[second]
        field = gain.stacked(u, n, v, m)
        for p, at in enumerate(offsets(n)[:-1]):
            source, target = slice(u[p], u[p] + n[p]), slice(v[p], v[p] + m[p])
            block = field[at : at + n[p], : m[p]]
            assert (block == gain(source, target)).all()  # to the last digit
            swap = cost.substitution(nodes.embedding[source], nodes.embedding[target]).double()
            expected = swap - nodes.deletion[source, None].double() - nodes.insertion[target].double()
            assert block == pytest.approx(expected.numpy(), abs=5e-3 if precision == torch.float32 else 1e-6)


def test_types_that_are_not_compiled_work_too():
    nodes = FeatureCost().measure(pack([random_graph(np.random.default_rng(0), n) for n in (4, 3)]))
    half = type(nodes)(nodes.embedding.half(), nodes.deletion.half(), nodes.insertion.half(), nodes.ptr)
    mixed = type(nodes)(nodes.embedding.float(), nodes.deletion, nodes.insertion.repeat_interleave(2)[::2], nodes.ptr)
    for given in (half, mixed):
        gain = euclidean.EuclideanReducedCosts(given, given)
        field = gain.stacked(np.array([0, 4]), np.array([4, 3]), np.array([4, 0]), np.array([3, 4]))
        assert (field[:4, :3] == gain(slice(0, 4), slice(4, 7))).all()
        assert (field[4:, :] == gain(slice(4, 7), slice(0, 4))).all()


def test_blocks_of_all_shapes_fit_below_each_other():
    table = np.arange(30.0).reshape(5, 6)
    n, m = np.array([2, 0, 3]), np.array([1, 6, 4])
    field = ReducedCosts(lambda u, v: table[u, v]).stacked(np.array([0, 1, 2]), n, np.array([5, 0, 1]), m)
    assert field.shape == (5, 6)
    assert field[:2, 0].tolist() == [5.0, 11.0]
    assert field[2:, :4].tolist() == table[2:5, 1:5].tolist()
