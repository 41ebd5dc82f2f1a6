import numpy as np
import pytest
import torch
import torch.nn.functional as F

from epic import InputError
from epic.labels import loss
from epic.train.metrics import roc_auc, score

NAN = float("nan")


def by_counting(scores, labels):
    pairs = [(p, n) for p in scores[labels == 1] for n in scores[labels == 0]]
    return np.mean([(p > n) + 0.5 * (p == n) for p, n in pairs])


def test_roc_auc_counts_pairs_in_order():
    rng = np.random.default_rng(0)
    for _ in range(20):
        s, y = rng.integers(0, 6, 30).astype(float), rng.integers(0, 2, 30).astype(float)  # with ties
        assert roc_auc(torch.from_numpy(s), torch.from_numpy(y)) == pytest.approx(by_counting(s, y))


def test_tasks_without_both_classes_and_missing_labels_are_left_out():
    y = torch.tensor([[1.0, 1.0, NAN], [0.0, 1.0, 1.0], [NAN, 1.0, 0.0]])
    out = torch.tensor([[2.0, 0.0, 9.0], [1.0, 0.0, 0.0], [9.0, 0.0, 1.0]])
    assert roc_auc(out, y) == pytest.approx((1.0 + 0.0) / 2)
    with pytest.raises(InputError, match="both classes"):
        roc_auc(out[:, 1], y[:, 1])


def test_losses():
    out = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    soft = torch.softmax(torch.randn(5, 3, generator=torch.Generator().manual_seed(1)), 1)
    assert float(loss(out, soft, "classes")) == pytest.approx(
        float(-(soft * F.log_softmax(out, 1)).sum(1).mean()), rel=1e-5
    )
    y = torch.tensor([[1.0, NAN], [0.0, 1.0]])
    z = torch.tensor([[0.3, 5.0], [-0.2, 0.7]])
    expected = -torch.log(torch.sigmoid(torch.tensor([0.3, 0.2, 0.7]))).mean()
    assert float(loss(z, y, "binary")) == pytest.approx(float(expected), rel=1e-5)
    assert float(loss(torch.tensor([[1.0]]), torch.tensor([[3.0]]), "values")) == 4.0
    assert score(torch.tensor([[1.0], [2.0]]), torch.tensor([3.0, 2.0]), "values") == -1.0


def test_one_class_has_no_area():
    with pytest.raises(InputError, match="both classes, but the 3 to judge by are of one: give more graphs"):
        roc_auc(torch.zeros(3, 1), torch.ones(3, 1))
