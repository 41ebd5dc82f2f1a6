import os
import signal
import subprocess
import sys
import time

import pytest

from epic.compare.runner import carry_out, outlook
from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.costs.learning import Learning
from epic.paper.plans import load_plan
from tests.compare.fake import Fake
from tests.compare.stores import ready
from tests.compare.test_plan import plan
from tests.parallel.tasks import Slow


@pytest.fixture
def calls(tmp_path):
    (tmp_path / "calls").mkdir()
    return tmp_path / "calls"


def keys(store):
    return {r["key"]: {k: v for k, v in r.items() if k != "seconds_in_all"} for r in store}


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_all_is_done_once_in_stages(tmp_path, calls, workers):
    store = Store(tmp_path / "r.jsonl")
    assert carry_out(Runs(plan(), store), Fake(str(calls)), workers=workers, progress=False)
    assert len(list(calls.iterdir())) == plan().count() == len(store)
    assert carry_out(Runs(plan(), store), Fake(str(calls)), workers=workers, progress=False)
    assert len(list(calls.iterdir())) == plan().count(), "nothing is done twice"


@pytest.mark.slow
def test_the_pool_and_one_process_give_the_same_records(tmp_path, calls):
    stores = [Store(tmp_path / name) for name in ("a", "b")]
    for store, workers in zip(stores, (0, 2), strict=True):
        carry_out(Runs(plan(), store), Fake(str(calls)), workers=workers, progress=False)
    assert keys(stores[0]) == keys(stores[1])


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_failures_are_kept_told_and_retried(tmp_path, calls, workers):
    store, said = Store(tmp_path / "r.jsonl"), []
    table = plan(tune=0)
    assert carry_out(
        Runs(table, store), Fake(str(calls), broken=("drop_edge",)), workers=0, progress=False, say=said.append
    )
    assert len(said) == 4
    assert said[0].startswith("failed: a drop_edge 0: ValueError: drop_edge is broken")
    look = outlook(Runs(table, store))
    assert (look.total, look.done, look.failed) == (8, 4, 4)
    assert "4 failed (--retry does them again)" in str(look)
    before = len(list(calls.iterdir()))
    carry_out(Runs(table, store), Fake(str(calls)), workers=0, progress=False)
    assert len(list(calls.iterdir())) == before, "failed runs wait for --retry"
    carry_out(Runs(table, store), Fake(str(calls)), workers=workers, retry=True, progress=False)
    assert outlook(Runs(table, store)).done == 8


