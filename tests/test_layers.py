import itertools
from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch
from torch_geometric.nn import GCNConv, GINEConv

from epic.layers import Columns, Encoder, Layer
from epic.messages import Routes
from epic.packing import pack
from tests.conftest import without_numba
from tests.graphs import random_graph


def batch(edge_width):
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, n, edge_width=edge_width) for n in (4, 6)]
    return pack(graphs), Batch.from_data_list(graphs)


def test_gin_layer_equals_pygs():
    packed, data = batch(3)
    routes = Routes(packed.edge_index, 10)
    layer = Layer("gin", 5, Columns("float", (3,))).eval()
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
    routes = Routes(packed.edge_index, 10)
    layer = Layer("gcn", 5, None).eval()
    conv = GCNConv(5, 5)
    conv.lin.weight.data, conv.bias.data = layer.update.weight.data, torch.zeros(5)
    h = torch.randn(10, 5)
    with torch.no_grad():
        layer.update.bias.zero_()
    assert torch.allclose(layer(h, routes), layer.norm(conv(h, data.edge_index)), atol=1e-5)
    weight = torch.rand(packed.edge_index.shape[1])
    expected = layer.norm(conv(h, data.edge_index, weight))
    assert torch.allclose(layer(h, routes, edge_weight=weight), expected, atol=1e-5)


def test_gcn_layer_with_edge_attributes_edge_by_edge():
    packed, _ = batch(3)
    layer = Layer("gcn", 5, Columns("float", (3,))).eval()
    h, weight = torch.randn(10, 5), torch.rand(packed.edge_index.shape[1])
    with torch.no_grad():
        found = layer(h, Routes(packed.edge_index, 10), packed.edge_attr, weight)
        sent, attr = layer.update(h), layer.edges(packed.edge_attr, "edge_attr")
        degree = torch.ones(10).index_add(0, packed.edge_index[1], weight)
        total = sent / degree[:, None]
        for e, (u, v) in enumerate(packed.edge_index.t().tolist()):
            total[v] += weight[e] * torch.relu(sent[u] + attr[e]) / (degree[u] * degree[v]).sqrt()
    assert torch.allclose(found, layer.norm(total), atol=1e-5)


def test_a_weight_of_two_is_an_edge_twice():
    packed, _ = batch(None)
    routes = Routes(packed.edge_index, 10)
    layer = Layer("gin", 5, None).eval()
    h = torch.randn(10, 5)
    twice = torch.cat([packed.edge_index, packed.edge_index[:, :3]], 1)
    weight = torch.ones(packed.edge_index.shape[1])
    weight[:3] = 2
    assert torch.allclose(layer(h, Routes(twice, 10)), layer(h, routes, edge_weight=weight), atol=1e-5)


def test_integer_columns_have_a_table_each():
    encoder = Encoder(Columns("int", (3, 2)), 4)
    table = encoder.table.weight
    out = encoder(torch.tensor([[2, 1], [7, 9]]), "x")
    assert torch.equal(out[0], table[2] + table[4 + 1])
    assert torch.equal(out[1], table[3] + table[4 + 2])  # both unseen: the last row of each table


def test_columns_of_features():
    assert Columns.of(torch.tensor([[0, 4], [2, 1]]), "x") == Columns("int", (3, 5))
    assert Columns.of(torch.rand(3), "x") == Columns("float", (1,))
    with pytest.raises(ValueError, match="holds -1"):
        Columns.of(torch.tensor([[-1]]), "x")


@pytest.mark.parametrize("learning", [True, False])
def test_what_hangs_on_a_layer_is_not_gone_around(learning):
    """Hooks, and what is built on them (pruning, weight norms), and normalisation without running statistics."""
    packed = pack([random_graph(np.random.default_rng(0), 6)])
    torch.manual_seed(0)
    routes = Routes(packed.edge_index, packed.num_nodes)
    layer = Layer("gin", 3, None).eval()
    with torch.set_grad_enabled(learning):
        plain = layer(packed.x, routes)
        for part in (layer.update[0], layer.update[1], layer.update[3], layer.norm):
            fired = []
            handle = part.register_forward_hook(lambda *_, seen=fired: seen.append(1))
            assert torch.equal(layer(packed.x, routes), plain)
            assert len(fired) == 1
            handle.remove()
        for backbone in ("gin", "gcn"):
            layer = Layer(backbone, 3, None).eval()
            layer.norm = torch.nn.BatchNorm1d(3, track_running_stats=False).eval()
            assert layer(packed.x, routes).mean(0).tolist() == pytest.approx([0, 0, 0], abs=1e-5)
            layer.norm = torch.nn.BatchNorm1d(3, affine=False).eval()
            assert layer(packed.x, routes).shape == packed.x.shape


