import pytest
import torch

from epic import InputError, pack
from epic.nn.classify import class_scores, evaluating
from tests.sample_graphs import random_graphs


def network():
    return torch.nn.Sequential(torch.nn.Dropout(), torch.nn.BatchNorm1d(2).eval())


def test_every_part_gets_its_mode_back():
    model = network().train()
    model[1].eval()  # frozen by the user
    seen = []

    def fail():
        with evaluating(model):
            seen.extend(part.training for part in model.modules())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not any(seen)
    assert [part.training for part in model.modules()] == [True, True, False]


def test_scores_of_chunks_are_those_of_all(monkeypatch):
    graphs = pack(random_graphs(11, x="float"))
    seen = []

    def sizes(batch):
        seen.append(batch.num_graphs)
        return torch.bincount(batch.batch, minlength=batch.num_graphs).float()

    whole = class_scores(sizes, graphs)
    assert whole.tolist() == [[0, n] for n in graphs.sizes.tolist()], "one column is that of class 1"
    monkeypatch.setattr("epic.nn.classify.CHUNK", 4)
    assert torch.equal(class_scores(sizes, graphs), whole)
    assert seen == [11, 4, 4, 3]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (torch.zeros(3), r"scores \[2, classes\], got \(3,\)"),
        (torch.zeros(2, 1, 1), r"got \(2, 1, 1\)"),
        ("no", "got str"),
        (torch.full((2, 2), torch.nan), "returns NaN"),
    ],
)
def test_other_answers_are_refused(answer, message):
    with pytest.raises(InputError, match=message):
        class_scores(lambda batch: answer, pack(random_graphs(2)))
