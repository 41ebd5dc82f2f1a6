import pytest

from epic import InputError
from epic.compare.plan import TUNING_SEED, Entry, Plan, load_plan, names
from epic.compare.store import Store
from epic.compare.task import Task
from epic.train.config import RESULTS_VERSION
from tests.compare.fake import Fake


def plan(**changes):
    values = {
        "name": "small",
        "title": "A small table",
        "datasets": ("a", "b"),
        "entries": ("vanilla", "drop_edge"),
        "seeds": 2,
        "tune": 3,
        "options": {"epochs": 1},
    }
    return Plan(**{**values, **changes})


def finish(store, tasks, fake):
    with store.writer() as writer:
        for task in tasks:
            writer.add(task, fake(task))


@pytest.fixture
def store(tmp_path):
    (tmp_path / "calls").mkdir()
    return Store(tmp_path / "r.jsonl")


def test_settings_are_chosen_on_validation_before_they_are_used(store, tmp_path):
    fake, table = Fake(str(tmp_path / "calls")), plan()
    stages = []
    while tasks := table.ready(store):
        stages.append(tasks)
        finish(store, tasks, fake)
    first, second, third = stages
    assert [t.config["method"] for t in first] == ["vanilla"] * 4  # sum and mean pooling on two datasets
    assert all(t.config["seed"] == TUNING_SEED for t in first)
    # Plain runs know their settings now; drop_edge tries its own.
    assert sum(t.config["seed"] == TUNING_SEED for t in second) == 6
    assert sum(t.config["method"] == "vanilla" for t in second) == 4
    assert [t.config["seed"] for t in third] == [0, 1, 0, 1]
    for dataset in ("a", "b"):
        tries = [t for t in second if t.config["method"] == "drop_edge" and t.config["dataset"] == dataset]
        best = max(tries[:3], key=lambda t: store.get(t)["validation"])
        assert best.config["settings"] != {}, "the fake's validation score grows where p is set"
        assert all(t.config["settings"] == best.config["settings"] for t in third if t.config["dataset"] == dataset)
    assert table.count() == sum(map(len, stages)) == len(table.tasks(store))
    pools = {t.config["dataset"]: t.config["model"] for t in second if t.config["method"] == "vanilla"}
    assert all(t.config["model"] == pools[t.config["dataset"]] for t in third), "rivals use what vanilla chose"


def test_the_choice_is_by_validation_not_by_test(store):
    table = plan(datasets=("a",), entries=("vanilla",))
    one, two = table.ready(store)
    with store.writer() as writer:
        writer.add(one, {"validation": 0.6, "test": 0.9})
        writer.add(two, {"validation": 0.7, "test": 0.1})
    assert table.plain_choice(table.groups()[0], store) == {"pool": "mean"}


def test_a_failed_try_is_out_but_does_not_stop_the_rest(store, tmp_path):
    table = plan(datasets=("a",), entries=("drop_edge",))
    fake = Fake(str(tmp_path / "calls"))
    finish(store, table.ready(store), fake)
    tries = table.ready(store)
    with store.writer() as writer:
        writer.add(tries[0], {"error": "ValueError: no"})
        for task in tries[1:]:
            writer.add(task, fake(task))
    assert len(table.ready(store)) == 2
    assert all(t.config["settings"] != {} for t in table.ready(store))


def test_without_tuning_all_is_ready_at_once(store):
    assert len(plan(tune=0).ready(store)) == plan(tune=0).count() == 8


def test_narrowing(store):
    table = load_plan("main").narrowed(datasets=("BZR",), methods=["epic", "node_sam"], backbones=("gin",), seeds=1)
    assert [e.label for e in table.entries] == ["epic", "node_sam"]
    assert table.entries[0].settings == {"indicator": True}
    assert table.narrowed(tune=0, epochs=7).ready(store)[0].config["epochs"] == 7
    with pytest.raises(InputError, match="unknown method 'epik'"):
        table.narrowed(methods=["epik"])
    with pytest.raises(InputError) as told:
        table.narrowed(methods=["node_san"])
    assert str(told.value).count("node_sam") == 2, "in the guess and in the list, once each"
    twice = load_plan("main").narrowed(datasets=("BZR", "BZR"), methods=["epic", "epic"], backbones=("gin", "gin"))
    assert (twice.datasets, [e.label for e in twice.entries], twice.backbones) == (("BZR",), ["epic"], ("gin",))
    for what in ("datasets", "methods", "backbones"):
        with pytest.raises(InputError, match=f"no {what} are named: give one at least"):
            table.narrowed(**{what: ()})


def test_where_runs_are_repeated_on_splits_fewer_seeds_are_fewer_splits(store):
    repeated = load_plan("splits").narrowed(datasets=("BZR",), seeds=2)
    assert [(t.config["split_seed"], t.config["seed"]) for t in repeated.ready(store)] == [(0, 0), (1, 0)]
    assert [
        (p.splits, p.seeds) for p in (repeated.narrowed(seeds=1), repeated.narrowed(seeds=1).narrowed(seeds=3))
    ] == [
        (1, 1),
        (3, 1),
    ]
    assert len(load_plan("splits").quick().ready(store)) == 2 * 2


def test_the_plans_of_the_paper_are_whole(store):
    assert set(names()) == {
        *("main", "molecules", "noise", "costs", "distance", "sinkhorn", "blur", "order", "curves", "lollipop"),
        *("splits", "distance_exact"),
    }
    main = load_plan("main")
    assert len(main.datasets) * len(main.backbones) * len(main.entries) * main.seeds == 880
    assert main.count() == 880 + 16 * (2 + 10 * 3)
    for name in names():
        small = load_plan(name).quick()
        assert small.ready(store), name
        assert len(small.ready(store)) <= 90
        assert small.count() <= load_plan(name).count()
        assert "ogbg-molhiv" not in small.datasets


def test_entries_may_be_short_or_long():
    table = plan(entries=("vanilla", {"label": "hard", "method": "drop_edge", "settings": {"p": 0.5}}))
    assert table.entries[0] == Entry(label="vanilla", method="vanilla")
    assert table.entries[1].settings == {"p": 0.5}


@pytest.mark.parametrize("name", ["main", "distance", "lollipop", "curves", "blur"])
def test_runs_of_an_older_recipe_are_not_taken_for_new_ones(name, tmp_path):
    for task in load_plan(name).quick().tasks(Store(tmp_path / "r.jsonl")):
        assert task.config["results_version"] == RESULTS_VERSION
        assert task.key != Task(task.kind, {**task.config, "results_version": RESULTS_VERSION - 1}).key


@pytest.mark.parametrize("name", ["main", "distance"])
def test_a_file_that_changes_is_another_dataset(name, tmp_path):
    store, plan = Store(tmp_path / "r.jsonl"), load_plan(name).quick().narrowed(datasets=("a.pt",))
    keys = [{t.key for t in p.tasks(store)} for p in (plan, *(plan.narrowed(checksums={"a.pt": s}) for s in "xy"))]
    assert not keys[0] & keys[1]
    assert not keys[1] & keys[2]
    assert plan.narrowed(checksums={"b.pt": "x"}).tasks(store) == plan.tasks(store)
