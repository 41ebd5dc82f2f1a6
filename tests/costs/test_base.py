"""Distances, matrices and neighbours, for every cost."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from epic import FeatureCost, InputError, LearnedCost, UnitCost, edit_path
from epic.costs import NodeCosts
from epic.distance.pairs import Pairs, assign_pairs, embed_all, node_distances, soft_distances
from epic.graphs.convert import pack
from tests.matching.test_exact import full_problem
from tests.paths.test_edit_path import NoiseCost
from tests.sample_graphs import random_graph


def mixed(count=14, seed=0, **kind):
    rng = np.random.default_rng(seed)
    return [random_graph(rng, rng.integers(0, 12), y=[i % 2], **kind) for i in range(count)]


@pytest.fixture(scope="module")
def learned():
    return LearnedCost(hidden_channels=8, num_layers=2).fit(mixed(30), epochs=2, progress=False)


@pytest.fixture(params=["unit", "feature", "learned"])
def cost(request, learned):
    return {"unit": UnitCost(), "feature": FeatureCost(), "learned": learned}[request.param]


def test_matrix_equals_the_full_problem_pair_by_pair(cost):
    a, b = mixed(6, seed=1), mixed(7, seed=2)
    matrix = cost.distances(a, b)
    with torch.no_grad():
        for i, g in enumerate(a):
            for j, h in enumerate(b):
                one, other = cost.embed(pack(g)), cost.embed(pack(h))
                prices = cost.substitution(one.embedding, other.embedding).numpy()
                expected = full_problem(prices, one.deletion.numpy(), other.insertion.numpy())
                assert float(matrix[i, j]) == pytest.approx(expected, rel=1e-4, abs=2e-3)
                assert cost.distance(g, h) == pytest.approx(float(matrix[i, j]), rel=1e-5, abs=1e-5)
                assert edit_path(g, h, cost).distance == pytest.approx(float(matrix[i, j]), rel=1e-5, abs=1e-5)


def test_distance_zero_from_itself_and_its_relabelling(cost):
    rng = np.random.default_rng(3)
    g = random_graph(rng, 9)
    turn = torch.from_numpy(rng.permutation(9))
    back = torch.argsort(turn)
    h = Data(x=g.x[turn], edge_index=back[g.edge_index], edge_attr=g.edge_attr)
    assert cost.distance(g, g) == pytest.approx(0.0, abs=1e-6)
    assert cost.distance(g, h) == pytest.approx(0.0, abs=1e-4)
    assert cost.distance(g, random_graph(rng, 9)) > 0.1


def test_own_matrix_is_symmetric_and_equals_the_two_sided_one(cost):
    graphs = mixed()
    own = cost.distances(graphs)
    assert torch.equal(own, own.T)
    assert torch.allclose(own, cost.distances(graphs, graphs), atol=1e-5)


@pytest.mark.parametrize("cells", [1 << 21, 1 << 12])
@pytest.mark.parametrize("k", [1, 3])
def test_nearest_is_what_the_matrix_says(cost, k, cells, monkeypatch):
    monkeypatch.setattr("epic.distance.nearest.CELLS", cells)
    monkeypatch.setattr("epic.distance.matrices.CELLS", cells)  # small blocks too
    a, b = mixed(9, seed=4), mixed(40, seed=5)
    matrix = cost.distances(a, b).double()
    found = cost.nearest(a, b, k=k)
    expected = matrix.sort(1)
    assert torch.allclose(found.distance.double(), expected.values[:, :k], atol=1e-5)
    assert torch.allclose(matrix.gather(1, found.index), expected.values[:, :k], atol=1e-5)
    assert found.solved < matrix.numel()
    own = cost.nearest(b, k=k)
    away = cost.distances(b).double() + torch.diag(torch.full((40,), torch.inf, dtype=torch.double))
    assert torch.allclose(own.distance.double(), away.sort(1).values[:, :k], atol=1e-5)


def test_asymmetric_costs_keep_their_direction():
    cost = NoiseCost(1)
    a, b = mixed(2, seed=6)
    assert cost.distance(a, b) != pytest.approx(cost.distance(b, a))
    matrix = cost.distances([a, b])
    assert float(matrix[0, 1]) != pytest.approx(float(matrix[1, 0]))


def test_more_neighbours_than_graphs_is_refused(cost):
    with pytest.raises(InputError, match="k = 9 neighbours asked of 5"):
        cost.nearest(mixed(3), mixed(5), k=9)


def test_unit_cost_against_networkx():
    """Ours is networkx's node-only edit distance; with edges priced, networkx is never below, and equal where no edge
    has to change.
    """
    rng = np.random.default_rng(7)
    gaps = []
    for _ in range(60):
        n, m = rng.integers(1, 6, size=2)
        g, h = (random_graph(rng, k, x="onehot", edge_width=None, density=0.5) for k in (n, m))
        ours = UnitCost().distance(g, h)
        a, b = (nx.Graph(to_networkx(k, node_attrs=["x"], to_undirected=True)) for k in (g, h))
        match = lambda u, v: u["x"] == v["x"]  # noqa: E731
        free = nx.graph_edit_distance(
            a, b, node_match=match, edge_del_cost=lambda e: 0, edge_ins_cost=lambda e: 0, edge_subst_cost=lambda e, f: 0
        )
        assert ours == free
        priced = nx.graph_edit_distance(a, b, node_match=match)
        assert ours <= priced
        gaps.append(priced - ours)
    assert max(gaps) > 0  # edges are what the difference is made of


def test_soft_distance_tends_to_the_exact_one(learned):
    graphs = mixed(8, seed=8)
    nodes = embed_all(learned, pack(graphs))
    i, j = torch.tensor([0, 2, 5, 6]), torch.tensor([1, 3, 4, 7])
    pairs = Pairs(learned, source=nodes, target=nodes, i=i, j=j)
    exact = node_distances(pairs)
    gap = [
        (soft_distances(pairs, delta=delta, iterations=k) - exact).abs().max()
        for delta, k in ((0.3, 10), (0.05, 200), (0.005, 5000))
    ]
    assert gap[0] > gap[1] > gap[2]
    assert gap[2] < 0.01 * exact.max()


def test_nan_in_the_features_of_a_pair_is_named(cost):
    bad = Data(x=torch.full((2, 3), torch.nan), edge_index=torch.zeros(2, 0).long(), edge_attr=torch.zeros(0, 2))
    with pytest.raises(InputError, match="x of graph 0 holds NaN"):
        cost.distance(bad, bad)


class Asymmetric(UnitCost):
    """A cost of a user's own: uphill is dearer, staying is not free, and it has a parameter."""

    symmetric = False

    def __init__(self):
        self.slope = torch.nn.Parameter(torch.tensor(0.3, dtype=torch.double))

    def embed(self, graphs):
        price = torch.ones(graphs.num_nodes)
        return NodeCosts(graphs.x, price, price, graphs.ptr)

    def substitution(self, source, target):
        return self.slope * torch.relu(target[..., None, :, 0] - source[..., :, None, 0]) + 0.05


