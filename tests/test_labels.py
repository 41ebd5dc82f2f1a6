import pytest
import torch

from epic import InputError
from epic.costs.triplets import Triplets
from epic.data.dataset import task_of
from epic.labels import class_columns, count_classes, infer_task, known_task, loss, mix, soft_labels, typed


def test_integer_rows_must_be_tasks():
    assert soft_labels(torch.tensor([[0, 1], [1, 1]])).tolist() == [[0.0, 1.0], [1.0, 1.0]]
    with pytest.raises(InputError, match="must be 0 or 1, got -1"):
        soft_labels(torch.tensor([[0, -1]]))
    with pytest.raises(InputError, match="class index -2 is negative"):
        soft_labels(torch.tensor([-2, 0]), 2)


def test_mix_is_exact_at_the_ends_even_beside_missing_labels():
    nan = float("nan")
    a, b = torch.tensor([[1.0, nan]] * 3), torch.tensor([[0.0, 1.0]] * 3)
    got = mix(a, target=b, share=torch.tensor([0.0, 0.25, 1.0]))
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


def test_rounded_shares_are_classes_to_all_who_read_labels():
    """In one fit, training and triplet learning must not disagree on what labels are."""
    y = torch.tensor([[0.333, 0.333, 0.333], [0.2, 0.3, 0.501], [0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    assert infer_task(y) == task_of(y, "rounded") == "classes"
    assert not Triplets(y[1:]).ordinal
    assert class_columns(y[1:], "classes").tolist() == [[2], [0], [2]]
    values = torch.tensor([[0.2, 0.3], [0.4, 0.6], [0.1, 0.9]])  # the first row sums to 0.5
    assert infer_task(values) == "values"
    assert Triplets(values).ordinal


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (torch.tensor([0, 3]), "classes"),
        (torch.tensor([[True], [False]]), "classes"),
        (torch.tensor([[0, 1], [1, 1]]), "binary"),
        (torch.tensor([0.0, float("nan"), 1.0]), "binary"),
        (torch.tensor([[1.0, float("nan")], [0.0, 1.0]]), "binary"),
        (torch.tensor([[1.5, -0.5], [0.0, 1.0]]), "values"),
        (torch.tensor([0.5, 1.0]), "values"),
    ],
)
def test_every_kind_of_label_has_one_name(y, task):
    assert infer_task(y) == task


def test_missing_tasks_have_no_class():
    y = torch.tensor([[1.0, float("nan")], [0.0, 1.0]])
    assert class_columns(y, "binary").tolist() == [[1, -1], [0, 1]]


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (torch.arange(11), None),
        (torch.arange(60), None),
        (torch.arange(11).repeat(9), None),
        (torch.arange(11).repeat(10), "classes"),
        (torch.arange(50).repeat(10), "classes"),
        (torch.arange(51).repeat(100), None),
        (torch.tensor([0, 50] * 100), None),
        (torch.arange(10), "classes"),
        (torch.arange(100.0), "values"),
    ],
)
def test_many_integers_are_asked_about(y, task):
    if task is None:
        with pytest.raises(
            InputError, match=f"{y.unique().numel()} different integers .*task='values'.*task='classes'"
        ):
            known_task(y)
    else:
        assert known_task(y) == task
    assert known_task(y, "values") == "values"
    assert typed(y, "values").is_floating_point()
    assert typed(y, "classes").dtype == y.dtype


@pytest.mark.parametrize("task", ["binary", "values"])
def test_loss_does_not_broadcast(task):
    output, y = torch.randn(5, 1), torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0])
    by_hand = torch.stack([loss(o[None], v.reshape(1, 1), task) for o, v in zip(output, y, strict=True)]).mean()
    for given in (y, y[:, None]):
        for made in (output, output[:, 0]):
            assert torch.allclose(loss(made, given, task), by_hand)
    with pytest.raises(InputError, match=r"outputs of shape \[5, 1\] do not fit labels of shape \[4\]"):
        loss(output, y[:4], task)
