"""GIN without learning, compiled, against the layers themselves: the same to the last bit."""

import itertools
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import forward_ad
from torch.func import functional_call, vmap
from torch.nn.utils import prune
from torch.nn.utils.parametrizations import weight_norm

from epic import inference
from epic.cost.network import CostNetwork
from epic.fast import compiled
from epic.layers import Columns, Layer
from epic.packing import pack
from tests.conftest import without_numba
from tests.graphs import random_graph

pytest.importorskip("numba", reason="needs numba: pip install 'epic-graph[fast]'")


def network(seed=0, width=4, edge_width=None, precision=torch.float, layers=3, backbone="gin"):
    """Every parameter and moment drawn, in evaluation."""
    torch.manual_seed(seed)
    edges = None if edge_width is None else Columns("float", (edge_width,))
    made = CostNetwork(Columns("float", (3,)), edges, backbone, width, layers).to(precision).eval()
    for name, value in made.state_dict().items():
        if value.is_floating_point():
            value.copy_(torch.rand(value.shape) + 0.1 if name.endswith("var") else torch.randn(value.shape))
    return made


def graphs(sizes=(6, 3), seed=0, **options):
    rng = np.random.default_rng(seed)
    return pack([random_graph(rng, n, **options) for n in sizes])


def both(net, packed):
    """Embedding and price with numba, after the assurance that they are the same without."""
    with torch.no_grad():
        found = net(packed)
        with without_numba():
            assert all(map(torch.equal, found, net(packed)))
    return found


def quick(net, packed):
    """Whether the compiled way was taken."""
    answers = []
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        real = inference.gin_vectors
        patch.setattr("epic.cost.network.gin_vectors", lambda *args: answers.append(real(*args)) or answers[-1])
        net(packed)
    return answers[0] is not None


@given(
    st.integers(0, 2**31),
    st.lists(st.integers(0, 9), min_size=1, max_size=5),
    st.integers(1, 40),
    st.sampled_from([None, 2]),
    st.sampled_from([torch.float, torch.double]),
    st.booleans(),
)
def test_the_same_with_and_without_numba_and_in_learning(seed, sizes, width, edge_width, precision, directed):
    net = network(seed, width, edge_width, precision)
    packed = graphs(sizes, seed, edge_width=edge_width, directed=directed, loops=True)
    assert quick(net, packed)
    found, learned = both(net, packed), net(packed)
    assert learned[0].requires_grad
    assert all(map(torch.equal, found, learned))


def test_it_follows_its_parameters_wherever_they_go():
    """What is kept of them must not be what they were."""
    net, packed = network(width=16), graphs()
    seen = [both(net, packed)[0]]

    def changed(one):
        assert quick(one, packed)
        seen.append(both(one, packed)[0].float())

    net.load_state_dict(network(1, width=16).state_dict())
    changed(net)
    net.load_state_dict(network(2, width=16).state_dict(), assign=True)
    changed(net)
    net.layers[1].norm.weight.data = torch.randn(16)
    changed(net)
    net.layers[1].norm = torch.nn.BatchNorm1d(16).eval()
    changed(net)
    net.layers[2].update[0] = torch.nn.Linear(16, 16).eval()
    changed(net)
    with torch.no_grad():
        net.layers[0].eps.add_(1)
    changed(net)
    twin = deepcopy(net)
    with torch.no_grad():
        twin.layers[0].norm.bias.add_(1)
    changed(twin)
    prune.l1_unstructured(net.layers[1].norm, "weight", 0.5)
    assert not quick(net, packed)
    prune.remove(net.layers[1].norm, "weight")  # now its bias comes first
    changed(net)
    prune.l1_unstructured(net.layers[1].update[0], "weight", 0.5)
    prune.remove(net.layers[1].update[0], "weight")
    changed(net)
    net.layers[1].update[3].weight.data = net.layers[1].update[3].weight.data.t()
    changed(net)
    before = seen[-1]
    changed(net.double())
    assert torch.allclose(seen.pop(), before, rtol=1e-3, atol=1e-3)
    for one, two in itertools.combinations(seen, 2):
        assert not torch.equal(one, two)


