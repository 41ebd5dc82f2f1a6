import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Batch, Data

from epic import InputError
from epic.augment import GraphTransplant
from epic.augment.graph_transplant import SALIENCY, transplant
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs
from epic.testing import KINDS, AugmentationTester, augment_with_seed
from epic.testing import random_graphs as graphs
from epic.train import backbone_for
from tests.sample_graphs import random_graph


class TestGraphTransplant(AugmentationTester):
    def method(self):
        return GraphTransplant(seed=0)

    def test_what_it_makes_in_training_is_whole(self, kind):
        """Called alone it makes nothing, so that the tests for all methods see its originals only."""
        originals = graphs(**KINDS[kind])
        method = self.fitted(originals)
        out = in_training(method, originals)
        packed = pack(out)  # refuses edges between graphs, edges out of range, NaN
        assert int(packed.sizes.min()) >= 1
        assert out.augmented.any()
        assert torch.allclose(out.y.sum(1), torch.ones(out.num_graphs), atol=1e-5)
        assert out.x.dtype == originals[0].x.dtype


class Watched(nn.Module):
    """A backbone that notes the batch it predicts from last."""

    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.encode, self.embed, self.head = backbone.encode, backbone.embed, backbone.head

    def forward(self, batch):
        self.seen = batch
        return self.backbone(batch)


def in_training(method, found, outputs=3, seed=0):
    """The batch that a model is trained on in one step."""
    model = Watched(backbone_for(pack(found), outputs=outputs, hidden_channels=8, num_layers=2, dropout=0.0))
    method.loss(model, augment_with_seed(method, found, seed)).backward()
    return model.seen


def marked(found, saliency=None):
    """Graphs packed with labels as rows, saliency, and the number of each node."""
    for data in found:
        data.y = torch.eye(3)[int(data.y)][None]
    packed = pack(found)
    number = torch.arange(packed.num_nodes)
    values = torch.rand(packed.num_nodes) if saliency is None else torch.tensor(saliency)
    return PackedGraphs(
        packed.ptr,
        packed.edge_ptr,
        packed.edge_index,
        {**packed.node, SALIENCY: values, "number": number},
        packed.edge,
        packed.y,
    )


def path(nodes, first, y):
    """A path whose edges have attributes counted from ``first``."""
    a = torch.arange(nodes - 1)
    edge_index = torch.cat([torch.stack([a, a + 1]), torch.stack([a + 1, a])], 1)
    attr = (first + torch.cat([a, a])).float()
    return Data(edge_index=edge_index, edge_attr=attr, x=torch.ones(nodes, 1), y=torch.tensor([y]))


def test_a_transplant_worked_out_by_hand():
    """The middle of a path of three replaces the end of a path of four: one of its two cut edges is joined."""
    both = marked([path(3, 0, 0), path(4, 10, 1)])
    source, target = both.select(torch.tensor([0])), both.select(torch.tensor([1]))
    part, rest = torch.tensor([False, True, False]), torch.tensor([True, True, True, False])
    seen = set()
    for seed in range(20):
        made = transplant(source, target, part, rest, torch.Generator().manual_seed(seed))
        assert made.node["number"].tolist() == [1, 3, 4, 5]
        edges = {tuple(e): a for e, a in zip(made.edge_index.T.tolist(), made.edge_attr.tolist(), strict=True)}
        bridge = edges.pop((0, 3))  # the middle now holds on to what held on to the lost end
        assert edges.pop((3, 0)) == bridge
        assert edges == {(1, 2): 10, (2, 1): 10, (2, 3): 11, (3, 2): 11}
        seen.add(bridge)
    assert seen == {0.0, 1.0}, "either of the source's cut edges may be the one"


def test_label_worked_out_by_hand():
    """All saliency of the source comes, a quarter of the target's goes with its region."""
    found = marked([path(2, 0, 0), path(2, 0, 1)], saliency=[1.0, 0.0, 3.0, 1.0])
    method = GraphTransplant(centres=0.5, spread=0.0, num_classes=3)
    labels = set()
    for seed in range(20):
        made = method.augment_graphs(found, torch.tensor([1]), torch.Generator().manual_seed(seed))
        came, stayed = made.node["number"].tolist()
        assert came == 0, "the most salient node"
        left = {2: 0.75, 3: 0.25}[stayed]
        assert made.y[0].tolist() == pytest.approx([1 / (1 + left), left / (1 + left), 0.0])
        labels.add(stayed)
    assert labels == {2, 3}


