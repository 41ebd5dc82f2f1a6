import pytest
import torch

from epic import InputError
from epic.data import stratified_folds, stratified_split

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
        stratified_split(y, 0.9, 0.1)


def test_folds_cover_everything_once_and_keep_the_classes_balanced():
    y = torch.repeat_interleave(torch.arange(3), torch.tensor([31, 22, 50]))
    splits = stratified_folds(y, 10, seed=2)
    assert torch.cat([s.test for s in splits]).sort().values.tolist() == list(range(103))
    assert torch.cat([s.validation for s in splits]).sort().values.tolist() == list(range(103))
    for s in splits:
        assert torch.cat([s.train, s.validation, s.test]).sort().values.tolist() == list(range(103))
        assert s.test.numel() in (10, 11)
        for c, size in enumerate((31, 22, 50)):
            assert int((y[s.test] == c).sum()) in (size // 10, size // 10 + 1)
    with pytest.raises(InputError, match="folds must lie between 3"):
        stratified_folds(y, 1)