def test_a_cost_that_is_not_symmetric_is_not_mirrored(tmp_path):
    graphs = mixed(5, seed=3)
    cost = Asymmetric()
    whole = cost.distances(graphs, graphs)
    assert torch.allclose(cost.distances(graphs), whole)
    assert not torch.allclose(whole, whole.T)
    assert cost.distance(graphs[1], graphs[2]) == pytest.approx(float(whole[1, 2]), rel=1e-5)
    with pytest.raises(InputError, match="has no kind of its own"):
        cost.save(tmp_path / "c")
    UnitCost().save(tmp_path / "u")
    assert type(UnitCost.load(tmp_path / "u")) is UnitCost  # not the subclass above


@pytest.mark.parametrize("offset", [0.0, 1e3, 2e4])
def test_features_far_from_the_origin_are_matched_in_float32_too(offset):
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(12, 3))).float() + offset
    nodes = NodeCosts(
        torch.cat([x, x.flip(0)]), torch.full((24,), 9.0), torch.full((24,), 9.0), torch.tensor([0, 12, 24])
    )
    found = assign_pairs(Pairs(FeatureCost(), source=nodes, target=nodes, i=torch.tensor([0]), j=torch.tensor([1])))
    assert found.partner.tolist() == list(range(11, -1, -1))


def test_graphs_that_cannot_be_compared_are_refused(cost):
    narrow = Data(x=torch.ones(2, 1), edge_index=torch.zeros(2, 0).long(), edge_attr=torch.zeros(0, 2))
    whole = Data(x=torch.ones(2, 3).long(), edge_index=torch.zeros(2, 0).long(), edge_attr=torch.zeros(0, 2))
    bare = Data(num_nodes=2, edge_index=torch.zeros(2, 0).long(), edge_attr=torch.zeros(0, 2))
    for other, message in ((narrow, "width"), (whole, "use one kind"), (bare, "one side has x")):
        for ask in (cost.distance, cost.nearest, lambda a, b: cost.distances([a], [b])):
            with pytest.raises(InputError, match=message):
                ask(mixed(2)[1], other)


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
def test_nan_is_refused_and_large_numbers_are_not(precision):
    ptr, prices = torch.tensor([0, 4]), torch.ones(4, dtype=precision)
    large = torch.full((4, 2), 0.9 * torch.finfo(torch.float32).max, dtype=precision)  # their sum is beyond float32
    assert NodeCosts(large, prices, prices, ptr).check_finite().embedding is large
    for bad in (torch.nan, torch.inf, -torch.inf):
        for field in range(3):
            values = [large.clone(), prices.clone(), prices.clone()]
            values[field][1] = bad
            with pytest.raises(InputError, match="the costs of these graphs hold NaN or infinity"):
                NodeCosts(*values, ptr).check_finite()


def test_a_changed_price_is_not_taken_for_a_symmetric_one():
    class Fee(UnitCost):
        def substitution(self, source, target):
            return super().substitution(source, target) + 0.5

    graphs = mixed(4, seed=3)
    matrix = Fee().distances(graphs)
    for i, g in enumerate(graphs):
        for j, h in enumerate(graphs):
            assert float(matrix[i, j]) == pytest.approx(Fee().distance(g, h))
    assert float(matrix[0, 0]) > 0
