import pytest

from epic.compare.plan import TUNING_SEED, Entry, Plan
from epic.compare.store import Store
from tests.compare.fake import Fake
from tests.compare.stores import ready, tasks


def plan(**changes):
    values = {
        "name": "small",
        "title": "A small table",
        "datasets": ("a", "b"),
        "entries": ("vanilla", "drop_edge"),
        "seeds": 2,
        "tune": 3,
        "plain": ("pool",),
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
    while todo := ready(table, store):
        stages.append(todo)
        finish(store, todo, fake)
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
    assert table.count() == sum(map(len, stages)) == len(tasks(table, store))
    pools = {t.config["dataset"]: t.config["model"] for t in second if t.config["method"] == "vanilla"}
    assert all(t.config["model"] == pools[t.config["dataset"]] for t in third), "rivals use what vanilla chose"


def test_the_choice_is_by_validation_not_by_test(store):
    table = plan(datasets=("a",), entries=("vanilla",))
    one, two = ready(table, store)
    with store.writer() as writer:
        writer.add(one, {"validation": 0.6, "test": 0.9})
        writer.add(two, {"validation": 0.7, "test": 0.1})
    assert table.expand(table.groups()[0], store).settings == [{"pool": "mean"}]


def test_a_failed_try_is_out_but_does_not_stop_the_rest(store, tmp_path):
    table = plan(datasets=("a",), entries=("drop_edge",))
    fake = Fake(str(tmp_path / "calls"))
    finish(store, ready(table, store), fake)
    tries = ready(table, store)
    with store.writer() as writer:
        writer.add(tries[0], {"error": "ValueError: no"})
        for task in tries[1:]:
            writer.add(task, fake(task))
    assert len(ready(table, store)) == 2
    assert all(t.config["settings"] != {} for t in ready(table, store))


def test_without_tuning_all_is_ready_at_once(store):
    assert len(ready(plan(tune=0), store)) == plan(tune=0).count() == 8


def test_entries_may_be_short_or_long():
    table = plan(entries=("vanilla", {"label": "hard", "method": "drop_edge", "settings": {"p": 0.5}}))
    assert table.entries[0] == Entry(label="vanilla", method="vanilla")
    assert table.entries[1].settings == {"p": 0.5}


def test_a_dataset_may_have_options_of_its_own(store):
    own = {"b": {"model": {"between": True}, "lr": 0.01}}
    entries = ("vanilla", "drop_edge", Entry(label="counts", options={"backbone": "counts"}))
    found = {
        (t.config["dataset"], t.config["backbone"], t.config["lr"], str(t.config["model"]))
        for t in tasks(plan(tune=0, per_dataset=own, entries=entries), store)
    }
    plain = {("a", "gin", 0.003, "{}"), ("b", "gin", 0.01, "{'between': True}")}
    assert found == plain | {("a", "counts", 0.003, "{}"), ("b", "counts", 0.003, "{}")}
