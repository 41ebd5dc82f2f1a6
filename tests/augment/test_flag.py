import pytest
import torch
from torch import nn
from torch_geometric.data import Batch

from epic import InputError
from epic.augment import FLAG, DropEdge, Vanilla, training_steps
from epic.graphs.convert import pack
from epic.random import derived
from epic.testing import AugmentationTester, augment_with_seed
from epic.testing import random_graphs as graphs
from epic.train import backbone_for


class TestFLAG(AugmentationTester):
    def method(self):
        return FLAG(0.01, seed=0)


class Linear(nn.Module):
    """The sum of ``w . x`` over the nodes of a graph, noting the features that it is shown."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([0.5, -1.0, 2.0]))
        self.shown = []

    def forward(self, batch):
        self.shown.append(batch.x.detach())
        return torch.zeros(batch.num_graphs, 1).index_add(0, batch.batch, batch.x @ self.w[:, None])


def values():
    """Graphs with a real value each."""
    found = graphs(6, x="float")
    for i, data in enumerate(found):
        data.y = torch.tensor([[2.0 * i - 5]])
    return Batch.from_data_list(found)


def test_delta_and_gradient_of_three_passes_by_hand():
    model, a = Linear(), 0.05
    batch = FLAG(a, task="values").augment_batch(values(), derived(4))
    value = FLAG(a, task="values").loss(model, batch)
    value.backward()
    assert len(model.shown) == 3
    first = model.shown[0] - batch.x
    assert bool((first.abs() <= a * 1.001).all())
    assert float(first.min()) < -0.8 * a  # uniform over the whole interval, not half of it
    assert float(first.max()) > 0.8 * a
    delta, losses, gradient = first, [], torch.zeros(3)
    for shown in model.shown:
        assert torch.allclose(shown, batch.x + delta, atol=1e-6)
        x = batch.x + delta
        residual = torch.stack([x[batch.batch == g].sum(0) @ model.w.detach() - batch.y[g, 0] for g in range(6)])
        losses.append(float((residual**2).mean()))
        for g in range(6):
            gradient += 2 * residual[g] * x[batch.batch == g].sum(0) / 6 / 3
        # d loss / d x is 2 r w / 6, so its sign is that of r times that of w.
        delta = delta + a * residual.sign()[batch.batch, None] * model.w.detach().sign()
    assert value.item() == pytest.approx(sum(losses) / 3, rel=1e-5)
    assert torch.allclose(model.w.grad, gradient, rtol=1e-4)
    assert losses[0] < losses[1] < losses[2], "each pass is harder than the one before"


def test_integer_features_are_perturbed_after_the_encoder():
    """Against a slow version: every pass by itself, gradients by autograd, on the encoder's output."""
    found = graphs(x="int", edge_width=None)
    method = FLAG(0.1, passes=2, num_classes=3)
    batch = augment_with_seed(method, found)
    model = backbone_for(pack(found), outputs=3, hidden_channels=8, num_layers=2).eval()  # no dropout
    value = method.loss(model, batch)
    value.backward()
    got = {n: p.grad.clone() for n, p in model.named_parameters()}

    generator = torch.Generator().manual_seed(int(batch.augment_seed))
    delta = 0.1 * (2 * torch.rand(batch.num_nodes, 8, generator=generator) - 1)
    losses = []
    for _ in range(2):
        delta.requires_grad_()
        losses.append(method.criterion(model.head(model.embed(batch, model.encode(batch) + delta)), batch.y))
        delta = (delta + 0.1 * torch.autograd.grad(losses[-1], delta, retain_graph=True)[0].sign()).detach()
    assert float(value.detach()) == pytest.approx(float(sum(losses).detach()) / 2, rel=1e-5)
    wanted = torch.autograd.grad(sum(losses) / 2, list(model.parameters()))
    for (name, have), want in zip(got.items(), wanted, strict=True):
        assert torch.allclose(have, want, atol=1e-6), name


def test_without_a_perturbation_it_is_plain_training():
    found = graphs(x="onehot")
    values, gradients = [], []
    for method in (training_steps(Vanilla()), FLAG(0.0)):
        model = backbone_for(pack(found), outputs=3, hidden_channels=8, num_layers=2).eval()
        value = method.loss(model, Batch.from_data_list(found))
        value.backward()
        values.append(value.item())
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    assert values[0] == pytest.approx(values[1], rel=1e-5)
    assert torch.allclose(*gradients, atol=1e-6)


def test_labels_and_graphs_stay():
    found = graphs()
    batch = FLAG()(Batch.from_data_list(found))
    assert batch.y.tolist() == [int(g.y) for g in found]
    before = batch.x.clone()
    FLAG(0.5, num_classes=3, task="classes").loss(
        backbone_for(pack(found), outputs=3, hidden_channels=8, num_layers=2), batch
    )
    assert torch.equal(batch.x, before)


def test_wrong_input_is_named():
    whole = Batch.from_data_list(graphs(x="int", edge_width=None))
    with pytest.raises(InputError, match=r"Linear has no encode, embed, head"):
        FLAG(num_classes=3).loss(Linear(), whole)
    other = DropEdge(num_classes=3, degree_features=False)(Batch.from_data_list(graphs()))
    with pytest.raises(InputError, match="no seed of FLAG"):
        FLAG(num_classes=3).loss(Linear(), other)
    with pytest.raises(InputError, match="x to perturb"):
        FLAG(num_classes=3).loss(Linear(), Batch.from_data_list(graphs(x=None)))
    for wrong in ({"step": -1.0}, {"passes": 0}):
        with pytest.raises(InputError, match=rf"{next(iter(wrong))} must be"):
            FLAG(**wrong)
