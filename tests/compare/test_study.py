import numpy as np
import pytest

from epic.compare.runner import carry_out
from epic.compare.statistics import paired
from epic.compare.store import Store
from epic.compare.study import comparison, lines, metric
from tests.compare.fake import Fake


@pytest.fixture
def calls(tmp_path):
    (tmp_path / "calls").mkdir()
    return tmp_path / "calls"


def test_a_method_that_helps_is_seen_and_one_that_does_nothing_is_not(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = comparison("a", ["drop_edge", "drop_node"], splits=6, seeds=2, tune=0)
    fake = Fake(str(calls), bonus=(("drop_edge", 0.08),))
    carry_out(plan, store, fake, workers=0, progress=False)
    vanilla, helps, idle = lines(plan, store)
    assert vanilla.method == "vanilla"
    assert vanilla.runs == 12
    assert helps.verdict.startswith("helps: +")
    assert idle.verdict.startswith("no evidence that it helps")
    assert helps.epoch == pytest.approx(1.0)
    assert (vanilla.graph, helps.graph) == (None, pytest.approx(1.0))
    scores = {
        m: np.array(
            [
                [r["test"] for r in store if r["config"]["method"] == m and r["config"]["split_seed"] == s]
                for s in range(6)
            ]
        )
        for m in ("vanilla", "drop_edge")
    }
    expected = paired(100 * scores["drop_edge"], 100 * scores["vanilla"], 70, 20)
    assert helps.difference.difference == pytest.approx(expected.difference)
    assert helps.difference.p == pytest.approx(expected.p)


def test_one_split_has_no_interval(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = comparison("a", ["drop_edge"], splits=1, seeds=4, tune=0)
    carry_out(plan, store, Fake(str(calls), bonus=(("drop_edge", 0.08),)), workers=0, progress=False)
    gap = lines(plan, store)[1].difference
    assert gap.difference == pytest.approx(8, abs=2)
    assert (gap.low, gap.high, gap.p) == (None, None, None)


def test_all_methods_meet_the_same_splits_seeds_and_budget(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = comparison("a", ["drop_edge", "submix"], splits=2, seeds=2, tune=3)
    carry_out(plan, store, Fake(str(calls)), workers=0, progress=False)
    met = {}
    for record in store:
        c = record["config"]
        met.setdefault(c["method"], []).append((c["split_seed"], c["seed"]))
    assert {m: sorted(v) for m, v in met.items() if m != "vanilla"} == {
        m: sorted(met["vanilla"]) for m in ("drop_edge", "submix")
    }


def test_what_is_there_is_told_while_runs_are_missing(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = comparison("a", ["drop_edge"], splits=3, seeds=1, tune=0)
    first = lines(plan, store)
    assert first[0].score is None
    assert first[1].verdict == "too few runs to say: there are none"
    with store.writer() as writer:
        for task in plan.ready(store)[:4]:
            writer.add(task, Fake(str(calls))(task))
    assert lines(plan, store)[1].verdict.startswith("too few runs to say")


def test_a_method_that_cannot_be_run_says_why(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = comparison("a", ["drop_edge"], splits=2, seeds=1, tune=0)
    with store.writer() as writer:
        for task in plan.ready(store):
            plain = task.config["method"] == "vanilla"
            writer.add(task, Fake(str(calls))(task) if plain else {"error": "InputError: no edges\nTraceback"})
    assert lines(plan, store)[1].verdict == "failed: InputError: no edges"


def test_scores_have_a_name_and_values_their_digits(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = comparison("a", ["drop_edge"], splits=3, seeds=1, tune=0)
    with store.writer() as writer:
        for task in plan.ready(store):
            found = {**Fake(str(calls))(task), "task": "values"}
            gain = 0.00125 * (1 + task.config["split_seed"]) * (task.config["method"] == "drop_edge")
            writer.add(task, {**found, "test": -0.5 + gain})
    assert metric(plan, store) == "minus the mean absolute error"
    assert "+0.0025 units" in lines(plan, store)[1].verdict
