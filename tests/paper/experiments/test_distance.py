"""One run of the distance table, against neighbours found from the whole matrix."""

import json
import runpy
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from epic import FeatureCost, InputError, LearnedCost, UnitCost
from epic.data import Dataset, corrupt, load, lollipop
from epic.data.splits import split_of
from epic.graphs.convert import pack
from epic.paper.experiments.distance import distance_run

OLD = "dataset cost seed test_graphs correct accuracy fit_seconds nearest_seconds assignments_solved_share".split()
SMALL = {"epochs": 3}


@pytest.fixture(scope="module")
def lollipops():
    """A third of the labels wrong: else every cost and every k would be right throughout."""
    graphs = pack(lollipop(120, seed=0))
    return Dataset(
        "lollipops", replace(graphs, y=corrupt(graphs.y, share=0.33, index=torch.arange(120), seed=0)), "classes"
    )


def by_matrix(dataset, cost, k, split_seed=0, ties=False):
    """Test graphs whose class most of the k nearest training graphs share (nearest first among equals).

    ``ties``: graphs as near as the k-th vote too.
    """
    split = split_of(dataset.y, seed=split_seed)
    train, test = dataset.graphs.select(split.train), dataset.graphs.select(split.test)
    matrix = cost.distances(test, train, progress=False)
    right = 0
    for row, truth in zip(matrix.tolist(), test.y.tolist(), strict=True):
        order = sorted(range(len(row)), key=lambda j: (round(row[j], 4), j))
        last = round(row[order[k - 1]], 4)
        near = [int(train.y[j]) for j in order if round(row[j], 4) <= last][: None if ties else k]
        right += max(near, key=lambda c: (near.count(c), -near.index(c))) == truth
    return right


def timeless(record):
    return {k: v for k, v in record.items() if not k.endswith("seconds")}


def test_unit_cost_is_what_the_matrix_says(lollipops):
    record = distance_run("lollipops", "unit", data=lollipops)
    assert json.loads(json.dumps(record)) == record
    assert record["train_graphs"] + record["validation_graphs"] + record["test_graphs"] == 120
    assert record["classes"] == 4
    split = split_of(lollipops.y, seed=0)
    assert record["test_graphs"] == split.test.numel()
    common = lollipops.y[split.train].bincount().argmax()
    assert record["majority_accuracy"] == pytest.approx(
        100 * float((lollipops.y[split.test] == common).double().mean()), abs=0.005
    )
    assert record["correct"] == by_matrix(lollipops, UnitCost(), 1)
    assert record["accuracy"] == round(100 * record["correct"] / record["test_graphs"], 2)
    assert record["k_correct"] == by_matrix(lollipops, UnitCost(), record["k"])
    assert record["voted_correct"] == by_matrix(lollipops, UnitCost(), 1, ties=True)
    train, test = lollipops.graphs.select(split.train), lollipops.graphs.select(split.test)
    twin = UnitCost().distances(test, train, progress=False) == 0
    several = sum(train.y[row].unique().numel() > 1 for row in twin)
    assert (record["twins"], record["twins_of_several_classes"]) == (int(twin.any(1).sum()), several)
    assert 0 < record["twins"] < record["test_graphs"]
    assert record["twins_voted_correct"] <= min(record["twins"], record["voted_correct"])
    best = max(record["k_validation"].values())
    assert record["k"] == min(int(k) for k, v in record["k_validation"].items() if v == best)
    assert 0 < record["assignments_solved_share"] <= 1
    assert "epochs" not in record


def test_a_longer_search_changes_nothing_for_the_nearest(lollipops):
    alone = distance_run("lollipops", "feature", data=lollipops, grid=())
    wide = distance_run("lollipops", "feature", data=lollipops, grid=(15,))
    assert wide["k"] == 15
    assert wide["correct"] == alone["correct"] == by_matrix(lollipops, FeatureCost(), 1)
    assert wide["k_correct"] == by_matrix(lollipops, FeatureCost(), 15, ties=True) != alone["correct"]
    assert not {"k", "k_accuracy", "k_validation"} & set(alone)


