import math
from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Batch, Data

import epic.augment.motif_swap as room
from epic import InputError
from epic.augment import MotifSwap
from epic.augment.motif_swap import swap
from epic.augment.reliability import Descriptors, Logistic, Reliability, best_threshold, probabilities
from epic.graphs.convert import pack
from epic.testing import AugmentationTester
from epic.testing import augmented_graphs as made
from epic.testing import random_graphs as graphs
from tests.sample_graphs import random_graph


class TestMotifSwap(AugmentationTester):
    def method(self):
        return MotifSwap(0.3, seed=0, ratio=1)


class TestWithoutFilter(AugmentationTester):
    def method(self):
        return MotifSwap(0.5, label_filter=False, seed=0, ratio=1, replace=True)


def both_ways(*edges):
    index = torch.tensor(edges).T
    return torch.cat([index, index.flip(0)], 1)


def net_of(data):
    net = nx.Graph()
    net.add_nodes_from(range(data.num_nodes))
    net.add_edges_from(data.edge_index.T.tolist())
    return net


def edge_set(data):
    return {frozenset(e) for e in data.edge_index.T.tolist()}


def test_draws_have_the_chances_of_the_formula():
    """One swap on a small graph, many times, against uniform from networkx and plain loops."""
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 5), (4, 5)]
    one = Data(edge_index=both_ways(*edges), num_nodes=6, y=torch.tensor([0]))
    net = net_of(one)
    open_pairs = [p for p in combinations(range(6), 2) if not net.has_edge(*p) and list(nx.common_neighbors(net, *p))]
    index = {frozenset((a, b)): s for a, b, s in nx.resource_allocation_index(net, [*open_pairs, *edges])}
    total = sum(index[frozenset(p)] for p in open_pairs)
    chance = Counter()
    for a, b in open_pairs:
        triad_edges = [frozenset((end, v)) for v in nx.common_neighbors(net, a, b) for end in (a, b)]
        whole = sum(index[e] for e in triad_edges)
        weight = [1 - index[e] / whole if whole else 1.0 for e in triad_edges]
        for e, w in zip(triad_edges, weight, strict=True):
            chance[frozenset((a, b)), e] += index[frozenset((a, b))] / total * w / sum(weight)
    assert sum(chance.values()) == pytest.approx(1.0)
    count = 20_000
    packed = pack([one]).select(torch.zeros(count, dtype=torch.long))
    out = swap(packed, 0.1, torch.Generator().manual_seed(0))  # 0.7 edges, so one
    index_of = out.edge_index.view(2, count, -1) - out.ptr[:-1, None]
    before = edge_set(one)
    seen = Counter()
    for g in range(count):
        after = {frozenset(e) for e in index_of[:, g].T.tolist()}
        ((new,), (old,)) = after - before, before - after
        seen[new, old] += 1
    assert set(seen) == {k for k, p in chance.items() if p > 0}
    for key, p in chance.items():
        assert abs(seen[key] / count - p) < 5 * math.sqrt(p / count) + 1e-9


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    nodes=st.integers(1, 12),
    density=st.floats(0, 1),
    share=st.floats(0, 1),
    directed=st.booleans(),
)
def test_swaps_close_open_triads_and_keep_attributes(seed, nodes, density, share, directed):
    rng = np.random.default_rng(seed)
    data = random_graph(rng, nodes, density=density, directed=directed, loops=True, y=[0])
    data.edge_attr = torch.arange(data.num_edges).float()
    net, before = net_of(data), edge_set(data)
    packed = pack([data])
    out = swap(packed, share, torch.Generator().manual_seed(seed)).graph(0)
    assert torch.equal(out.edge_attr, data.edge_attr)
    after = edge_set(out)
    assert len(after) == len(before)
    new = after - before
    simple = [e for e in before if len(e) == 2]
    assert len(new) <= math.ceil(share * len(simple))
    for e in new:
        assert len(e) == 2
        assert list(nx.common_neighbors(net, *e))
    # An edge that moved keeps one end, and the other two are joined by what it leaves.
    for (u, v), (a, b) in zip(data.edge_index.T.tolist(), out.edge_index.T.tolist(), strict=True):
        if (u, v) != (a, b):
            assert (u == a) != (v == b), "one end stays, in the same direction"
            kept, left, got = (u, v, b) if u == a else (v, u, a)
            assert net.has_edge(left, got)
            assert not net.has_edge(kept, got)
    open_pairs = sum(not net.has_edge(*p) and bool(list(nx.common_neighbors(net, *p))) for p in combinations(net, 2))
    if open_pairs and simple and share > 1e-6:
        assert new


