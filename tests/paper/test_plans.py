"""Plans of the paper, and how they are called."""

import json
from dataclasses import replace

import pytest

from epic import InputError, LearnedCost
from epic.compare.store import Store
from epic.compare.task import Task
from epic.paper.plans import ALL, Call, load_plan, merged, names
from epic.train.config import RESULTS_VERSION
from tests.compare.stores import ready, tasks


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "r.jsonl")


def test_options_of_a_call(store):
    table = load_plan("main", datasets=("BZR",), methods=["epic", "node_sam"], backbones=("gin",), seeds=1)
    assert [e.label for e in table.entries] == ["epic", "node_sam"]
    assert table.entries[0].settings == {"indicator": True}
    assert ready(load_plan("main", tune=0, epochs=7), store)[0].config["epochs"] == 7
    with pytest.raises(InputError, match="unknown method 'epik'"):
        load_plan("main", methods=["epik"])
    with pytest.raises(InputError) as told:
        load_plan("main", methods=["node_san", "node_sam"])
    assert str(told.value).count("node_sam") == 2, "in the guess and in the list, once each"
    twice = load_plan("main", datasets=("BZR", "BZR"), methods=["epic", "epic"], backbones=("gin", "gin"))
    assert (twice.datasets, [e.label for e in twice.entries], twice.backbones) == (("BZR",), ["epic"], ("gin",))
    for what in ("datasets", "methods", "backbones"):
        with pytest.raises(InputError, match=f"no {what} are named: give one at least"):
            load_plan("main", **{what: ()})


def test_fewer_seeds_are_fewer_splits_where_splits_repeat(store):
    repeated = load_plan("splits", datasets=("BZR",), seeds=2)
    assert [(t.config["split_seed"], t.config["seed"]) for t in ready(repeated, store)] == [(0, 0), (1, 0)]
    assert len(ready(load_plan("splits", quick=True), store)) == 2 * 2


def test_the_plans_of_the_paper_are_whole(store):
    assert set(names()) == {
        *("main", "molecules", "noise", "costs", "distance", "sinkhorn", "blur", "order", "curves", "lollipop"),
        *("splits", "distance_exact", "regime", "screen", "strength", "few", "study"),
    }
    assert set(ALL) | {"splits", "blur", "distance_exact", "regime", "screen", "strength", "few", "study"} == set(
        names()
    )
    main = load_plan("main")
    later = [e for e in main.entries if e.only]  # they came after the paper, and are on its five small sets
    assert len(main.datasets) * len(main.backbones) * (len(main.entries) - len(later)) * main.seeds == 960
    assert [e.label for e in later] == ["fgw_mixup", "geo_mix"]
    assert main.count() == 960 + 5 * 2 * 2 * main.seeds
    for name in names():
        small = load_plan(name, quick=True)
        assert 0 < len(ready(small, store)) <= 120, name
        assert small.count() <= load_plan(name).count()
        assert "ogbg-molhiv" not in small.datasets


def test_options_of_networks_are_those_that_costs_take():
    options = load_plan("distance_exact").options["network"]
    cost = LearnedCost(**options)
    assert options == {name: getattr(cost, name) for name in options}
    assert options


@pytest.mark.parametrize("name", ["main", "distance", "lollipop", "curves", "blur"])
def test_runs_of_an_older_version_are_not_taken_for_new_ones(name, store):
    for task in tasks(load_plan(name, quick=True), store):
        assert task.config["results_version"] == RESULTS_VERSION
        assert task.key != Task(task.kind, {**task.config, "results_version": RESULTS_VERSION - 1}).key


@pytest.mark.parametrize("name", ["main", "distance"])
def test_a_file_that_changes_is_another_dataset(name, store):
    def keys(**sums):
        plan = load_plan(name, quick=True, datasets=("a.pt",), checksums=sums)
        return {t.key for t in tasks(plan, store)}

    assert not keys() & keys(**{"a.pt": "x"})
    assert not keys(**{"a.pt": "x"}) & keys(**{"a.pt": "y"})
    assert keys(**{"b.pt": "x"}) == keys()


def test_the_command_is_what_was_called():
    call = Call("main", quick=True, datasets=("BZR", "COX2"), methods=("vanilla", "epic"), seeds=2, epochs=7, tune=0)
    options = "--datasets BZR,COX2 --methods vanilla,epic --seeds 2 --tune 0 --epochs 7"
    assert call.command == f"epic reproduce main --quick {options}"
    assert Call("distance").command == "epic reproduce distance"
    assert [p.name for p in Call("distance").plans()] == ["distance", "splits"]
    assert {p.call.command for p in Call("sinkhorn", seeds=2).plans()} == {"epic reproduce sinkhorn --seeds 2"}


@pytest.mark.parametrize(
    "call",
    [
        Call("order"),
        Call("main", quick=True, datasets=("a.pt",), checksums={"a.pt": "x"}),
        Call("noise", methods=("vanilla", "flag"), backbones=("gin",), seeds=2, epochs=3, tune=0),
    ],
)
def test_a_call_is_read_back_from_its_record(call):
    record = json.loads(json.dumps(call.record()))
    assert record["command"] == call.command
    assert Call.read(record) == call
    assert Call.read(record).plans() == call.plans()


def test_calls_on_other_parts_of_a_plan_are_one():
    one, two = Call("main", datasets=("BZR",), seeds=2), Call("main", datasets=("COX2", "BZR"), methods=("epic",))
    (both,) = merged([one, two])
    assert (both.datasets, both.methods, both.seeds) == (("BZR", "COX2"), None, None)
    assert merged([Call("main", datasets=("BZR",)), Call("main")]) == [Call("main")]
    assert merged([Call("main", seeds=7), Call("main")])[0].seeds == 7
    apart = [Call("main"), Call("main", epochs=7), Call("main", tune=0), Call("main", quick=True), Call("costs")]
    assert merged(apart) == apart


def test_mixtures_come_with_their_parts():
    one, two = Call("few", methods=("EPIC unit edges",), seeds=1), Call("few", methods=("kernel", "vanilla"), seeds=1)
    assert merged([one, two])[0].methods == ("EPIC unit edges", "kernel", "vanilla", "blend")
    assert "blend" not in merged([one])[0].methods
    assert "two seeds" in merged([one, replace(two, seeds=2)])[0].methods


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("distance", {"methods": ("epic",)}, "distance does not compare methods"),
        ("lollipop", {"datasets": ("BZR",)}, "lollipop is on graphs of its own"),
        ("distance_exact", {"backbones": ("gin",)}, "distance_exact trains no classifier"),
        (
            "main",
            {"methods": ("vanilla", "geo_mix"), "datasets": ("NCI1",)},
            "geo_mix on BZR, .* alone, because",
        ),
        ("mains", {}, "unknown plan 'mains'; did you mean 'main'"),
    ],
)
def test_options_that_a_plan_does_not_have(name, options, message):
    with pytest.raises(InputError, match=message):
        Call(name, **options).plans()
