"""Numbers of figures: from the store where runs are done, else measured now."""

import json
from dataclasses import asdict

import pytest

from epic.compare.store import Store
from epic.compare.task import Task
from epic.paper.figure_data import FigureData
from epic.paper.plans import load_plan
from tests.compare.stores import tasks as known


def numbers(path, **options):
    return FigureData(
        Store(path), **{"graphs": 80, "unseen": 24, "epochs": 2, "pairs": 30, "progress": False, **options}
    )


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Nothing has been run."""
    return numbers(tmp_path_factory.mktemp("none") / "none.jsonl")


def keep(path, *records):
    """A store with finished runs: kind, config, outcome."""
    with path.open("w") as file:
        for kind, config, outcome in records:
            key = Task(kind, config).key
            file.write(json.dumps({"key": key, "kind": kind, "config": config, **outcome}) + "\n")


def test_ends_of_paths_are_unseen_lollipops_of_the_right_classes(fresh):
    path, positive = fresh.path().values, fresh.positive_path().values
    assert (path.label(0).tolist(), path.label(len(path)).tolist()) == ([1, 0, 0, 0], [0, 0, 1, 0])
    assert positive.label(0).tolist() == positive.label(len(positive)).tolist() == [0, 1, 0, 0]
    assert positive.source.num_nodes < positive.target.num_nodes
    for found in (path, positive):
        assert found.distance == pytest.approx(fresh.cost.distance(found.source, found.target), rel=1e-5)
    assert "learned now on 80 lollipop graphs" in fresh.path().source


def test_without_runs_unseen_lollipops_are_measured(fresh):
    (costs,) = fresh.costs().values
    assert max(asdict(costs).values()) == 1
    assert min(asdict(costs).values()) > 0
    blur = fresh.blur()
    assert list(blur.values) == ["lollipop"]
    errors = blur.values["lollipop"]
    assert sorted(errors) == list(range(1, 11))
    # The rows and columns of both assignments sum to one: no pair is further apart than this.
    most = max(g.num_nodes for g in fresh.unseen)
    assert all(0 < e < (2 * 2 * most) ** 0.5 for e in errors.values())
    assert "30 pairs of 24 unseen ones" in blur.source


def test_without_runs_curves_are_learned_now(fresh):
    measured = fresh.curves()
    assert "learned now" in measured.source
    by = measured.values["lollipop"]
    assert list(by) == ["sinkhorn", "hungarian"]
    for (lines,) in by.values():
        assert [len(lines[what]) for what in ("training", "validation")] == [2, 2]
        assert all(0 < loss < 10 for line in lines.values() for loss in line)
    assert by["sinkhorn"] != by["hungarian"]


def test_finished_runs_of_the_plan_go_before_others(tmp_path):
    store = Store(tmp_path / "bench.jsonl")
    planned = known(load_plan("blur"), store)[:2]
    other = ("blur", {"dataset": "MUTAG", "pairs": 5, "seed": 0}, {"frobenius": {"1": 9.0}})
    runs = [("blur", t.config, {"frobenius": {"1": 3.0 - i, "2": 2.0}}) for i, t in enumerate(planned)]
    keep(store.path, other, *runs)
    found = numbers(store.path).blur()
    assert found.values == {t.config["dataset"]: {1: 3.0 - i, 2: 2.0} for i, t in enumerate(planned)}
    assert found.source == "runs of the plan blur in bench.jsonl"
    keep(store.path, other)
    assert numbers(store.path).blur().values == {"MUTAG": {1: 9.0}}
    assert "with other options" in numbers(store.path).blur().source


def test_patterns_of_all_seeds_are_taken(tmp_path):
    store = Store(tmp_path / "bench.jsonl")
    parts = [f"{sign}_{part}" for sign in ("negative", "positive") for part in ("head", "mixed", "tail")]
    tasks = known(load_plan("lollipop"), store)
    keep(
        store.path,
        *(("lollipop", t.config, {"pattern": dict.fromkeys(parts, i / 10)}) for i, t in enumerate(tasks)),
    )
    assert [p.negative_tail for p in numbers(store.path).costs().values] == [0.0, 0.1, 0.2, 0.3, 0.4]


def test_curves_need_both_assignments(tmp_path):
    path = tmp_path / "bench.jsonl"
    tasks = known(load_plan("curves"), Store(path))
    runs = [
        ("curves", t.config, {"train_loss": [0.9, 0.5], "validation_loss": [1.0, 0.1 * (1 + i)]})
        for i, t in enumerate(tasks)
    ]
    keep(path, *runs)
    found = numbers(path).curves()
    (by,) = found.values.values()
    assert by["sinkhorn"] == [{"training": [0.9, 0.5], "validation": [1.0, 0.1]}]
    assert by["hungarian"] == [{"training": [0.9, 0.5], "validation": [1.0, 0.2]}]
    assert found.source == "runs of the plan curves in bench.jsonl"
    keep(path, runs[0])
    half = numbers(path, epochs=1).curves()
    assert list(half.values) == ["lollipop"]
    assert "learned now" in half.source


def test_a_failed_run_is_no_run(tmp_path):
    path = tmp_path / "bench.jsonl"
    keep(path, ("lollipop", {"seed": 0}, {"error": "out of memory"}))
    assert "learned now" in numbers(path, epochs=1).costs().source