def test_a_path_of_three_by_hand():
    """0-1-2 has one triad: 0-2 comes, and 0-1 or 1-2 goes."""
    one = Data(edge_index=both_ways((0, 1), (1, 2)), num_nodes=3, y=torch.tensor([0]))
    packed = pack([one]).select(torch.zeros(400, dtype=torch.long))
    out = swap(packed, 0.15, torch.Generator().manual_seed(0))
    seen = Counter(frozenset(edge_set(out.graph(g))) for g in range(400))
    ways = [{frozenset((0, 2)), frozenset((1, 2))}, {frozenset((0, 2)), frozenset((0, 1))}]
    assert set(seen) == set(map(frozenset, ways))
    assert min(seen.values()) > 150


def test_a_batch_in_pieces_is_done_alike(monkeypatch):
    packed = pack(graphs(10, nodes=9))
    monkeypatch.setattr(room, "AREA", 200)
    out = swap(packed, 0.3, torch.Generator().manual_seed(0))
    assert torch.equal(out.ptr, packed.ptr)
    assert torch.equal(out.edge_ptr, packed.edge_ptr)
    assert torch.equal(out.y, packed.y)
    for g in range(10):
        assert len(edge_set(out.graph(g)) - edge_set(packed.graph(g))) > 0
        assert int(out.graph(g).edge_index.max()) < 9


def square(y):
    return Data(x=torch.ones(4, 1), edge_index=both_ways((0, 1), (1, 2), (2, 3), (3, 0)), y=torch.tensor([y]))


def paw(y):
    return Data(x=torch.ones(4, 1), edge_index=both_ways((0, 1), (1, 2), (0, 2), (2, 3)), y=torch.tensor([y]))


class Triangles(nn.Module):
    """Scores two classes by whether a graph has a triangle; in training mode it answers nonsense."""

    def forward(self, batch):
        if self.training:
            raise AssertionError("the filter needs a model in evaluation mode")
        has = [sum(nx.triangles(net_of(g)).values()) > 0 for g in batch.to_data_list()]
        return torch.tensor([[0.0, 4.0] if h else [4.0, 0.0] for h in has])


def test_graphs_that_look_like_another_class_are_refused():
    """A swap makes a triangle of every square: it then looks like class 1, and the square stays as it is."""
    data = [square(0), paw(1)] * 8
    model = Triangles()
    kept = MotifSwap(ratio=1, degree_features=False, seed=0).fit(data, classifier=model)
    assert model.training
    chance = 1 / (1 + math.exp(-4.0))
    assert kept._reliable.prototypes[0].tolist() == pytest.approx([chance, 1 - chance])
    right = chance**2 + (1 - chance) ** 2
    assert kept._reliable.threshold == pytest.approx(right / 2)
    for g in made(kept, data):
        if int(g.y) == 0:
            assert edge_set(g) == edge_set(square(0))
        else:
            assert sum(nx.triangles(net_of(g)).values()) > 0
    free = MotifSwap(ratio=1, label_filter=False, num_classes=2, degree_features=False)
    squares = [g for g in made(free, data) if int(g.y) == 0]
    assert squares
    assert all(edge_set(g) != edge_set(square(0)) for g in squares)


