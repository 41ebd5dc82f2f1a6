import pytest
import torch
from scipy.stats import kstest
from torch import nn
from torch_geometric.data import Batch

from epic import InputError
from epic.augment import DropEdge, ManifoldMixup
from epic.graphs.convert import pack
from epic.testing import AugmentationTester, augment_with_seed
from epic.testing import random_graphs as graphs
from epic.train import backbone_for


class TestManifoldMixup(AugmentationTester):
    def method(self):
        return ManifoldMixup(seed=0)


def test_loss_against_the_formula():
    found = graphs()
    method = ManifoldMixup(2.0, num_classes=3)
    batch = augment_with_seed(method, found, 5)
    model = backbone_for(pack(found), outputs=3, hidden_channels=8, num_layers=2).eval()
    l, other = float(batch.mixup_share), batch.mixup_partner.tolist()
    assert 0 < l < 1
    assert sorted(other) == list(range(12))
    assert other != sorted(other)
    h = model.embed(batch)
    expected = 0.0
    for i, j in enumerate(other):
        log_p = model.head((l * h[i] + (1 - l) * h[j])[None])[0].log_softmax(0)
        expected -= (l * log_p[int(found[i].y)] + (1 - l) * log_p[int(found[j].y)]) / 12
    assert method.loss(model, batch).item() == pytest.approx(expected.item(), rel=1e-5)


class Given(nn.Module):
    """A model whose vectors are given, and whose head changes nothing."""

    def __init__(self, vectors):
        super().__init__()
        self.vectors = torch.tensor(vectors)

    def embed(self, batch):
        return self.vectors

    def head(self, h):
        return h


def two(y, share):
    """A batch of two graphs that are each other's partner."""
    found = graphs(2)
    for data, label in zip(found, y, strict=True):
        data.y = torch.tensor([label])
    batch = ManifoldMixup(task="values")(Batch.from_data_list(found))
    batch.mixup_share, batch.mixup_partner = torch.tensor(share), torch.tensor([1, 0])
    return batch


def test_label_rule_for_values_by_hand():
    """Vectors 1 and 5 with shares 0.75 and 0.25 become 2 and 4; labels are 0 and 2."""
    value = ManifoldMixup(task="values").loss(Given([[1.0], [5.0]]), two([[0.0], [2.0]], 0.75))
    own, partners = (2.0**2 + 2.0**2) / 2, (0.0**2 + 4.0**2) / 2
    assert float(value) == pytest.approx(0.75 * own + 0.25 * partners)


def test_missing_tasks_count_only_where_they_are_known():
    """Task 0 is known of the first graph, task 1 of the second."""
    nan = float("nan")
    batch = two([[1.0, nan], [nan, 0.0]], 0.5)
    value = ManifoldMixup(task="binary").loss(Given([[0.0, 0.0], [0.0, 0.0]]), batch)
    assert float(value) == pytest.approx(torch.tensor(2.0).log().item())


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
def test_shares_are_beta_distributed(alpha):
    method, generator = ManifoldMixup(alpha), torch.Generator().manual_seed(0)
    batch = Batch.from_data_list(graphs(2))
    shares = []
    for _ in range(1000):
        method.attach_randomness(batch, generator)
        shares.append(float(batch.mixup_share))
    assert kstest(shares, "beta", args=(alpha, alpha)).pvalue > 0.01


def test_graphs_and_labels_of_the_batch_stay():
    found = graphs()
    batch = ManifoldMixup(num_classes=3)(Batch.from_data_list(found))
    assert batch.y.argmax(1).tolist() == [int(g.y) for g in found]
    assert not batch.augmented.any()


def test_wrong_input_is_named():
    batch = Batch.from_data_list(graphs())
    with pytest.raises(InputError, match="Linear has no embed, head"):
        ManifoldMixup(num_classes=3).loss(nn.Linear(3, 3), batch)
    with pytest.raises(InputError, match="no partners"):
        ManifoldMixup(num_classes=3).loss(Given([[0.0]]), DropEdge(num_classes=3, degree_features=False)(batch))
    with pytest.raises(InputError, match=r"alpha must be a positive number, got 0"):
        ManifoldMixup(0)
