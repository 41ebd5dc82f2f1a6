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


@pytest.mark.slow
@pytest.mark.parametrize("pairs", ["random", "different", "same"])
def test_over_many_batches_all_pairs_are_alike(pairs):
    """Though each batch draws its partners from a part of its graphs."""
    y = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
    generator = torch.Generator().manual_seed(1)
    table = torch.zeros(8, 8)
    for _ in range(6000):
        i, j = draw_pairs(y, 8, 4, pairs, generator)
        if pairs == "random":
            assert torch.cat([i, j]).unique().numel() == 2  # four pairs from two graphs
        table.index_put_((i, j), torch.ones(i.numel()), accumulate=True)
    allowed = {
        "random": ~torch.eye(8, dtype=torch.bool),
        "different": y[:, None] != y,
        "same": (y[:, None] == y) & ~torch.eye(8, dtype=torch.bool),
    }[pairs]
    assert (table[~allowed] == 0).all()
    seen = table[allowed] / table.sum() * allowed.sum()
    assert seen.min() > 0.85
    assert seen.max() < 1.15


def test_no_pair_is_missed_because_the_pool_is_small():
    y = torch.tensor([0] * 30 + [1])
    for seed in range(20):
        i, j = draw_pairs(y, 31, 2, "different", torch.Generator().manual_seed(seed))
        assert i.numel() == 2
        assert (y[i] != y[j]).all()
