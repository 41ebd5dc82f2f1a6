import pytest
import torch

from epic.augment.sampling import draw_pairs


def draw(y, count, pairs, seed=0):
    return draw_pairs(y, graphs=len(y), count=count, pairs=pairs, generator=torch.Generator().manual_seed(seed))


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


@pytest.mark.parametrize("pairs", ["random", "different", "same"])
def test_over_many_batches_all_allowed_pairs_are_alike(pairs):
    y = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
    generator = torch.Generator().manual_seed(1)
    table = torch.zeros(8, 8)
    for _ in range(4000):
        table.index_put_(
            draw_pairs(y, graphs=8, count=4, pairs=pairs, generator=generator), torch.ones(4), accumulate=True
        )
    allowed = {
        "random": ~torch.eye(8, dtype=torch.bool),
        "different": y[:, None] != y,
        "same": (y[:, None] == y) & ~torch.eye(8, dtype=torch.bool),
    }[pairs]
    assert (table[~allowed] == 0).all()
    seen = table[allowed] / table.sum() * allowed.sum()
    assert seen.min() > 0.8
    assert seen.max() < 1.2


@pytest.mark.parametrize("pairs", ["random", "different"])
def test_pairs_come_from_the_whole_batch(pairs):
    """Sixteen pairs of 32 graphs have sixteen sources, and partners among all of the others."""
    y = torch.arange(32) % 2
    taken = torch.zeros(32)
    generator = torch.Generator().manual_seed(0)
    for _ in range(500):
        i, j = draw_pairs(y, graphs=32, count=16, pairs=pairs, generator=generator)
        assert i.unique().numel() == 16
        assert torch.cat([i, j]).unique().numel() > 16
        taken += torch.bincount(torch.cat([i, j]), minlength=32)
    assert taken.sum() == 500 * 32
    assert taken.min() > 500 * 0.85
    assert taken.max() < 500 * 1.15


def test_a_graph_is_a_source_at_most_once_more_than_another():
    y = torch.tensor([0] * 5 + [1] * 2)
    for pairs in ("random", "different", "same"):
        for seed in range(5):
            i, _ = draw(y, 10, pairs, seed)
            count = torch.bincount(i, minlength=7)
            assert int(count.max() - count.min()) == 1


def test_a_rare_class_is_found():
    y = torch.tensor([0] * 30 + [1])
    for seed in range(20):
        i, j = draw(y, 2, "different", seed)
        assert i.numel() == 2
        assert (y[i] != y[j]).all()


def test_no_pair_where_none_is_allowed():
    for y, pairs in ((torch.zeros(4), "different"), (torch.arange(4), "same"), (torch.zeros(1), "random")):
        assert [t.numel() for t in draw(y, 5, pairs)] == [0, 0]


def test_the_nearest_in_size_of_eight_drawn():
    """Sizes 0 to 99: the nearest of eight is some 6 away on average, and a random one 33."""
    y, sizes = torch.arange(100) % 2, torch.arange(100)
    generator = torch.Generator().manual_seed(0)
    i, j = draw_pairs(y, graphs=100, count=2000, pairs="different", generator=generator, sizes=sizes)
    assert (y[i] != y[j]).all()
    assert 4 < float((i - j).abs().double().mean()) < 9
    assert torch.bincount(i).tolist() == [20] * 100