def test_graphs_without_saliency_are_weighed_by_their_nodes():
    found = marked([path(4, 0, 0), path(4, 0, 1)], saliency=[0.0] * 8)
    made = GraphTransplant(centres=0.5, spread=0.0, num_classes=3).augment_graphs(
        found, torch.tensor([1]), torch.Generator()
    )
    assert made.y[0].tolist() == [0.5, 0.5, 0.0]


def test_a_source_part_grows_hop_by_hop():
    found = marked([path(9, 0, 0), path(9, 0, 1)], saliency=[0, 0, 0, 0, 9, 0, 0, 0, 0] + [1] * 9)
    reached = set()
    for seed in range(40):
        made = GraphTransplant(3, spread=1.0, num_classes=3).augment_graphs(
            found, torch.tensor([1]), torch.Generator().manual_seed(seed)
        )
        reached.add(tuple(n for n in made.node["number"].tolist() if n < 9))
    assert reached == {(3, 4, 5), (2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 6, 7)}, "1, 2 or 3 rounds from the centre"


def test_saliency_against_finite_differences():
    found = graphs(3)
    model = backbone_for(pack(found), outputs=3, hidden_channels=4, num_layers=2).double().eval()
    method = GraphTransplant(num_classes=3)
    batch = augment_with_seed(method, found)
    batch.y = batch.y.double()
    h = model.encode(batch).detach()

    def value(vectors):
        return method.criterion(model.head(model.embed(batch, vectors)), batch.y).item()

    slow = torch.zeros_like(h)
    for v, c in np.ndindex(*h.shape):
        up, down = h.clone(), h.clone()
        up[v, c] += 1e-6
        down[v, c] -= 1e-6
        slow[v, c] = (value(up) - value(down)) / 2e-6
    got = method.saliency(model, batch)
    assert torch.allclose(got, (slow**2).sum(1).sqrt(), rtol=1e-4, atol=1e-8)
    assert all(p.grad is None for p in model.parameters()), "it adds nothing to the gradients of the weights"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.floats(0.05, 0.8))
def test_against_networkx(seed, directed, density):
    """Both sides are induced subgraphs; each join stands for one cut edge of either side, and none is doubled."""
    rng = np.random.default_rng(seed)
    found = [random_graph(rng, int(rng.integers(1, 9)), density=density, directed=directed, y=[0]) for _ in range(6)]
    packed = marked(found)
    source, target = packed.select(torch.arange(3)), packed.select(torch.arange(3, 6))
    part, rest = (torch.from_numpy(rng.random(p.num_nodes) < 0.5) for p in (source, target))
    part[source.ptr[:-1]] = True
    made = transplant(source, target, part, rest, torch.Generator().manual_seed(seed))
    assert len(made) == 3
    for g in range(3):
        sides = [(source.graph(g), part[source.ptr[g] : source.ptr[g + 1]])]
        sides.append((target.graph(g), rest[target.ptr[g] : target.ptr[g + 1]]))
        graph = made.graph(g)
        name = graph.number.tolist()
        got = {
            (name[a], name[b]): row
            for (a, b), row in zip(graph.edge_index.T.tolist(), graph.edge_attr.tolist(), strict=True)
        }
        assert len(got) == graph.num_edges, "no edge twice"
        wanted, stubs = {}, []
        for data, kept in sides:
            numbers = data.number.tolist()
            whole = nx.DiGraph()
            whole.add_nodes_from(numbers)
            for (a, b), row in zip(data.edge_index.T.tolist(), data.edge_attr.tolist(), strict=True):
                whole.add_edge(numbers[a], numbers[b], row=row)
            inside = {n for n, k in zip(numbers, kept.tolist(), strict=True) if k}
            wanted |= {(a, b): d["row"] for a, b, d in whole.subgraph(inside).edges(data=True)}
            loose = nx.Graph(whole)
            stubs.append({n: sum(m not in inside for m in loose.neighbors(n)) for n in inside})
            if not inside.issuperset(numbers) and len(stubs) == 1:
                rows = [d["row"] for a, b, d in whole.edges(data=True) if (a in inside) != (b in inside)]
        assert {e: r for e, r in got.items() if e in wanted} == wanted
        bridges = {e: r for e, r in got.items() if e not in wanted}
        assert all(r in rows for r in bridges.values()), "joins have attributes of the source's cut edges"
        joins = {frozenset(e) for e in bridges}
        for node in set(name):
            side = stubs[0] if node in stubs[0] else stubs[1]
            assert sum(node in j for j in joins) <= side[node], "no degree grows"
        assert all((a in stubs[0]) != (b in stubs[0]) for a, b in joins)
        most = min(sum(side.values()) for side in stubs)
        assert len(joins) <= most
        assert (len(joins) > 0) == (most > 0), "what can be joined is"