def test_a_budget_stops_early_and_a_new_call_goes_on(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    assert not carry_out(Runs(plan(), store), Fake(str(calls)), workers=0, budget=0.0, progress=False)
    assert len(store) <= 1
    assert carry_out(Runs(plan(), store), Fake(str(calls)), workers=0, progress=False)
    assert len(store) == plan().count()


@pytest.mark.slow
def test_no_run_begins_after_the_budget(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    assert len(ready(plan(), store)) > 1
    assert not carry_out(Runs(plan(), store), Slow(Fake(str(calls)), 1.0), workers=1, budget=1.0, progress=False)
    assert len(list(calls.iterdir())) <= 2  # a probe, and perhaps a run
    assert len(store) <= 1


def test_the_outlook_learns_from_finished_runs(tmp_path, calls):
    store, table = Store(tmp_path / "r.jsonl"), plan(tune=0, datasets=("a", "b"))
    assert str(outlook(Runs(table, store))) == "8 runs, 0 done, 8 to do; how long it takes is known after the first"
    with store.writer() as writer:
        for task in ready(table, store):
            if task.config["dataset"] == "a":
                writer.add(task, {"seconds_in_all": 10.0 if task.config["method"] == "vanilla" else 30.0})
    look = outlook(Runs(table, store), workers=2)
    assert look.seconds == pytest.approx(4 * 20 / 2)
    assert str(look) == "8 runs, 4 done, 4 to do, about 40 s (guessed from other datasets)"
    assert str(outlook(Runs(plan(tune=0, datasets=("a",), seeds=4), store))) == "8 runs, 4 done, 4 to do, about 80 s"
    assert outlook(Runs(load_plan("distance"), store)).seconds is None  # training says nothing of it


@pytest.mark.slow
def test_a_killed_harness_loses_at_most_what_was_in_hand(tmp_path, calls):
    code = f"""
import time
from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.compare.runner import carry_out
from tests.compare.fake import Fake
from tests.compare.test_plan import plan
def slow(task):
    time.sleep(0.05)
    return Fake({str(calls)!r})(task)
carry_out(Runs(plan(seeds=5), Store({str(tmp_path / "r.jsonl")!r})), slow, workers=0, progress=False)
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    end = time.time() + 60
    while not (tmp_path / "r.jsonl").exists() or (tmp_path / "r.jsonl").read_text().count("\n") < 6:
        assert process.poll() is None
        assert time.time() < end
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    store = Store(tmp_path / "r.jsonl")
    done = len(store)
    assert 6 <= done < plan(seeds=5).count()
    begun = len(list(calls.iterdir()))
    assert begun - done <= 1
    carry_out(Runs(plan(seeds=5), store), Fake(str(calls)), workers=0, progress=False)
    assert len(list(calls.iterdir())) - begun == plan(seeds=5).count() - done
    other = Store(tmp_path / "other.jsonl")
    carry_out(Runs(plan(seeds=5), other), Fake(str(calls)), workers=0, progress=False)
    assert keys(other) == keys(store)


@pytest.mark.slow
def test_a_worker_that_dies_costs_nothing(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    fake = Fake(str(calls), kill_at="drop_edge")
    assert carry_out(Runs(plan(tune=0), store), fake, workers=2, progress=False)
    assert outlook(Runs(plan(tune=0), store)).done == 8
    assert (tmp_path / "killed").exists()


def test_what_another_wrote_meanwhile_is_not_done_again(tmp_path, calls):
    one, two = Store(tmp_path / "r.jsonl"), Store(tmp_path / "r.jsonl")
    carry_out(Runs(plan(tune=0), one), Fake(str(calls)), workers=0, progress=False)
    carry_out(Runs(plan(tune=0), two), Fake(str(calls)), workers=0, progress=False)
    assert (tmp_path / "r.jsonl").read_text().count("\n") == 8


def test_times_are_learned_by_update(tmp_path, calls):
    store, quick, full = Store(tmp_path / "r.jsonl"), plan(tune=0), plan(tune=0, options={"epochs": 50})
    with store.writer() as writer:
        for task in ready(quick, store):
            writer.add(task, {"seconds_in_all": 2.0, "updates": 3, "epochs": 1})
    assert outlook(Runs(full, store)).seconds == pytest.approx(8 * 2.0 * 50)
    by_updates = plan(tune=0, options={"epochs": None, "updates": 600})
    assert outlook(Runs(by_updates, store)).seconds == pytest.approx(8 * 2.0 * 200)


def test_only_what_grows_with_epochs_is_reckoned_by_epoch(tmp_path):
    store = Store(tmp_path / "r.jsonl")
    quick = plan(tune=0, entries=("epic",), datasets=("a",), options={"epochs": 2, "cost": {"epochs": 4}})
    with store.writer() as writer:  # 1 s to train, 4 s to learn the cost, 5 s to start
        for task in ready(quick, store):
            writer.add(task, {"seconds_in_all": 10.0, "seconds": 1.0, "prepared": 4.0, "updates": 6, "epochs": 2})
    full = plan(tune=0, entries=("epic",), datasets=("a",), options={"epochs": 100, "cost": {"epochs": 40}})
    assert outlook(Runs(full, store)).seconds == pytest.approx(2 * (50 + 40 + 5))


def test_what_a_method_learns_of_its_own_has_epochs_of_its_own(tmp_path):
    store = Store(tmp_path / "r.jsonl")
    quick = plan(tune=0, entries=("s_mixup",), datasets=("a",), options={"epochs": 5, "fit_epochs": 2})
    with store.writer() as writer:
        for task in ready(quick, store):
            writer.add(task, {"seconds_in_all": 5.0, "seconds": 1.0, "prepared": 3.0, "updates": 5, "epochs": 5})
    full = plan(tune=0, entries=("s_mixup",), datasets=("a",), options={"epochs": 100})
    assert outlook(Runs(full, store)).seconds == pytest.approx(2 * (20 + 30 + 1))


def test_the_epochs_of_distances_are_those_of_learning(tmp_path):
    store, full = Store(tmp_path / "r.jsonl"), load_plan("distance", datasets=("BZR",), seeds=1)
    seconds = {"unit": 0.0, "feature": 0.0, "learned": 6.0, "hungarian": 3.0}
    with store.writer() as writer:
        for task in ready(load_plan("distance", datasets=("BZR",), seeds=1, epochs=3), store):
            fit = seconds[task.config["cost"]]
            writer.add(task, {"seconds_in_all": fit + 1, "fit_seconds": fit})
    assert outlook(Runs(full, store)).seconds == pytest.approx(4 + 3 * Learning().epochs)


def test_where_nothing_is_to_do_nothing_is_written(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    carry_out(Runs(plan(tune=0), store), Fake(str(calls)), workers=0, progress=False)
    with store.writer():  # another is at work
        assert carry_out(Runs(plan(tune=0), Store(tmp_path / "r.jsonl")), Fake(str(calls)), workers=0, progress=False)
