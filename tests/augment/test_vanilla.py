import pytest
import torch
from torch_geometric.data import Batch

from epic.augment import Vanilla, training_steps
from epic.labels import loss
from epic.testing import AugmentationTester
from epic.testing import random_graphs as graphs
from epic.train import backbone_for


class TestVanilla(AugmentationTester):
    def method(self):
        return Vanilla(seed=0)


def test_nothing_changes():
    data = graphs()
    batch = Batch.from_data_list(data)
    out = Vanilla()(batch)
    for key in ("x", "edge_index", "edge_attr", "y", "batch", "ptr"):
        assert torch.equal(out[key], batch[key])
        assert out[key].dtype == batch[key].dtype
    assert not out.augmented.any()


def test_its_loss_is_cross_entropy_with_class_numbers():
    from epic.graphs.convert import pack

    data = graphs(x="onehot")
    batch = Batch.from_data_list(data)
    model = backbone_for(pack(data), outputs=3, hidden_channels=8, num_layers=2).eval()
    value = training_steps(Vanilla()).loss(model, batch).detach()
    expected = -model(batch).log_softmax(1)[torch.arange(12), batch.y].mean().detach()
    assert float(value) == pytest.approx(float(expected), rel=1e-5)


def test_missing_tasks_have_no_part_in_the_loss():
    y = torch.tensor([[1.0, float("nan")], [0.0, 1.0]])
    output = torch.tensor([[0.0, 7.0], [0.0, 0.0]])
    assert float(loss(output, y, "binary")) == pytest.approx(0.693147, abs=1e-5)