def gin(edge_width, width, precision, backbone="gin"):
    """A layer whose every parameter and moment is drawn, in evaluation."""
    edges = None if edge_width is None else Columns("float", (edge_width,))
    layer = Layer(backbone, width, edges, hidden=width + 3).to(precision).eval()
    with torch.no_grad():
        for name, value in layer.state_dict().items():
            if value.is_floating_point():
                value.copy_(torch.rand(value.shape) + 0.1 if name.endswith("var") else torch.randn(value.shape))
    return layer


@given(
    st.integers(0, 2**31),
    st.lists(st.integers(0, 9), min_size=1, max_size=5),
    st.integers(1, 40),
    st.sampled_from([None, 3]),
    st.sampled_from([torch.float, torch.double]),
    st.booleans(),
)
def test_layers_that_do_not_learn_are_the_same_without_numba(seed, sizes, width, edge_width, precision, relu):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    packed = pack([random_graph(rng, n, edge_width=edge_width, directed=bool(seed % 2), loops=True) for n in sizes])
    layer, h = gin(edge_width, width, precision), torch.randn(packed.num_nodes, width, dtype=precision)
    routes = Routes(packed.edge_index, packed.num_nodes)
    attr = None if edge_width is None else packed.edge_attr
    with torch.no_grad():
        ours = layer(h, routes, attr, relu=relu)
        with without_numba():
            theirs = layer(h, Routes(packed.edge_index, packed.num_nodes), attr, relu=relu)
    assert torch.equal(ours, theirs)
    learned = layer(h, routes, attr, relu=relu)
    assert learned.requires_grad
    assert torch.equal(ours, learned)


def test_a_layer_follows_its_parameters_wherever_they_go():
    """What is kept of them must not be what they were."""
    torch.manual_seed(0)
    packed = pack([random_graph(np.random.default_rng(0), 6)])
    layer, routes, h = gin(None, 4, torch.float), Routes(packed.edge_index, 6), torch.randn(6, 4)

    def check(module, rows=h):
        with torch.no_grad():
            found = module(rows, routes)
            with without_numba():
                assert torch.equal(found, module(rows, routes))
        return found

    seen = [check(layer)]
    other = gin(None, 4, torch.float)
    layer.load_state_dict(other.state_dict())
    seen.append(check(layer))
    layer.load_state_dict(gin(None, 4, torch.float).state_dict(), assign=True)
    seen.append(check(layer))
    layer.norm.weight.data = torch.randn(4)
    seen.append(check(layer))
    layer.norm = torch.nn.BatchNorm1d(4).eval()
    seen.append(check(layer))
    with torch.no_grad():
        layer.eps.add_(1)
    seen.append(check(layer))
    twin = deepcopy(layer)
    with torch.no_grad():
        twin.norm.bias.add_(1)
    seen += [check(twin), check(layer.double(), h.double()).float()]
    assert torch.equal(seen.pop().isfinite(), torch.ones(6, 4, dtype=torch.bool))
    for one, two in itertools.combinations(seen, 2):
        assert not torch.equal(one, two)


@pytest.mark.usefixtures("both_ways")
def test_what_is_not_a_number_does_not_vanish_in_a_relu():
    packed = pack([random_graph(np.random.default_rng(0), 6, edge_width=2)])
    for edge_width, attr in ((None, None), (2, packed.edge_attr)):
        layer, h = gin(edge_width, 4, torch.float), torch.zeros(6, 4)
        h[3, 1] = torch.nan
        with torch.no_grad():
            assert layer(h, Routes(packed.edge_index, 6), attr, relu=True)[3].isnan().all()


@pytest.mark.usefixtures("both_ways")
def test_edges_from_nowhere():
    with torch.no_grad(), pytest.raises((IndexError, RuntimeError)):
        gin(None, 4, torch.float)(torch.zeros(3, 4), Routes(torch.tensor([[7], [0]]), 3))
