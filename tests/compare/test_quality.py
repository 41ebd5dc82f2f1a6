import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from epic import EPIC, FeatureCost, InputError, LearnedCost, UnitCost
from epic.augment import DropEdge, GEDMixup, MotifSwap, Vanilla
from epic.augment.base import Augmentation
from epic.compare.quality import (
    Sample,
    components,
    interpolation_error,
    isolated,
    quality,
    quality_of_originals,
    row,
    sample,
    valid,
)
from epic.data.lollipop import lollipop
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs, join
from epic.labels import mix
from epic.testing import random_graphs as graphs
from tests.augment.slow import SlowAtFirst
from tests.augment.test_pool import Crossed


def bare(*labels):
    return Data(x=torch.eye(4)[list(labels)], edge_index=torch.zeros(2, 0).long(), y=torch.tensor([0]))


def test_error_by_hand():
    """From 0000 to 1111 the distance is 4. 0111 is 3 from the first and 1 from the second."""
    ends = pack([bare(0, 0, 0, 0), bare(1, 1, 1, 1)])
    between = pack([bare(0, 1, 1, 1), bare(0, 1, 1, 1), bare(2, 2, 2, 2), bare(0, 0, 0, 0)])
    share = torch.tensor([[0.25, 0.75], [0.5, 0.5], [0.5, 0.5], [1.0, 0.0]])
    error = interpolation_error(Sample(ends, between, share, 0.0), UnitCost())
    # The last is no mix. The third lies 4 from both, where its label claims 2 and 2.
    assert error.tolist() == pytest.approx([0.0, 0.5, 1.0])


