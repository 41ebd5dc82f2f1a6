import json
from pathlib import Path

import pytest

from epic import InputError, LearnedCost
from epic.compare.task import Task
from epic.costs.learning import Learning
from epic.train.config import CostConfig, RunConfig, run_config
from epic.train.loop import Training

REGIME = Path(__file__).parents[2] / "results" / "regime.jsonl"


def test_the_key_is_what_decides_a_run():
    one = run_config(dataset="MUTAG", method="drop_edge", settings={"p": 0.2})
    assert one.key == run_config(dataset="MUTAG", settings={"p": 0.2}, method="drop_edge").key
    assert one.key != run_config(dataset="MUTAG", method="drop_edge", settings={"p": 0.3}).key
    assert one.key != run_config(dataset="MUTAG", method="drop_edge", settings={"p": 0.2}, seed=1).key
    assert RunConfig(**one.model_dump()).key == one.key


def test_how_a_csv_is_read_decides_the_run():
    plain = run_config(dataset="a.csv")
    assert plain.key == run_config(dataset="a.csv", target=None, task=None).key
    told = run_config(dataset="a.csv", target=["u", "v"], task="binary")
    assert (told.model_dump()["target"], told.model_dump()["task"]) == (["u", "v"], "binary")
    assert len({plain.key, told.key, run_config(dataset="a.csv", task="binary").key}) == 3
    assert RunConfig(**told.model_dump()).key == told.key


def test_a_run_that_is_older_than_own_networks_keeps_its_key():
    with REGIME.open() as lines:
        for _, line in zip(range(20), lines, strict=False):
            record = json.loads(line)
            config = RunConfig(**record["config"])
            assert Task(record["kind"], config.model_dump()).key == record["key"]
            assert json.loads(config.model_dump_json()) == record["config"]
            own = config.model_copy(update={"network": "nets:Net@12345678"})
            assert own.model_dump()["network"] == "nets:Net@12345678"
            assert own.key != config.key
            assert RunConfig(**own.model_dump()) == own


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"method": "dropedge"}, "unknown method 'dropedge'; did you mean 'drop_edge'"),
        ({"epochs": 0}, "epochs: Input should be greater than or equal to 1, got 0"),
        ({"epochs": "many"}, "epochs: .*got 'many'"),
        ({"noise": 1.5}, "noise: .*got 1.5"),
        ({"weight_decay": float("inf")}, "weight_decay: Input should be a finite number, got inf"),
        ({"settings": {"ratio": 1}}, "unknown setting of vanilla 'ratio'. Known: none"),
        ({"colour": 1}, "unknown option 'colour'"),
        ({"method": "epic_edges", "settings": {"ratio": 0.3}}, "epic_edges has ratio=1.0: leave it out"),
        ({"cost": {"assignment": "greedy"}}, "unknown assignment 'greedy'"),
        ({"model": {"pols": "sum"}}, "unknown option of the backbone 'pols'; did you mean 'pool'"),
        ({"method": "epic", "settings": {"cost": "unit"}}, "unknown setting of epic 'cost'"),
        ({"method": "drop_edge", "settings": {"p": "abc"}}, "^p must be a number, got 'abc'$"),
        ({"method": "node_sam", "settings": {"rounds": [2]}}, r"^rounds must be a number, got \[2\]$"),
        ({"method": "submix", "settings": {"ratio": True}}, "^ratio must be a number, got True$"),
        ({"model": {"dropout": "much"}}, "^dropout of the backbone must be a number, got 'much'$"),
    ],
)
def test_wrong_values_are_named(values, message):
    with pytest.raises(InputError, match=message):
        run_config(dataset="MUTAG", **values)


def test_defaults_are_those_of_training_and_of_learning():
    assert RunConfig(dataset="BZR").training() == Training()
    assert Learning(**CostConfig().learning(0)) == Learning()
    assert CostConfig().backbone == LearnedCost().backbone
