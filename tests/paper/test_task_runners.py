"""Every kind of task of the paper's plans is done with the arguments of its config."""

import json

import pytest

from epic.compare.task import Performer, Task
from epic.paper.experiments.lollipop import lollipop_run
from epic.paper.plans import load_plan, names
from epic.paper.task_runners import TASK_RUNNERS


def test_every_plan_has_a_runner():
    assert {"probe", *(load_plan(name).kind for name in names())} == set(TASK_RUNNERS)


@pytest.mark.parametrize(
    ("kind", "options", "field"),
    [
        ("distance", {"cost": "unit"}, "accuracy"),
        ("blur", {"pairs": 3, "epochs": 1}, "frobenius"),
        ("curves", {"epochs": 1}, "train_loss"),
    ],
)
def test_experiments_on_a_dataset_give_records(kind, options, field, tmp_path, monkeypatch):
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path))
    config = {"dataset": "lollipop", "seed": 1, "results_version": 3, "checksum": "x", **options}
    record = Performer(tmp_path / "costs", None, TASK_RUNNERS)(Task(kind, config))
    assert field in json.loads(json.dumps(record))
    if kind == "distance":
        assert (record["seed"], record["split_seed"]) == (1, 1)


def test_lollipops_are_measured_as_told():
    config = {"graphs": 24, "unseen": 12, "epochs": 1, "seed": 2}
    record = TASK_RUNNERS["lollipop"]({**config, "results_version": 3}, None, None)
    assert record["pattern"] == lollipop_run(**config)["pattern"]
