import pytest
import torch

from epic import InputError
from epic.data import stratified_folds, stratified_split
from epic.data.splits import hold_out, split_of, strata, stratified_draw

COUNTS = {  # class sizes of the paper's sets, and the test graphs its printed accuracies imply
    "NCI1": ([2053, 2057], 823),
    "BZR": ([319, 86], 82),
    "COX2": ([365, 102], 94),
    "Mutagenicity": ([2401, 1936], 869),
    "IMDB-BINARY": ([500, 500], 200),
    "IMDB-MULTI": ([500, 500, 500], 300),
    "PROTEINS": ([663, 450], 223),
    "ENZYMES": ([100] * 6, 120),
}


@pytest.mark.parametrize("name", COUNTS)
def test_test_sets_have_the_papers_size(name):
    sizes, expected = COUNTS[name]
    y = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    split = stratified_split(y)
    assert split.test.numel() == expected
    assert torch.cat([split.train, split.validation, split.test]).sort().values.tolist() == list(range(sum(sizes)))
    for c, size in enumerate(sizes):
        assert int((y[split.train] == c).sum()) == int(0.7 * size + 1e-9)


def test_seeds():
    y = torch.arange(100) % 2
    assert torch.equal(stratified_split(y, seed=1).test, stratified_split(y, seed=1).test)
    assert not torch.equal(stratified_split(y, seed=1).test, stratified_split(y, seed=2).test)
    with pytest.raises(InputError, match="class indices"):
        stratified_split(torch.rand(5))
    with pytest.raises(InputError, match="leave something"):
        stratified_split(y, train=0.9, validation=0.1)


def test_folds_cover_everything_once_and_are_balanced():
    y = torch.repeat_interleave(torch.arange(3), torch.tensor([31, 22, 50]))
    splits = stratified_folds(y, folds=10, seed=2)
    assert torch.cat([s.test for s in splits]).sort().values.tolist() == list(range(103))
    assert torch.cat([s.validation for s in splits]).sort().values.tolist() == list(range(103))
    for s in splits:
        assert torch.cat([s.train, s.validation, s.test]).sort().values.tolist() == list(range(103))
        assert s.test.numel() in (10, 11)
        for c, size in enumerate((31, 22, 50)):
            assert int((y[s.test] == c).sum()) in (size // 10, size // 10 + 1)
    with pytest.raises(InputError, match="folds must lie between 3"):
        stratified_folds(y, folds=1)


def test_a_share_of_each_class_is_held_out():
    y = torch.tensor([0] * 20 + [1] * 5 + [2])
    stays, held = hold_out(y, share=0.2)
    assert torch.cat([stays, held]).sort().values.tolist() == list(range(26))
    assert torch.bincount(y[held], minlength=3).tolist() == [4, 1, 0]
    assert torch.bincount(y[hold_out(y, share=0.1, least=2)[1]], minlength=3).tolist() == [2, 0, 0]
    assert hold_out(y, share=0.0)[1].numel() == 0
    assert torch.equal(hold_out(y, seed=3)[1], hold_out(y, seed=3)[1])
    assert not torch.equal(hold_out(y, share=0.5, seed=3)[1], hold_out(y, share=0.5, seed=4)[1])
    with pytest.raises(InputError, match=r"in \[0, 1\), got 1.5"):
        hold_out(y, share=1.5)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (torch.tensor([[2], [0]]), [2, 0]),
        (torch.tensor([[0.1, 0.9], [1.0, 0.0]]), [1, 0]),
        (torch.tensor([1.0, 0.0, float("nan")]), [1, 0, -1]),
        (torch.tensor([[1.0, 1.0], [0.0, 1.0]]), [0, 0]),
        (torch.tensor([0.5, 2.0]), [0, 0]),
    ],
)
def test_strata_of_every_kind_of_label(y, expected):
    assert strata(y).tolist() == expected


def test_soft_rows_are_split_by_their_largest_share():
    y = torch.eye(2)[torch.arange(40) % 2] * 0.8 + 0.1
    split = split_of(y)
    assert y[split.test].argmax(1).bincount().tolist() == [4, 4]


def test_draws_are_nested_stratified_and_leave_the_rest_to_test():
    y = torch.cat([torch.zeros(300), torch.ones(100), torch.full((200,), 2)]).long()
    draws = [stratified_draw(y, size=s, most=250, seed=7) for s in (60, 120, 480)]
    labelled = [set(torch.cat([d.train, d.validation]).tolist()) for d in draws]
    assert labelled[0] < labelled[1] < labelled[2]
    for size, draw in zip((60, 120, 480), draws, strict=True):
        parts = [draw.train, draw.validation, draw.test]
        assert sum(p.numel() for p in parts) == len(set(torch.cat(parts).tolist())) == size + min(250, 600 - size)
        assert torch.bincount(y[torch.cat(parts[:2])]).tolist() == [size // 2, size // 6, size // 3]
        assert torch.bincount(y[draw.validation]).tolist() == [size // 16, size // 48, size // 24]
    assert labelled[0] != set(stratified_draw(y, size=60, seed=8).train.tolist())
    with pytest.raises(InputError, match="size must lie between 8"):
        stratified_draw(y, size=600)


def test_numbers_of_folds_are_folds_of_shuffles():
    y = torch.arange(100) % 2
    first = [split_of(y, kind="folds", seed=f) for f in range(10)]
    assert sorted(i for s in first for i in s.test.tolist()) == list(range(100))
    assert all(torch.equal(a.test, b.test) for a, b in zip(first, stratified_folds(y, seed=0), strict=True))
    assert torch.equal(split_of(y, kind="folds", seed=13).test, stratified_folds(y, seed=1)[3].test)
    assert split_of(y, kind="folds", size=40, seed=1).test.numel() == 60
    with pytest.raises(InputError, match="did you mean 'folds'"):
        split_of(y, kind="fold")


def test_a_number_that_a_given_split_ignores_is_named(caplog):
    y = torch.arange(40) % 2
    given = stratified_split(y)
    assert split_of(y, official=given, seed=3) is given
    assert "split 3 is the same as split 0" in caplog.text
