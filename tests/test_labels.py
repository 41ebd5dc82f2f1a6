import pytest
import torch

from epic import InputError
from epic.labels import count_classes, mix, soft_labels


def test_integer_rows_must_be_tasks():
    assert soft_labels(torch.tensor([[0, 1], [1, 1]])).tolist() == [[0.0, 1.0], [1.0, 1.0]]
    with pytest.raises(InputError, match="must be 0 or 1, got -1"):
        soft_labels(torch.tensor([[0, -1]]))
    with pytest.raises(InputError, match="class index -2 is negative"):
        soft_labels(torch.tensor([-2, 0]), 2)


def test_mix_is_exact_at_the_ends_even_beside_missing_labels():
    nan = float("nan")
    a, b = torch.tensor([[1.0, nan]] * 3), torch.tensor([[0.0, 1.0]] * 3)
    got = mix(a, b, torch.tensor([0.0, 0.25, 1.0]))
    assert torch.equal(got[2], b[2])
    assert got[1, 0] == 0.75
    assert torch.isnan(got[:2, 1]).all()


def test_count_classes():
    assert count_classes(torch.tensor([0, 2])) == 3
    assert count_classes(torch.tensor([[0], [0]])) == 2
    assert count_classes(torch.tensor([0.0, 1.0])) is None
    assert count_classes(torch.eye(3)) is None
    with pytest.raises(InputError, match="class index -1 is negative: number the classes from 0"):
        count_classes(torch.tensor([-1, 1]))


@pytest.mark.usefixtures("both_ways")
def test_labels_are_float32_whatever_torch_makes_by_default():
    torch.set_default_dtype(torch.double)
    try:
        assert soft_labels(torch.tensor([0, 1]), 2).dtype == torch.float
    finally:
        torch.set_default_dtype(torch.float)
    with pytest.raises(InputError, match="class index"):
        soft_labels(torch.tensor([0, 1]), -1)
    with pytest.raises(InputError, match="class index 1 but only 1 classes"):
        soft_labels(torch.tensor([True]), 1)