@pytest.mark.parametrize("tries", [1, 2, 20])
def test_a_refused_swap_is_drawn_anew_so_many_times(tries):
    """Of a path 0-1-2 either edge may go. Where 0-1 does, the graph is refused: half of the swaps of each try."""
    path = Data(x=torch.ones(3, 1), edge_index=both_ways((0, 1), (1, 2)), y=torch.tensor([0]))

    def classifier(batch):
        joined = [frozenset((0, 1)) in edge_set(g) for g in batch.to_data_list()]
        return torch.tensor([[4.0, 0.0] if j else [0.0, 4.0] for j in joined])

    method = MotifSwap(tries=tries, ratio=1, seed=0, num_classes=2, degree_features=False)
    out = made(method.fit([path] * 400, classifier=classifier), [path] * 400)
    changed = sum(edge_set(g) != edge_set(path) for g in out) / 400
    assert abs(changed - (1 - 0.5**tries)) < 0.1  # standard deviation 0.025


def test_labels_stay_and_graphs_keep_their_order():
    data = graphs(12, x="onehot", edge_width=None)
    for g, one in enumerate(data):
        one.owner = torch.full((one.num_nodes,), g)
    method = MotifSwap(ratio=1, replace=True, seed=0).fit(data)
    for g in made(method, data):
        (owner,) = g.owner.unique().tolist()
        assert int(g.y) == int(data[owner].y)
        assert torch.equal(g.x, data[owner].x)
        assert g.num_edges == data[owner].num_edges


def test_its_own_classifier_tells_easy_classes_apart():
    rng = np.random.default_rng(0)
    data = [
        random_graph(rng, 12, density=(0.15, 0.6)[i % 2], x="onehot", edge_width=None, y=[i % 2]) for i in range(60)
    ]
    method = MotifSwap(seed=0).fit(data)
    packed = pack(data)
    chance = method._reliable.classifier(packed)
    assert float((chance.argmax(1) == packed.y).float().mean()) > 0.95
    assert torch.allclose(chance.sum(1), torch.ones(60))
    assert bool(method._reliable(packed, packed.y).float().mean() > 0.9)
    assert not method._reliable(packed, 1 - packed.y).any()


def test_logistic_regression_is_at_its_minimum():
    packed = pack(graphs(30, x="onehot"))
    describe = Descriptors.of(packed)
    model = Logistic.fit(describe, packed, packed.y, 3, decay=0.1)
    value = (describe(packed) - model.mean) / model.scale
    error = model(packed) - torch.eye(3)[packed.y]
    assert torch.allclose(error.T @ value / 30 + 0.1 * model.weight, torch.zeros_like(model.weight), atol=1e-3)
    assert torch.allclose(error.mean(0), torch.zeros(3), atol=1e-3)


@pytest.mark.parametrize("x", ["onehot", "int", "float", None])
def test_descriptors_do_not_depend_on_numbering_or_on_the_batch(x):
    data = graphs(6, x=x, edge_width=None)
    describe = Descriptors.of(pack(data))
    together = describe(pack(data))
    assert torch.allclose(torch.cat([describe(pack([g])) for g in data]), together, atol=1e-6)
    turned = []
    for g in data:
        order = torch.randperm(g.num_nodes, generator=torch.Generator().manual_seed(1))
        new = Data(edge_index=order.argsort()[g.edge_index], num_nodes=g.num_nodes)
        if x is not None:
            new.x = g.x[order]
        turned.append(new)
    assert torch.allclose(describe(pack(turned)), together, atol=1e-5)
    assert together.unique(dim=0).shape[0] == 6


@given(
    value=st.lists(st.integers(0, 20), min_size=1, max_size=15),
    right=st.lists(st.booleans(), min_size=15, max_size=15),
)
def test_threshold_against_trying_all(value, right):
    value, right = torch.tensor(value) / 20.0, torch.tensor(right[: len(value)])

    def mistakes(t):
        return int(((value < t) & right).sum() + ((value > t) & ~right).sum())

    tried = [mistakes(t / 40 + shift) for t in range(41) for shift in (1e-4, -1e-4)] + [mistakes(0.0), mistakes(1.0)]
    assert mistakes(best_threshold(value, right)) == min(tried)