def test_a_run_is_a_function_of_its_arguments(lollipops):
    ask = {"cost": "learned", "seed": 1, "data": lollipops, "learning": {"epochs": 1}}
    torch.manual_seed(0)
    one = distance_run("lollipops", **ask)
    torch.manual_seed(1)
    assert timeless(distance_run("lollipops", **ask)) == timeless(one)
    assert timeless(distance_run("lollipops", **{**ask, "cost": "sinkhorn"})) == {**timeless(one), "cost": "sinkhorn"}
    for change in ({"seed": 2}, {"split_seed": 1}):
        other = distance_run("lollipops", **{**ask, **change})
        assert {**timeless(other), "seed": 1, "split_seed": 0} != timeless(one)


def test_a_cost_learned_before_gives_the_same_record(lollipops):
    split = split_of(lollipops.y, seed=0)
    train, held = (lollipops.graphs.select(part) for part in (split.train, split.validation))
    cost = LearnedCost().fit(train, validation=held, seed=0, assignment="hungarian", progress=False, **SMALL)
    fresh = distance_run("lollipops", "hungarian", data=lollipops, learning=SMALL)
    ready = distance_run("lollipops", "hungarian", data=lollipops, ready=cost)
    assert timeless(ready) == timeless(fresh)
    assert fresh["correct"] == by_matrix(lollipops, cost, 1)
    assert (fresh["epochs"], ready["fit_seconds"]) == (3, 0.0)


def test_options_of_the_network(lollipops):
    split = split_of(lollipops.y, seed=0)
    parts = [lollipops.graphs.select(part) for part in (split.train, split.validation)]
    cost = LearnedCost(hidden_channels=5).fit(
        parts[0], validation=parts[1], assignment="hungarian", progress=False, **SMALL
    )
    record = distance_run("lollipops", "hungarian", data=lollipops, learning=SMALL, network={"hidden_channels": 5})
    assert timeless(record) == timeless(distance_run("lollipops", "hungarian", data=lollipops, ready=cost))
    assert timeless(record) != timeless(distance_run("lollipops", "hungarian", data=lollipops, learning=SMALL))


def test_any_numbering_of_the_classes_will_do(lollipops):
    renamed = replace(lollipops, graphs=replace(lollipops.graphs, y=2 * lollipops.y - 3))
    record = distance_run("renamed", "feature", data=renamed, grid=(3,))
    assert record["classes"] == 4
    assert record["correct"] == by_matrix(renamed, FeatureCost(), 1)
    assert record["k_correct"] == by_matrix(renamed, FeatureCost(), 3, ties=True)


def test_wrong_input_is_named(lollipops):
    with pytest.raises(InputError, match="unknown cost 'units'; did you mean 'unit'"):
        distance_run("lollipops", "units", data=lollipops)
    few = Dataset("few", pack(lollipop(12, seed=0)), "classes")
    with pytest.raises(InputError, match="few leaves no validation graphs"):
        distance_run("few", "unit", data=few)
    wide = replace(lollipops, graphs=replace(lollipops.graphs, y=torch.rand(120, 2)), task="binary")
    with pytest.raises(InputError, match="one class for each of 120 graphs"):
        distance_run("wide", "unit", data=wide)


def test_mutag(tu_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path))
    record = distance_run("MUTAG", "unit", data=tu_folder.parent)
    assert (record["test_graphs"], record["correct"], record["accuracy"]) == (38, 34, 89.47)
    assert record["majority_accuracy"] == 65.79
    assert record["k_correct"] == by_matrix(load("MUTAG", data=tu_folder.parent), UnitCost(), record["k"], ties=True)


def test_the_benchmark_keeps_its_lines(tu_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path))
    script, out = Path(__file__).parents[3] / "benchmarks" / "nearest.py", tmp_path / "nearest.jsonl"

    def run(*more):
        arguments = ["MUTAG", "--costs", "unit,feature", "--seeds", "2", "--data", str(tu_folder.parent), *more]
        monkeypatch.setattr(sys, "argv", [str(script), *arguments, "--out", str(out)])
        runpy.run_path(str(script), run_name="__main__")
        return [json.loads(line) for line in out.read_text().splitlines()]

    lines = run()
    assert [(r["cost"], r["seed"], r["accuracy"]) for r in lines] == [("unit", 0, 89.47), ("feature", 0, 89.47)]
    assert all(set(OLD) | {"threads", "epic", "torch"} <= set(r) for r in lines)
    assert len(run()) == 2  # done already
    assert ["k" in r for r in run("--k")] == [False, False, True, True]
    assert len(run("--k")) == 4
