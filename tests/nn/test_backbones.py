import numpy as np
import pytest
import torch

from epic import InputError
from epic.graphs.convert import pack
from epic.train import backbone_for
from tests.sample_graphs import random_graph


def some(**kind):
    rng = np.random.default_rng(0)
    return pack([random_graph(rng, n, y=[n % 2], **kind) for n in (4, 6, 1, 5)])


@pytest.mark.parametrize("conv", ["gin", "gcn"])
@pytest.mark.parametrize("kind", [{}, {"x": "int", "edge_width": None}, {"x": "onehot", "edge_width": 1}])
def test_forward_is_head_of_embed_and_graphs_do_not_leak(conv, kind):
    graphs = some(**kind)
    model = backbone_for(graphs, outputs=3, conv=conv, hidden_channels=16).eval()
    batch = graphs.to_batch()
    out = model(batch)
    assert out.shape == (4, 3)
    assert torch.allclose(out, model.head(model.embed(batch)))
    assert torch.allclose(out, model.head(model.embed(batch, model.encode(batch))))
    alone = torch.cat([model(graphs.select(torch.tensor([g])).to_batch()) for g in range(4)])
    assert torch.allclose(out, alone, atol=1e-4)


def test_forms():
    floats, ints = backbone_for(some(), outputs=2), backbone_for(some(x="int"), outputs=2)
    assert (floats.config.hidden_channels, floats.config.num_layers, floats.config.pool) == (64, 5, "sum")
    assert (ints.config.hidden_channels, ints.config.num_layers, ints.config.pool) == (300, 5, "mean")
    molecules = some()
    molecules.node["x"] = torch.zeros(16, 9, dtype=torch.long)
    molecules.node["x"][0, 0] = 5
    assert backbone_for(molecules, outputs=1).first.columns.sizes[0] == 119  # OGB's tables


def test_pooling_and_weights():
    graphs = some()
    batch = graphs.to_batch()
    add, mean = backbone_for(graphs, outputs=2, pool="sum").eval(), backbone_for(graphs, outputs=2, pool="mean").eval()
    assert torch.allclose(add.embed(batch) / graphs.sizes[:, None], mean.embed(batch), atol=1e-4)
    before = add(batch)
    batch.edge_weight = torch.ones(batch.edge_index.shape[1])
    assert torch.allclose(add(batch), before, atol=1e-5)
    batch.edge_weight = torch.zeros(batch.edge_index.shape[1])
    assert not torch.allclose(add(batch), before, atol=1e-3)


def test_seeds_and_bad_options():
    graphs = some()
    state = torch.get_rng_state()
    one, two, three = (backbone_for(graphs, outputs=2, seed=s) for s in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(one.head[1].weight, two.head[1].weight)
    assert not torch.equal(one.head[1].weight, three.head[1].weight)
    with pytest.raises(InputError, match="unknown backbone 'gat'"):
        backbone_for(graphs, outputs=2, conv="gat")
    with pytest.raises(InputError, match="did you mean 'hidden_channels'"):
        backbone_for(graphs, outputs=2, hidden_chanels=3)
    with pytest.raises(InputError, match="no x"):
        backbone_for(some(x=None), outputs=2)


def test_one_graph_alone_meets_the_running_averages():
    graphs = some()
    model = backbone_for(graphs, outputs=2, dropout=0.0)
    model(graphs.to_batch())  # moves the averages of BatchNorm
    pooled = torch.randn(1, 64)
    before = model.head[0].running_mean.clone()
    alone = model.head(pooled)
    assert torch.equal(model.head[0].running_mean, before)
    assert torch.allclose(alone, model.eval().head(pooled))


@pytest.mark.parametrize("head_norm", [True, False])
def test_large_sums_do_not_kill_the_head(head_norm):
    """Why there is a norm: without it, units of the head die at lr 0.01, and with them all that is learned."""
    torch.manual_seed(0)
    model = backbone_for(some(), outputs=2, dropout=0.0, head_norm=head_norm)
    label = torch.arange(64) % 2
    pooled = 300 + 30 * torch.randn(64, 64) + 60 * label[:, None]
    optimizer = torch.optim.Adam(model.head.parameters(), lr=0.01)
    for _ in range(150):
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(model.head(pooled), label)
        value.backward()
        optimizer.step()
    assert (float(value.detach()) < 0.1) == head_norm
