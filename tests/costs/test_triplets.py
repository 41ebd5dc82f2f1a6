import pytest
import torch

from epic import InputError
from epic.costs.triplets import Triplets

NAN = float("nan")


def drawn(y, rounds=40):
    triplets = Triplets(y)
    generator = torch.Generator().manual_seed(0)
    anchor = triplets.anchors.repeat(rounds)
    return anchor, *triplets.draw(anchor, generator)


@pytest.mark.parametrize(
    "y", [torch.arange(30) % 3, (torch.arange(30) % 3)[:, None], torch.eye(3)[torch.arange(30) % 3]]
)
def test_classes(y):
    a, p, n = drawn(y)
    c = torch.arange(30) % 3
    assert (c[a] == c[p]).all()
    assert (a != p).all()
    assert (c[a] != c[n]).all()
    assert p.unique().numel() == n.unique().numel() == 30


def test_a_class_of_one_is_never_an_anchor_but_may_be_a_negative():
    a, _, n = drawn(torch.tensor([0, 0, 0, 1]))
    assert set(a.tolist()) == {0, 1, 2}
    assert set(n.tolist()) == {3}


def test_tasks_with_missing_labels():
    y = torch.tensor([[0, NAN], [0, 1], [1, 1], [NAN, 0], [1, 0], [NAN, NAN]])
    a, p, n = drawn(y)
    assert 5 not in torch.cat([a, p, n])
    for i, j, k in zip(a.tolist(), p.tolist(), n.tolist(), strict=True):
        assert any(y[i, t] == y[j, t] and y[k, t] == 1 - y[i, t] for t in range(2))


def test_real_values_order_by_difference():
    y = torch.randn(20, generator=torch.Generator().manual_seed(1))
    a, p, n = drawn(y)
    assert ((y[a] - y[p]).abs() <= (y[a] - y[n]).abs()).all()
    assert (a != p).all()
    assert (a != n).all()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (torch.zeros(5, dtype=torch.long), r"1 class\(es\) \[0\]"),
        (torch.tensor([-1, 1, -1, 1]), "class index -1 is negative: number the classes from 0"),
        (torch.full((5,), 0.5), "same target 0.5"),
        (torch.tensor([0.5, NAN, 2.0]), "NaN"),
    ],
)
def test_nothing_to_tell_apart_is_refused(y, message):
    with pytest.raises(InputError, match=message):
        Triplets(y)
