import pytest
import torch

from epic.augment.pairs import draw_pairs


def draw(y, count, pairs):
    return draw_pairs(y, len(y), count, pairs, torch.Generator().manual_seed(0))


@pytest.mark.parametrize("pairs", ["random", "different", "same"])
@pytest.mark.parametrize("y", [torch.arange(20) % 3, torch.eye(4)[torch.arange(20) % 4]])
def test_pairs(pairs, y):
    i, j = draw(y, 500, pairs)
    assert i.numel() == j.numel() == 500
    assert (i != j).all()
    same = (y[i] == y[j]).reshape(500, -1).all(1)
    if pairs != "random":
        assert same.all() if pairs == "same" else not same.any()
    assert torch.bincount(i).tolist() == [25] * 20  # each graph is a source equally often


def test_missing_labels_count_as_equal():
    y = torch.tensor([[1.0, float("nan")], [1.0, float("nan")], [0.0, float("nan")]])
    i, j = draw(y, 10, "same")
    assert set(i.tolist()) == set(j.tolist()) == {0, 1}