def test_where_torch_rounds_otherwise_the_layers_do_it(monkeypatch):
    net, packed = network(), graphs()
    real = compiled("compiled", "normalise")

    def other(x, *rest):
        real(x, *rest)
        out = rest[-2]
        out *= 1 + 2**-20

    for precision in (torch.float, torch.double):
        assert inference._rounds_alike(compiled("compiled", "gin_sums"), real, precision)
    monkeypatch.setattr("epic.compiled.normalise", other)
    compiled.cache_clear()
    try:
        assert not quick(net, packed)
        both(net, packed)
    finally:
        compiled.cache_clear()


@pytest.mark.parametrize("place", ["layer", "first", "norm", "second", "last"])
def test_what_hangs_on_a_part_is_not_gone_around(place):
    net, packed, fired = network(), graphs(), []
    layer = net.layers[1]
    parts = {
        "layer": layer,
        **dict(zip(("first", "norm", "", "second"), layer.update, strict=True)),
        "last": layer.norm,
    }
    plain = both(net, packed)
    parts[place].register_forward_hook(lambda *_: fired.append(1))
    with torch.no_grad():
        assert all(map(torch.equal, plain, net(packed)))
    assert fired == [1]
    assert not quick(net, packed)


def test_where_it_cannot_be_had_the_layers_do_it():
    packed = graphs()
    assert quick(network(), packed)
    assert not quick(network(backbone="gcn"), packed)
    assert not quick(network().train(), packed)
    for norm in (torch.nn.BatchNorm1d(4, affine=False), torch.nn.BatchNorm1d(4, track_running_stats=False)):
        net = network()
        net.layers[1].norm = norm.eval()
        assert not quick(net, packed)
        both(net, packed)
    net = network()
    net.layers[0].update[3] = torch.nn.Linear(4, 4, bias=False).eval()
    assert not quick(net, packed)
    both(net, packed)
    net = network()
    net.layers[0].norm.weight.data = torch.arange(8.0)[::2]
    assert not quick(net, packed)
    both(net, packed)
    net = network()
    weight_norm(net.layers[1].update[0])
    weight_norm(net.price[0])
    assert not quick(net, packed)
    both(net, packed)

    class Own(Layer):
        def forward(self, h, *rest):
            return super().forward(h, *rest) + 1

    net = network()
    net.layers[1].__class__ = Own
    assert not quick(net, packed)
    both(net, packed)
    with torch.autocast("cpu"):
        assert not quick(network(), packed)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("where", ["encode", "layers.1.norm", "layers.0.update.0", "layers.2.edges"])
def test_in_a_function_transform(where):
    net, packed = network(edge_width=2), graphs(edge_width=2)
    state = {k: v for k, v in net.state_dict().items() if k.startswith(where) and k.endswith("bias")}
    assert state
    both_biases = {k: torch.stack([v, v + 1]) for k, v in state.items()}
    with torch.no_grad():
        found = vmap(lambda bias: functional_call(net, bias, (packed,))[0])(both_biases)
        assert torch.allclose(found[0], net(packed)[0], atol=1e-4)
        for k, v in state.items():
            net.get_parameter(k).copy_(v + 1)
        assert torch.allclose(found[1], net(packed)[0], atol=1e-4)
        assert not torch.allclose(found[0], found[1], atol=1e-2)


def test_derivatives_along_a_direction():
    net, packed = network(edge_width=2), graphs(edge_width=2)
    with torch.no_grad(), forward_ad.dual_level():
        dual = forward_ad.make_dual(packed.edge_attr, torch.ones_like(packed.edge_attr))
        found = net(replace(packed, edge={"edge_attr": dual}))[0]
        assert forward_ad.unpack_dual(found).tangent.abs().max() > 0


def test_what_is_not_a_number_does_not_vanish_in_a_relu():
    for edge_width in (None, 2):
        packed = graphs(edge_width=edge_width, directed=True, loops=True)
        packed.node["x"][4, 1] = torch.nan
        assert quick(network(edge_width=edge_width), packed)
        with torch.no_grad():
            assert network(edge_width=edge_width)(packed)[0][4].isnan().all()


def test_edges_from_nowhere():
    packed = graphs()
    packed.edge_index[0, 0] = 99
    with torch.no_grad(), pytest.raises(IndexError):
        network()(packed)
