import pytest

from epic import LearnedCost
from epic.data import Dataset, lollipop
from epic.data.splits import split_of
from epic.graphs.convert import pack
from epic.paper.experiments.curves import curves_run


def test_losses_of_every_epoch_are_those_of_learning():
    data = Dataset("lollipops", pack(lollipop(60, seed=0)), "classes")
    record = curves_run("lollipops", assignment="hungarian", epochs=3, seed=1, data=data)
    split = split_of(data.y, seed=0)
    train, validation = (data.graphs.select(part) for part in (split.train, split.validation))
    options = {"assignment": "hungarian", "epochs": 3, "seed": 1, "progress": False}
    history = LearnedCost().fit(train, validation=validation, **options).history_
    assert record["train_loss"] == pytest.approx([e.loss for e in history])
    assert record["validation_loss"] == pytest.approx([e.validation for e in history])
    assert len(record["ordered"]) == 3
    assert record["data"] == data.graphs.digest()