def test_error_leaves_out_originals_that_do_not_differ():
    ends = pack([bare(0, 1), bare(1, 0), bare(3, 3)])
    share = torch.tensor([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    between = pack([bare(0, 1), bare(0, 3)])
    assert interpolation_error(Sample(ends, between, share, 0.0), UnitCost()).tolist() == [0.0]


def test_error_leaves_out_originals_that_differ_by_rounding_only():
    """The same graph numbered otherwise is not quite at learned distance zero."""
    first, *others = lollipop(30, seed=0)
    order = torch.randperm(first.num_nodes, generator=torch.Generator().manual_seed(0))
    turned = Data(edge_index=order.argsort()[first.edge_index], num_nodes=first.num_nodes, head=first.head[order])
    turned.y = first.y
    cost = LearnedCost(hidden_channels=8).fit([first, *others], epochs=1, progress=False)
    ends = pack([first, turned, next(g for g in others if g.num_nodes != first.num_nodes)])
    share = torch.tensor([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    assert interpolation_error(Sample(ends, pack([others[0], others[1]]), share, 0.0), cost).numel() == 1


def test_error_against_distances_one_by_one():
    data = pack(graphs(10, x="onehot"))
    found = sample(GEDMixup(num_classes=3), data, count=10, seed=1)
    cost, slow = FeatureCost(edit=0.7), []
    for g, shares in enumerate(found.origin):
        parents = shares.nonzero()[:, 0].tolist()
        if len(parents) == 2:
            one, two, made = found.originals.graph(parents[0]), found.originals.graph(parents[1]), found.made.graph(g)
            whole, w = cost.distance(one, two), float(shares[parents[1]])
            error = abs(cost.distance(one, made) - w * whole) + abs(cost.distance(made, two) - (1 - w) * whole)
            slow.append(error / whole)
    assert len(slow) > 3
    assert interpolation_error(found, cost).tolist() == pytest.approx(slow, abs=1e-5)


@pytest.mark.parametrize("kind", [{}, {"x": "onehot"}, {"x": "int", "directed": True}, {"density": 0.05}])
def test_epic_at_unit_cost_has_no_error_in_the_unit_distance(kind):
    data = pack(graphs(40, **kind))
    found = quality(EPIC(UnitCost()).fit(data), data, costs={"unit": UnitCost(), "feature": FeatureCost()}, count=40)
    assert found.mixed > 20
    assert found.interpolation["unit"] < 1e-6
    if kind:  # where all features differ, nodes are matched at random
        assert found.interpolation["feature"] >= 0
    else:
        assert found.interpolation["feature"] > 0.05


def test_epic_at_learned_cost_has_an_error_since_embeddings_see_their_surroundings():
    data = pack(lollipop(60, seed=0))
    cost = LearnedCost(hidden_channels=8).fit(data, epochs=2, progress=False)
    found = quality(EPIC(cost, seed=0).fit(data), data, costs={"learned": cost}, count=60)
    assert 0.001 < found.interpolation["learned"] < 3


@pytest.mark.parametrize("method", [EPIC(UnitCost(), num_classes=3), GEDMixup(num_classes=3)])
def test_origin_is_what_labels_are_mixed_from(method):
    data = pack(graphs(12))
    for seed in range(3):
        found = sample(method, data, count=12, seed=seed)
        assert found.origin.shape == (12, 12)
        assert torch.allclose(found.origin @ torch.eye(3)[found.originals.y], found.made.y, atol=1e-6)
        assert ((found.origin > 0).sum(1) == 2).sum() > 3
        again = sample(method, data, count=12, seed=seed)
        assert torch.equal(again.origin, found.origin)
        assert torch.equal(again.made.edge_index, found.made.edge_index)


def test_mixtures_of_a_pool_are_of_all_graphs():
    """Sources lie anywhere in the training graphs, not in one batch; graphs that fit did not see have no share."""
    data = pack(graphs(150))
    method = Crossed(seed=0).fit(data, progress=False)
    found = sample(method, data, count=140, seed=1)
    assert found.origin.shape == (140, 150)
    assert torch.allclose(found.origin.float() @ torch.eye(3)[data.y], found.made.y, atol=1e-6)
    assert found.milliseconds == method.milliseconds_ > 0
    assert quality(method, data, costs={"unit": UnitCost()}, count=140).mixed > 100
    assert sample(method, data[:100], count=50).origin is None


def test_origin_of_perturbed_graphs_is_one_graph():
    data = pack(graphs(12, x="onehot"))
    for method in (DropEdge(num_classes=3), MotifSwap(ratio=1).fit(data)):
        found = sample(method, data, count=12)
        assert torch.equal(found.origin.max(1).values, torch.ones(12))
        parent = found.originals.select(found.origin.argmax(1))
        assert torch.equal(parent.x, found.made.x)
        assert quality(method, data, costs={"unit": UnitCost()}, count=12).interpolation == {"unit": None}


def test_origin_is_not_claimed_where_pairs_go_by_label():
    assert sample(EPIC(UnitCost(), pairs="same", num_classes=3), pack(graphs(12)), count=12).origin is None


class Foreign(Augmentation):
    """Graphs whose labels have nothing to do with those of the batch."""

    def augment_graphs(self, graphs, picked, generator):
        return PackedGraphs(
            graphs.ptr,
            graphs.edge_ptr,
            graphs.edge_index,
            graphs.node,
            graphs.edge,
            torch.full((len(graphs), 3), 1 / 3),
        )


def test_labels_from_elsewhere_have_no_origin():
    data = pack(graphs(12))
    found = quality(Foreign(num_classes=3), data, costs={"unit": UnitCost()}, count=12)
    assert found.interpolation == {"unit": None}
    assert found.disconnected == pytest.approx((components(data) > 1).mean())


class Halves(Augmentation):
    """Takes away all edges; labels are mixed half and half with the next graph's."""

    def augment_graphs(self, graphs, picked, generator):
        half = torch.full((len(graphs),), 0.5)
        y = mix(graphs.y, target=graphs.y.roll(1, 0), share=half)
        return PackedGraphs(graphs.ptr, torch.zeros_like(graphs.edge_ptr), graphs.edge_index[:, :0], {}, {}, y)


def test_disconnected_counts_graphs_whose_originals_are_connected():
    edge = torch.tensor([[0, 1], [1, 0]])
    whole, apart = (Data(edge_index=e, num_nodes=2, y=torch.tensor([0])) for e in (edge, edge[:, :0]))
    single = Data(edge_index=edge[:, :0], num_nodes=1, y=torch.tensor([0]))
    assert quality(Halves(num_classes=2), pack([whole] * 4 + [single] * 4), count=8, seed=3).disconnected == 0.5
    assert quality(Halves(num_classes=2), pack([apart] * 4), count=4).disconnected is None
    first = quality_of_originals(pack([whole, apart, single, single]), count=4)
    assert first.disconnected == 0.25
    assert first.isolated == pytest.approx(4 / 6)


def test_components_and_isolated_nodes_against_networkx():
    data = graphs(20, density=0.08, directed=True, loops=True)
    assert components(pack(data)).tolist() == [nx.number_weakly_connected_components(to_networkx(g)) for g in data]
    nets = [nx.Graph(to_networkx(g)) for g in data]
    for net in nets:
        net.remove_edges_from(list(nx.selfloop_edges(net)))
    lone = sum(nx.number_of_isolates(net) for net in nets)
    assert isolated(pack(data)) == pytest.approx(lone / sum(len(net) for net in nets))


def test_valid_molecules():
    pytest.importorskip("rdkit")
    from epic.data.chemistry import Chemistry

    chemistry = Chemistry(("C", "F"))

    def star(leaves):
        edges = torch.tensor([[0] * leaves, range(1, leaves + 1)])
        x = torch.eye(2)[[0] + [1] * leaves]
        return Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], 1), y=torch.tensor([0]))

    molecules = pack([star(4), star(2)])
    made = pack([star(4), star(5), star(1), star(3)])  # five bonds are too many for carbon
    assert valid(made, chemistry=chemistry, like=molecules) == 0.75
    assert valid(made, like=made) is None
    blurred = PackedGraphs(made.ptr, made.edge_ptr, made.edge_index, {"x": made.x * 0.5}, {}, made.y)
    assert valid(blurred, chemistry=chemistry, like=molecules) == 0.0


def test_methods_that_make_no_graphs():
    data = pack(graphs(12))
    with pytest.raises(InputError, match="Vanilla makes no graphs"):
        quality(Vanilla(num_classes=3), data)
    only = pack(graphs(12, num_classes=1))
    none = quality(EPIC(UnitCost(), pairs="different", num_classes=2), only, costs={"unit": UnitCost()})
    assert row("x", none, ["unit"]) == ["x", "-", "-", "-", "-", "-"]


def test_a_large_sample_is_made_in_batches():
    data = join([pack(graphs(100, seed=s, edge_width=None)) for s in range(2)])
    found = sample(EPIC(UnitCost(), num_classes=3), data, count=129)
    assert len(found.made) == len(found.originals) == 129
    parents = found.origin > 0
    assert not parents[:65, 65:].any()
    assert not parents[65:, :65].any()
    assert np.isfinite(found.milliseconds)


def test_the_first_call_is_not_timed():
    data = pack(graphs(12))
    method = SlowAtFirst(num_classes=3)
    found = sample(method, data, count=12)
    assert not method.fresh
    assert found.milliseconds < 1000 * SlowAtFirst.seconds / 12
    assert torch.equal(found.made.edge_index, sample(DropEdge(num_classes=3), data, count=12).made.edge_index)


def test_seeds_are_those_of_the_library():
    """None draws afresh; a generator is drawn from."""
    data, method = pack(graphs(40)), DropEdge(num_classes=3)
    made = [sample(method, data, count=20, seed=seed).made.edge_index for seed in (None, None, 0, 0)]
    assert not torch.equal(made[0], made[1])
    assert torch.equal(made[2], made[3])
    by_generator = [sample(method, data, count=20, seed=torch.Generator().manual_seed(1)).made for _ in range(2)]
    assert torch.equal(by_generator[0].edge_index, by_generator[1].edge_index)
