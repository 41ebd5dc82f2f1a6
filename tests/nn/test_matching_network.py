import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from epic import InputError
from epic.graphs.convert import pack
from epic.nn.layers import FeatureSchema
from epic.nn.matching_network import MatchingNetwork, blocks
from tests.sample_graphs import random_graph


def four(seed=0, **kind):
    rng = np.random.default_rng(seed)
    return [random_graph(rng, int(rng.integers(1, 8)), **kind) for _ in range(4)]


def network(packed, layers=2, width=6, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        edges = None if packed.edge_attr is None else FeatureSchema.of(packed.edge_attr, "edge_attr")
        net = MatchingNetwork(FeatureSchema.of(packed.x, "x"), edges, hidden_channels=width, num_layers=layers).eval()
        for name, value in net.named_buffers():  # as if it had been trained
            if name.endswith(("running_mean", "running_var")):
                value.copy_(torch.rand(value.shape) + 0.5)
        return net


def slow(net, data, other):
    """Node vectors of two graphs, node by node from the formulas, with the same weights."""
    sides = [data, other]
    h = [[net.first.linear(row) for row in g.x] for g in sides]
    for layer in net.rounds:
        new = []
        for k, g in enumerate(sides):
            rows = []
            for v, own in enumerate(h[k]):
                inside = torch.zeros_like(own)
                for e, (a, b) in enumerate(g.edge_index.T.tolist()):
                    if b == v:
                        inside = inside + torch.relu(layer.message(h[k][a]) + layer.edges.linear(g.edge_attr[e]))
                score = torch.stack([own @ o for o in h[1 - k]]) / len(own) ** 0.5
                seen = sum(w * o for w, o in zip(score.softmax(0), h[1 - k], strict=True))
                rows.append(layer.norm(own + layer.update(torch.cat([own, inside, own - seen])[None]))[0])
            new.append(rows)
        h = new
    return [torch.stack(rows) for rows in h]


@pytest.mark.parametrize("seed", range(5))
def test_against_loops(seed):
    found = four(seed, directed=seed % 2 == 1)
    packed = pack(found)
    net = network(packed)
    with torch.no_grad():
        got = net(packed, blocks(packed.ptr, area=1 if seed == 0 else 1 << 18))
        for k in (0, 1):
            for g, want in zip((k, k + 2), slow(net, found[k], found[k + 2]), strict=True):
                assert torch.allclose(got[packed.ptr[g] : packed.ptr[g + 1]], want, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=12), st.integers(1, 2000))
def test_blocks_hold_every_node_once(sizes, area):
    one, two = (torch.tensor(s) for s in zip(*sizes, strict=True))
    ptr = torch.cat([torch.zeros(1, dtype=torch.long), torch.cat([one, two]).cumsum(0)])
    nodes = []
    for part in blocks(ptr, area):
        assert torch.equal(part.graph[1], part.graph[0] + len(sizes)), "a graph meets another than its partner"
        assert torch.equal(part.real.sum(2), ptr.diff()[part.graph])
        owner = torch.bucketize(part.index, ptr[1:], right=True)
        assert bool((owner == part.graph[:, :, None])[part.real].all())
        assert part.real[0].numel() * part.real.shape[2] <= max(area, part.real.shape[2] ** 2)
        nodes += part.index[part.real].tolist()
    assert sorted(nodes) == list(range(int(ptr[-1])))


def test_a_pair_does_not_depend_on_its_batch():
    packed = pack(four(1))
    net = network(packed)
    alone = packed.select(torch.tensor([1, 3]))
    both = net.embed(packed)
    assert torch.allclose(both[[1, 3]], net.embed(alone), atol=1e-6)
    assert not torch.allclose(both[[1, 3]], net.embed(packed.select(torch.tensor([1, 0, 2, 3])))[[0, 3]], atol=1e-3)


def test_distances_are_symmetric_and_zero_to_itself():
    packed = pack(four(2))
    net = network(packed)
    one, two = torch.tensor([0, 1, 2]), torch.tensor([3, 2, 2])
    with torch.no_grad():
        there, back = net.distances(packed, one, two), net.distances(packed, two, one)
    assert torch.allclose(there, back, atol=1e-5)
    assert float(there[2]) < 1e-8
    assert float(there[:2].min()) > 1e-6


def test_order_of_nodes_does_not_matter():
    found = four(3)
    packed = pack(found)
    net = network(packed)
    shuffled = found[0].clone()
    order = torch.randperm(shuffled.num_nodes, generator=torch.Generator().manual_seed(0))
    shuffled.x = shuffled.x[order]
    shuffled.edge_index = order.argsort()[shuffled.edge_index]
    assert torch.allclose(net.embed(packed), net.embed(pack([shuffled, *found[1:]])), atol=1e-5)


def test_graphs_without_the_features_it_knows_are_refused():
    packed = pack(four(0, edge_width=None))
    with pytest.raises(InputError, match="no x"):
        network(packed)(pack(four(0, x=None, edge_width=None)))