def test_reliability_by_hand():
    chance = torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6], [0.2, 0.8]])
    label = torch.tensor([0, 0, 0, 1])
    found = Reliability.of(lambda graphs: chance, None, label, 2)
    assert torch.allclose(found.prototypes, torch.tensor([[2.0 / 3, 1.0 / 3], [0.2, 0.8]]))
    # Values 0.6333, 0.5667, 0.4667 (wrong), 0.68: the wrong one is the lowest.
    assert found.threshold == pytest.approx((0.466667 + 0.566667) / 2, abs=1e-5)
    assert found(None, label).tolist() == [True, True, False, True]
    assert found(None, torch.tensor([-1, 1, -1, 1])).tolist() == [True, False, True, True]
    missing = Reliability.of(lambda graphs: torch.eye(3)[:2], None, torch.tensor([0, 1]), 3)
    assert missing.prototypes.tolist() == torch.eye(3).tolist()


def test_its_classifier_is_judged_on_unseen_graphs(monkeypatch):
    data = graphs(30, x="onehot", edge_width=None)
    for g, one in enumerate(data):
        one.owner = torch.full((one.num_nodes,), g)
    fit, of = Logistic.fit, Reliability.of
    learned, judged = [], []

    def noted_fit(describe, graphs, *more):
        learned.extend(graphs.node["owner"].unique().tolist())
        return fit(describe, graphs, *more)

    def noted_of(classifier, graphs, *more):
        judged.extend(graphs.node["owner"].unique().tolist())
        return of(classifier, graphs, *more)

    monkeypatch.setattr(Logistic, "fit", staticmethod(noted_fit))
    monkeypatch.setattr(Reliability, "of", staticmethod(noted_of))
    MotifSwap(seed=0).fit(data)
    assert learned
    assert judged
    assert sorted(learned + judged) == list(range(30))  # none is in both


def test_one_output_stands_for_two_classes():
    second = 1 / (1 + math.exp(-2.0))
    found = probabilities(lambda batch: torch.tensor([[0.0], [2.0]]), pack([square(0), square(1)]))
    assert found[1].tolist() == pytest.approx([1 - second, second])


def test_one_binary_task_with_missing_labels():
    data = graphs(30, x="int", edge_width=None)
    for i, g in enumerate(data):
        g.y = torch.tensor([[float("nan") if i % 5 == 0 else float(i % 2)]])
    method = MotifSwap(ratio=1, seed=0).fit(data)
    out = method(Batch.from_data_list(data))
    assert out.y.shape == (60, 1)
    assert int(torch.isnan(out.y).sum()) == 12


def test_degree_features_follow():
    data = [square(0), paw(1)] * 6
    for g in data:
        g.x = torch.bincount(g.edge_index[0], minlength=4)[:, None].float()
    method = MotifSwap(0.5, ratio=1, seed=0, degree_features=True).fit(data)
    for g in made(method, data):
        assert torch.equal(g.x[:, 0].long(), torch.bincount(g.edge_index[0], minlength=4))


def test_what_cannot_be_filtered_is_refused():
    with pytest.raises(InputError, match="call fit"):
        MotifSwap(num_classes=3)(Batch.from_data_list(graphs()))
    many = graphs()
    for g in many:
        g.y = torch.tensor([[0.0, 1.0, 1.0]])
    with pytest.raises(InputError, match="3 columns of binary: pass label_filter=False"):
        MotifSwap().fit(many)
    assert MotifSwap(label_filter=False).fit(many)(Batch.from_data_list(many)).y.shape == (18, 3)
    with pytest.raises(InputError, match="share must lie between 0 and 1, got 2"):
        MotifSwap(2)
    with pytest.raises(InputError, match="takes no epochs"):
        MotifSwap().fit(graphs(), epochs=3)
