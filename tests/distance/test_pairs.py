import numpy as np
import pytest
import torch
from torch.autograd import forward_ad

from epic import FeatureCost, UnitCost
from epic.distance.pairs import Pairs, assign_pairs, embed_all, operation_costs
from epic.graphs.convert import pack
from epic.matching.types import NodeCosts
from tests.graphs.test_packed import batch_of


def pair(nodes):
    return Pairs(FeatureCost(), source=nodes, target=nodes, i=torch.tensor([0]), j=torch.tensor([1]))


@pytest.mark.usefixtures("both_ways")
def test_assignments_of_other_graphs_are_refused():
    few, many = (embed_all(FeatureCost(), pack(batch_of(0, sizes))) for sizes in ([2, 2], [9, 9]))
    with pytest.raises(IndexError):
        operation_costs(pair(few), assign_pairs(pair(many)))


@pytest.mark.usefixtures("both_ways")
def test_short_integers_as_offsets():
    batch = batch_of(0, [4, 3])
    expected = [cost.distances(batch, progress=False) for cost in (UnitCost(), FeatureCost())]
    batch.ptr = batch.ptr.int()
    for cost, distances in zip((UnitCost(), FeatureCost()), expected, strict=True):
        assert torch.equal(cost.distances(batch, progress=False), distances)


def test_derivatives_forward():
    nodes = embed_all(FeatureCost(), pack(batch_of(0, [4, 3])))
    assignment = assign_pairs(pair(nodes))
    tangent = torch.ones_like(nodes.embedding).cumsum(0)

    def distance(embedding):
        given = NodeCosts(embedding, nodes.deletion, nodes.insertion, nodes.ptr)
        return operation_costs(pair(given), assignment).distance

    leaf = nodes.embedding.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(distance(leaf).sum(), leaf)
    expected = float((gradient * tangent).sum())
    with forward_ad.dual_level():
        found = forward_ad.unpack_dual(distance(forward_ad.make_dual(nodes.embedding, tangent))).tangent
    assert expected != 0
    assert float(found) == pytest.approx(expected)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1.0])
def test_float32_costs_are_checked_without_a_warning(bad):
    """NumPy 2 warned of an overflow, and the check behind it was void."""
    from epic import InputError
    from epic.matching.exact import assign_blocks

    field = np.full((2, 2), -1.0, dtype=np.float32)
    field[1, 1] = bad
    zero, two = np.array([0]), np.array([2])
    if bad == 1.0:
        assert sorted(assign_blocks(field, top=zero, left=zero, rows=two, columns=two)) == [0, 1]
    else:
        with pytest.raises(InputError, match="pair 0 hold NaN or infinity"):
            assign_blocks(field, top=zero, left=zero, rows=two, columns=two)
