"""A price is stated once: where ``substitution`` is overridden, everything follows.

The reference takes ``embed`` and ``substitution`` of one pair of graphs at a time, writes the whole (n+m) square and
solves it with scipy. Every built-in cost is tripled by a mixin, which touches nothing but that hook.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch_geometric.data import Batch, Data

from epic import EPIC, FeatureCost, LearnedCost, UnitCost, edit_path
from epic.distance.pairs import Pairs, node_distances, soft_distances
from epic.graphs.convert import pack

pytestmark = pytest.mark.usefixtures("both_ways")


class Tripled:
    def substitution(self, source: Tensor, target: Tensor) -> Tensor:
        return 3 * super().substitution(source, target)


class TripledUnit(Tripled, UnitCost):
    pass


class TripledFeature(Tripled, FeatureCost):
    pass


class TripledLearned(Tripled, LearnedCost):
    pass


def some_graphs(count: int = 8, *, values: int = 0) -> list[Data]:
    """Small graphs of two classes; node features are all different, or one of ``values`` vectors."""
    generator = torch.Generator().manual_seed(0)
    graphs = []
    for g in range(count):
        n = 3 + g % 4
        x = torch.rand(n, 4, generator=generator) * (0.2 + torch.rand(n, 1, generator=generator))
        if values:
            x = torch.eye(4)[torch.randint(values, (n,), generator=generator)]
        ring = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
        edges = torch.cat([ring, ring.flip(0)], dim=1)
        graphs.append(Data(x=x, edge_index=edges, y=torch.tensor([g % 2])))
    return graphs


def made(kind: str) -> tuple[UnitCost | FeatureCost | LearnedCost, list[Data]]:
    """A tripled cost, and graphs of which it keeps some nodes and not others."""
    if kind == "unit":
        return TripledUnit(), some_graphs(values=3)
    if kind == "feature":
        return TripledFeature(), some_graphs()
    if kind == "categories":
        graphs = some_graphs()
        for graph in graphs:
            graph.x = (graph.x * 3).long()
        return TripledFeature(edit=2.5), graphs
    graphs = some_graphs()
    return TripledLearned().fit(graphs, validation=0, epochs=2, progress=False), graphs


@pytest.fixture(params=["unit", "feature", "categories", "learned"])
def tripled(request):
    return made(request.param)


@dataclass
class Pair:
    """Prices of two graphs and the cheapest way to turn one into the other."""

    substitution: Tensor
    deletion: Tensor
    insertion: Tensor

    @staticmethod
    def of(cost, source: Data, target: Data) -> Pair:
        a, b = cost.embed(pack(source)), cost.embed(pack(target))
        vectors = [h.double() if h.is_floating_point() else h for h in (a.embedding, b.embedding)]
        return Pair(cost.substitution(*vectors).double(), a.deletion.double(), b.insertion.double())

    def operations(self) -> list[tuple[int | None, int | None, Tensor]]:
        """Node before, node after (None where there is none) and price of every operation."""
        n, m = self.substitution.shape
        square = np.full((n + m, n + m), np.inf)
        square[:n, :m] = self.substitution.detach()
        square[range(n), range(m, m + n)] = self.deletion.detach()
        square[range(n, n + m), range(m)] = self.insertion.detach()
        square[n:, m:] = 0
        done: list[tuple[int | None, int | None, Tensor]] = []
        for u, v in zip(*linear_sum_assignment(square), strict=True):
            if u < n and v < m:
                done.append((int(u), int(v), self.substitution[u, v]))
            elif u < n:
                done.append((int(u), None, self.deletion[u]))
            elif v < m:
                done.append((None, int(v), self.insertion[v]))
        return done

    def distance(self) -> Tensor:
        return sum((price for _, _, price in self.operations()), torch.zeros((), dtype=torch.double))

    def soft(self, delta: float = 0.1, iterations: int = 10) -> Tensor:
        """The iteration as the paper writes it, without any care for the range of numbers."""
        blur = delta * float(self.substitution.detach().mean())
        K, lost, won = (torch.exp(-cost / blur) for cost in (self.substitution, self.deletion, self.insertion))
        v = torch.ones(K.shape[1], dtype=torch.double)
        for _ in range(iterations):
            u = 1 / (K @ v + lost)
            v = 1 / (K.T @ u + won)
        plan = u[:, None] * K * v
        return (plan * self.substitution).sum() + (u * lost * self.deletion).sum() + (v * won * self.insertion).sum()


def every_pair(cost, graphs: list[Data]) -> list[list[float]]:
    with torch.no_grad():
        return [[float(Pair.of(cost, a, b).distance()) for b in graphs] for a in graphs]


class Plain:
    """The same cost without the override."""

    def __init__(self, cost) -> None:
        self.embed = cost.embed
        self.substitution = super(Tripled, cost).substitution


def test_the_override_matters_for_these_graphs(tripled):
    cost, graphs = tripled
    kinds = set()
    with torch.no_grad():
        for a in graphs:
            for b in graphs:
                kinds |= {(u is None, v is None) for u, v, price in Pair.of(cost, a, b).operations() if price > 0}
    if not isinstance(cost, UnitCost):  # there it is free, or dearer than a deletion and an insertion
        assert (False, False) in kinds
    assert {(False, True), (True, False)} <= kinds
    gap = torch.tensor(every_pair(cost, graphs)) - torch.tensor(every_pair(Plain(cost), graphs))
    assert gap.max() > 0.3
    assert gap.min() >= -1e-6


def test_distance(tripled):
    cost, graphs = tripled
    for a, b in zip(graphs, graphs[3:], strict=False):
        expected = float(Pair.of(cost, a, b).distance().detach())
        assert cost.distance(a, b) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_distances(tripled):
    cost, graphs = tripled
    expected = torch.tensor(every_pair(cost, graphs))
    torch.testing.assert_close(cost.distances(graphs, progress=False), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        cost.distances(graphs[:3], graphs[3:], progress=False), expected[:3, 3:], rtol=1e-5, atol=1e-5
    )


def test_nearest(tripled):
    cost, graphs = tripled
    found = cost.nearest(graphs[:4], graphs[4:], k=2, progress=False)
    expected = torch.tensor(every_pair(cost, graphs))[:4, 4:]
    torch.testing.assert_close(found.distance, expected.sort(dim=1).values[:, :2], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(expected.gather(1, found.index), found.distance, rtol=1e-5, atol=1e-5)


def test_path(tripled):
    cost, graphs = tripled
    for a, b in zip(graphs, graphs[3:], strict=False):
        pair = Pair.of(cost, a, b)
        path = edit_path(a, b, cost, seed=0)
        assert path.distance == pytest.approx(float(pair.distance().detach()), rel=1e-5, abs=1e-5)
        for step in path.operations:
            price = {
                "substitute": lambda u, v, pair=pair: pair.substitution[u, v],
                "delete": lambda u, v, pair=pair: pair.deletion[u],
                "insert": lambda u, v, pair=pair: pair.insertion[v],
            }[step.kind](step.source, step.target)
            assert step.cost == pytest.approx(float(price.detach()), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("kind", ["feature", "learned"])
def test_augmentation(kind):
    # No two nodes are alike, so that a graph shows which operations were done to get there; its label must be their
    # share of the cost.
    cost, graphs = made(kind)
    partly = 0
    for a, b in zip(graphs[::2], graphs[1::2], strict=True):
        done_by = Pair.of(cost, a, b).operations()
        total = sum(float(price.detach()) for _, _, price in done_by)
        augment = EPIC(cost=cost, ratio=8.0, pairs="different", seed=0, num_classes=2).fit([a, b])
        for graph in augment(Batch.from_data_list([a, b])).to_data_list()[2:]:
            nodes = {tuple(row) for row in graph.x.tolist()}
            spent = 0.0
            for u, v, price in done_by:
                before = u is not None and tuple(a.x[u].tolist()) in nodes
                after = v is not None and tuple(b.x[v].tolist()) in nodes
                assert not (before and after)
                assert before or after or None in (u, v)
                spent += float(price.detach()) * (after if v is not None else not before)
            assert float(graph.y[0, 1]) == pytest.approx(spent / total, abs=1e-4)
            partly += 0.01 < spent / total < 0.99
    assert partly > 10


def test_augmentation_replaces_by_delete_and_insert():
    # Of two graphs without an equal node, a substitution at 3 is never taken, one at 1 always.
    one = Data(x=torch.eye(6)[:3], edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([0]))
    other = Data(x=torch.eye(6)[3:], edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([1]))
    sizes = {}
    for cost in (TripledUnit(), UnitCost()):
        batch = EPIC(cost=cost, ratio=32.0, seed=0, num_classes=2).fit([one, other])(Batch.from_data_list([one, other]))
        sizes[type(cost)] = {graph.num_nodes for graph in batch.to_data_list()}
    assert sizes[UnitCost] == {3}
    assert sizes[TripledUnit] >= {2, 3, 4}


def test_soft_distance(tripled):
    cost, graphs = tripled
    nodes = cost.embed(pack(graphs)).double()
    i, j = (t.flatten() for t in torch.meshgrid(torch.arange(4), torch.arange(4, 8), indexing="ij"))
    found = soft_distances(Pairs(cost, source=nodes, target=nodes, i=i, j=j))
    expected = [float(Pair.of(cost, graphs[p], graphs[q]).soft().detach()) for p, q in zip(i, j, strict=True)]
    assert found.tolist() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("exact", [True, False])
def test_gradients(exact):
    cost, graphs = made("learned")
    parameters = list(cost.network_.parameters())
    nodes = cost.embed(pack(graphs))
    i, j = torch.combinations(torch.arange(len(graphs))).T
    found = (node_distances if exact else soft_distances)(Pairs(cost, source=nodes, target=nodes, i=i, j=j))
    pairs = [Pair.of(cost, graphs[p], graphs[q]) for p, q in zip(i, j, strict=True)]
    expected = sum(pair.distance() if exact else pair.soft() for pair in pairs)
    for got, want in zip(
        torch.autograd.grad(found.sum(), parameters), torch.autograd.grad(expected, parameters), strict=True
    ):
        torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("assignment", ["sinkhorn", "hungarian"])
def test_learning(assignment):
    # Two graphs of one class and one of another: only two triplets can be drawn. With next to no learning rate the loss
    # of the first epoch is that of the weights at the end.
    graphs = [some_graphs(3)[-1] for _ in range(3)]
    for graph, shift, label in zip(graphs, (0.0, 0.003, 0.5), (0, 0, 1), strict=True):
        graph.x *= 10  # after normalisation, shifts are small against this
        graph.x[0] += shift
        graph.y = torch.tensor([label])
    cost = TripledLearned().fit(
        graphs, validation=0, assignment=assignment, epochs=1, lr=1e-30, margin=5.0, progress=False
    )
    cost.network_.train()  # as in learning: all three graphs are in the batch that is normalised
    together = cost.embed(pack(graphs)).double()

    def per_node(price, p: int, q: int) -> float:
        one, other = (slice(int(together.ptr[g]), int(together.ptr[g + 1])) for g in (p, q))
        h = together.embedding
        pair = Pair(price.substitution(h[one], h[other]), together.deletion[one], together.insertion[other])
        distance = pair.soft() if assignment == "sinkhorn" else pair.distance()
        return float(distance.detach()) / sum(pair.substitution.shape)

    gap, without = (
        np.mean([per_node(price, p, q) - per_node(price, p, 2) for p, q in ((0, 1), (1, 0))])
        for price in (cost, Plain(cost))
    )
    assert abs(gap - without) > 0.01
    assert cost.history_[0].loss - 5.0 == pytest.approx(gap, abs=1e-5)


def test_explanation(tripled):
    cost, graphs = tripled
    explained = cost.explain(graphs[0], graphs[1:])
    with torch.no_grad():
        pairs = [Pair.of(cost, graphs[0], other) for other in graphs[1:]]
    prices = torch.cat([pair.substitution for pair in pairs], dim=1)
    torch.testing.assert_close(explained.substitution.double(), prices.mean(1), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(explained.deletion.double(), pairs[0].deletion, rtol=1e-5, atol=1e-5)
