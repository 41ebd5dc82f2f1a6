"""Reduced costs and their assignments against the prices they are made of, and against scipy pair by pair."""

import itertools

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment

from epic import FeatureCost, LearnedCost, UnitCost
from epic.data import lollipop
from epic.distance.pairs import embed_all, reduced_costs
from epic.graphs.convert import pack
from epic.graphs.ragged import offsets
from epic.matching.reduced import EuclideanReducedCosts, ReducedCosts
from epic.matching.types import NodeCosts
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
def test_pairs_are_assigned_by_what_prices_say(precision):
    for cost, graphs in costs():
        nodes = embed_all(cost, pack(graphs))
        h = nodes.embedding.to(precision) if nodes.embedding.is_floating_point() else nodes.embedding
        nodes = NodeCosts(h, nodes.deletion.to(precision), nodes.insertion.to(precision), nodes.ptr)
        reduced = reduced_costs(cost, source=nodes, target=nodes)
        first, second = np.array([0, 2, 3, 1, 4, 4]), np.array([2, 0, 3, 4, 1, 0])
        ptr = nodes.ptr.numpy()
        u, n, v, m = ptr[first], np.diff(ptr)[first], ptr[second], np.diff(ptr)[second]
        partner = reduced.assign(u=u, n=n, v=v, m=m)
        for p, at in enumerate(offsets(n)[:-1]):
            source, target = slice(u[p], u[p] + n[p]), slice(v[p], v[p] + m[p])
            prices = cost.substitution(nodes.embedding[source], nodes.embedding[target]).double()
            expected = (prices - nodes.deletion[source, None].double() - nodes.insertion[target].double()).numpy()
            close = 5e-3 if precision == torch.float32 else 1e-6
            assert reduced(source, target) == pytest.approx(expected, abs=close)
            best = np.minimum(expected, 0)
            found = partner[at : at + n[p]]
            kept = np.flatnonzero(found >= 0)
            assert len(set(found[kept])) == kept.size
            assert expected[kept, found[kept]].sum() == pytest.approx(
                best[linear_sum_assignment(best)].sum(), abs=close * 10
            )


def test_types_that_are_not_compiled_work_too():
    nodes = embed_all(FeatureCost(), pack([random_graph(np.random.default_rng(0), n) for n in (4, 3)]))
    where = {"u": np.array([0, 4]), "n": np.array([4, 3]), "v": np.array([4, 0]), "m": np.array([3, 4])}
    expected = EuclideanReducedCosts(nodes, nodes).assign(**where)
    half = NodeCosts(nodes.embedding.half(), nodes.deletion.half(), nodes.insertion.half(), nodes.ptr)
    mixed = NodeCosts(nodes.embedding.float(), nodes.deletion, nodes.insertion.repeat_interleave(2)[::2], nodes.ptr)
    for given in (half, mixed):
        assert EuclideanReducedCosts(given, given).assign(**where).tolist() == expected.tolist()


def test_blocks_of_all_shapes():
    table = np.array([[-1.0, -5.0, 2.0], [-4.0, -6.0, 0.0], [1.0, 1.0, 1.0]])
    n, m = np.array([2, 0, 1]), np.array([2, 3, 3])
    reduced = ReducedCosts(lambda u, v: table[u, v])
    partner = reduced.assign(u=np.array([0, 1, 2]), n=n, v=np.array([0, 0, 0]), m=m)
    assert partner.tolist() == [1, 0, -1]  # -5 - 4 beats -1 - 6; nothing in the last row saves


def test_two_graphs_cost_the_same_in_one_list_as_in_two():
    for cost, graphs in costs():
        for pair in itertools.pairwise(graphs):
            nodes = embed_all(cost, pack(pair))
            sides = [slice(u, v) for u, v in itertools.pairwise(nodes.ptr.tolist())]
            one, other = (
                NodeCosts(
                    nodes.embedding[s], nodes.deletion[s], nodes.insertion[s], torch.tensor([0, s.stop - s.start])
                )
                for s in sides
            )
            together = reduced_costs(cost, source=nodes, target=nodes)(*sides)
            apart = reduced_costs(cost, source=one, target=other)(slice(None), slice(None))
            assert np.array_equal(together, apart)