def test_what_a_step_is_trained_on():
    found = graphs()
    seen = in_training(GraphTransplant(num_classes=3), found)
    assert seen.augmented.tolist() == [False] * 12 + [True] * 6
    packed = pack(seen)  # checks edges and features
    assert int(packed.sizes.min()) >= 1
    assert torch.allclose(seen.y.sum(1), torch.ones(18), atol=1e-6)
    assert bool((seen.y >= 0).all())
    soft = seen.y[12:]
    assert bool(((soft > 0) & (soft < 1)).any())
    rows = {tuple(r) for g in found for r in g.x.tolist()}
    assert {tuple(r) for r in seen.x.tolist()} <= rows, "features travel whole"
    assert SALIENCY not in seen
    assert in_training(GraphTransplant(replace=True, ratio=1.0, num_classes=3), found).augmented.tolist() == [True] * 12


def test_same_seed_same_graphs_in_training():
    found = graphs()
    one, two, other = (in_training(GraphTransplant(num_classes=3), found, seed=s) for s in (0, 0, 1))
    assert torch.equal(one.edge_index, two.edge_index)
    assert torch.equal(one.y, two.y)
    assert one.edge_index.shape != other.edge_index.shape or not torch.equal(one.edge_index, other.edge_index)


def test_degree_features_are_computed_anew():
    found = graphs(edge_width=None)
    for data in found:
        degree = torch.bincount(data.edge_index[0], minlength=data.num_nodes)
        data.x = torch.eye(12)[degree]
    seen = in_training(GraphTransplant(degree_features=True, ratio=2.0).fit(found), found)
    degree = torch.bincount(seen.edge_index[0], minlength=seen.num_nodes)
    assert torch.equal(seen.x.argmax(1), degree)


def test_missing_tasks_and_one_graph():
    found = graphs(x="int", edge_width=None)
    for i, data in enumerate(found):
        data.y = torch.tensor([[float(i % 2), float("nan") if i % 3 else 1.0]])
    seen = in_training(GraphTransplant(task="binary"), found, outputs=2)
    assert seen.num_graphs == 18
    assert not seen.y[:, 0].isnan().any()
    alone = in_training(GraphTransplant(ratio=1.0, num_classes=3), graphs(1))
    assert alone.num_graphs == 1, "there is no partner"


def test_alone_it_gives_the_plain_batch():
    found = graphs()
    out = GraphTransplant(num_classes=3)(Batch.from_data_list(found))
    assert out.num_graphs == 12
    assert torch.equal(out.edge_index, Batch.from_data_list(found).edge_index)
    assert out.y.argmax(1).tolist() == [int(g.y) for g in found]
    with pytest.raises(InputError, match="can make no graph"):
        next(GraphTransplant(num_classes=3).generate(pack(found), count=1))


def test_wrong_input_is_named():
    with pytest.raises(InputError, match="Linear has no encode, embed, head"):
        GraphTransplant(num_classes=3).loss(nn.Linear(3, 3), Batch.from_data_list(graphs()))
    with pytest.raises(InputError, match="hops must be at least 1, got 0"):
        GraphTransplant(0)
    with pytest.raises(InputError, match="spread must lie between 0 and 1, got 2"):
        GraphTransplant(spread=2)
