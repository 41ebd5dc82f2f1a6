import numpy as np
import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.nn import GCNConv, GINEConv

from epic.graphs.convert import pack
from epic.nn.layers import Encoder, FeatureSchema, Layer, dropout
from epic.nn.messages import SortedEdges
from tests.sample_graphs import random_graph


def batch(edge_width):
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, n, edge_width=edge_width) for n in (4, 6)]
    return pack(graphs), Batch.from_data_list(graphs)


def test_gin_layer_equals_pygs():
    packed, data = batch(3)
    routes = SortedEdges(packed.edge_index, 10)
    layer = Layer("gin", 5, FeatureSchema("float", (3,))).eval()
    with torch.no_grad():
        layer.eps.fill_(0.3)
    conv = GINEConv(layer.update, eps=0.3, edge_dim=3)
    conv.lin.load_state_dict(layer.edges.linear.state_dict())
    conv.eval()
    h = torch.randn(10, 5)
    expected = layer.norm(conv(h, data.edge_index, data.edge_attr))
    assert torch.allclose(layer(h, routes, packed.edge_attr), expected, atol=1e-5)


def test_gcn_layer_equals_pygs():
    packed, data = batch(None)
    routes = SortedEdges(packed.edge_index, 10)
    layer = Layer("gcn", 5, None).eval()
    conv = GCNConv(5, 5)
    conv.lin.weight.data, conv.bias.data = layer.update.weight.data, torch.zeros(5)
    h = torch.randn(10, 5)
    with torch.no_grad():
        layer.update.bias.zero_()
    assert torch.allclose(layer(h, routes), layer.norm(conv(h, data.edge_index)), atol=1e-5)
    weight = torch.rand(packed.edge_index.shape[1])
    expected = layer.norm(conv(h, data.edge_index, weight))
    assert torch.allclose(layer(h, SortedEdges(packed.edge_index, 10, weight)), expected, atol=1e-5)


def test_gcn_layer_with_edge_attributes_edge_by_edge():
    packed, _ = batch(3)
    layer = Layer("gcn", 5, FeatureSchema("float", (3,))).eval()
    h, weight = torch.randn(10, 5), torch.rand(packed.edge_index.shape[1])
    with torch.no_grad():
        found = layer(h, SortedEdges(packed.edge_index, 10, weight), packed.edge_attr)
        sent, attr = layer.update(h), layer.edges(packed.edge_attr, "edge_attr")
        degree = torch.ones(10).index_add(0, packed.edge_index[1], weight)
        total = sent / degree[:, None]
        for e, (u, v) in enumerate(packed.edge_index.t().tolist()):
            total[v] += weight[e] * torch.relu(sent[u] + attr[e]) / (degree[u] * degree[v]).sqrt()
    assert torch.allclose(found, layer.norm(total), atol=1e-5)


def test_a_weight_of_two_is_an_edge_twice():
    packed, _ = batch(None)
    layer = Layer("gin", 5, None).eval()
    h = torch.randn(10, 5)
    twice = torch.cat([packed.edge_index, packed.edge_index[:, :3]], 1)
    weight = torch.ones(packed.edge_index.shape[1])
    weight[:3] = 2
    weighted = SortedEdges(packed.edge_index, 10, weight)
    assert torch.allclose(layer(h, SortedEdges(twice, 10)), layer(h, weighted), atol=1e-5)


def test_integer_columns_have_a_table_each():
    encoder = Encoder(FeatureSchema("int", (3, 2)), 4)
    table = encoder.table.weight
    out = encoder(torch.tensor([[2, 1], [7, 9]]), "x")
    assert torch.equal(out[0], table[2] + table[4 + 1])
    assert torch.equal(out[1], table[3] + table[4 + 2])  # both unseen: the last row of each table


def test_columns_of_features():
    assert FeatureSchema.of(torch.tensor([[0, 4], [2, 1]]), "x") == FeatureSchema("int", (3, 5))
    assert FeatureSchema.of(torch.rand(3), "x") == FeatureSchema("float", (1,))
    with pytest.raises(ValueError, match="holds -1"):
        FeatureSchema.of(torch.tensor([[-1]]), "x")


def test_what_hangs_on_a_layer_is_not_gone_around():
    """Hooks, and what is built on them (pruning, weight norms), and normalisation without running statistics."""
    packed = pack([random_graph(np.random.default_rng(0), 6)])
    torch.manual_seed(0)
    routes = SortedEdges(packed.edge_index, packed.num_nodes)
    layer = Layer("gin", 3, None).eval()
    plain, fired = layer(packed.x, routes), []
    for part in (layer.update[0], layer.update[1], layer.update[3], layer.norm):
        part.register_forward_hook(lambda *_: fired.append(1))
    assert torch.equal(layer(packed.x, routes), plain)
    assert len(fired) == 4
    layer = Layer("gcn", 3, None).eval()
    layer.norm = torch.nn.BatchNorm1d(3, track_running_stats=False).eval()
    assert layer(packed.x, routes).mean(0).tolist() == pytest.approx([0, 0, 0], abs=1e-5)


@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("shape", [(1001, 63), (1, 3), (0, 4)])
def test_dropout_zeroes_independently_and_scales(p, shape):
    torch.manual_seed(0)
    h = torch.rand(shape, dtype=torch.float64).add_(1).requires_grad_()
    out = dropout(h, p, True)
    kept = out != 0
    assert torch.allclose(out[kept], h[kept] / (1 - p))
    assert torch.equal(torch.autograd.grad(out.sum(), h)[0] != 0, kept)
    assert torch.equal(dropout(h, p, False), h)
    if shape[0] > 1000:  # each of the four numbers that share a random word, their neighbours, and rows
        for share in kept.flatten()[: 4 * 15000].view(-1, 4).double().mean(0):
            assert abs(float(share) - (1 - p)) < 0.02
        both = kept.flatten()[1:] & kept.flatten()[:-1]
        assert abs(float(both.double().mean()) - (1 - p) ** 2) < 0.01


def test_dropout_follows_torchs_seed():
    draws = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        draws.append(dropout(torch.ones(20, 20), 0.5, True))
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
