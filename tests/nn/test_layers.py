import numpy as np
import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.nn import GCNConv, GINEConv

from epic.graphs.convert import pack
from epic.nn.layers import Encoder, FeatureSchema, Layer
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
