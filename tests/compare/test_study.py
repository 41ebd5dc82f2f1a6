import re
from inspect import signature

import numpy as np
import pytest

import epic
from epic import InputError
from epic.compare.plan import Plan
from epic.compare.runner import carry_out, outlook
from epic.compare.runs import Runs
from epic.compare.statistics import paired
from epic.compare.store import Store
from epic.compare.study import Study, plan_of, study
from epic.compare.table import lines, rows
from epic.compare.verdict import differences
from epic.data import lollipop, write_graphs
from epic.graphs.convert import pack
from epic.paper.plans import Call
from tests.compare.fake import Fake
from tests.compare.stores import ready


@pytest.fixture
def calls(tmp_path):
    (tmp_path / "calls").mkdir()
    return tmp_path / "calls"


def test_a_method_that_helps_is_seen_and_one_that_does_nothing_is_not(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = plan_of("a", ["drop_edge", "drop_node"], splits=6, seeds=2, tune=0)
    fake = Fake(str(calls), bonus=(("drop_edge", 0.08),))
    carry_out(Runs(plan, store), fake, workers=0, progress=False)
    vanilla, helps, idle = rows(Runs(plan, store))
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
    plan = plan_of("a", ["drop_edge"], splits=1, seeds=4, tune=0)
    carry_out(Runs(plan, store), Fake(str(calls), bonus=(("drop_edge", 0.08),)), workers=0, progress=False)
    gap = rows(Runs(plan, store))[1].difference
    assert gap.difference == pytest.approx(8, abs=2)
    assert (gap.low, gap.high, gap.p) == (None, None, None)


def test_all_methods_meet_the_same_splits_seeds_and_budget(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = plan_of("a", ["drop_edge", "submix"], splits=2, seeds=2, tune=3)
    carry_out(Runs(plan, store), Fake(str(calls)), workers=0, progress=False)
    met = {}
    for record in store:
        c = record["config"]
        met.setdefault(c["method"], []).append((c["split_seed"], c["seed"]))
    assert {m: sorted(v) for m, v in met.items() if m != "vanilla"} == {
        m: sorted(met["vanilla"]) for m in ("drop_edge", "submix")
    }


def test_what_is_there_is_told_while_runs_are_missing(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = plan_of("a", ["drop_edge"], splits=3, seeds=1, tune=0)
    first = rows(Runs(plan, store))
    assert first[0].score is None
    assert first[1].verdict == "no finished runs yet"
    with store.writer() as writer:
        for task in ready(plan, store)[:4]:
            writer.add(task, Fake(str(calls))(task))
    assert rows(Runs(plan, store))[1].verdict.startswith("too few runs to say")


def test_a_method_that_cannot_be_run_says_why(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = plan_of("a", ["drop_edge"], splits=2, seeds=1, tune=0)
    with store.writer() as writer:
        for task in ready(plan, store):
            plain = task.config["method"] == "vanilla"
            writer.add(task, Fake(str(calls))(task) if plain else {"error": "InputError: no edges\nTraceback"})
    assert rows(Runs(plan, store))[1].verdict == "failed: InputError: no edges"


def test_scores_have_a_name_and_values_their_digits(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = plan_of("a", ["drop_edge"], splits=3, seeds=1, tune=0)
    with store.writer() as writer:
        for task in ready(plan, store):
            found = {**Fake(str(calls))(task), "task": "values"}
            gain = 0.00125 * (1 + task.config["split_seed"]) * (task.config["method"] == "drop_edge")
            writer.add(task, {**found, "test": -0.5 + gain})
    text = lines(Runs(plan, store))
    assert "Score: minus the mean absolute error, on the test graphs, mean over all runs." in text
    assert text[2].split()[:3] == ["drop_edge", "-0.4975", "+0.0025"]
    assert "+0.0025 units" in rows(Runs(plan, store))[1].verdict


def test_the_table_is_lines_of_text(tmp_path, calls):
    store = Store(tmp_path / "r.jsonl")
    plan = plan_of("a", ["drop_edge"], splits=2, seeds=1, tune=0)
    with store.writer() as writer:
        for task in ready(plan, store):
            score = 0.7 if task.config["method"] == "vanilla" else 0.72 + 0.02 * task.config["split_seed"]
            writer.add(task, {**Fake(str(calls))(task), "test": score})
    head, vanilla, rival, *notes = lines(Runs(plan, store))
    at = {name: head.index(name) for name in ("score", "difference", "runs", "verdict")}
    assert [vanilla[at["score"] :].split()[0], rival[at["score"] :].split()[0]] == ["70.00", "73.00"]
    assert rival[at["difference"] :].startswith("+3.00")
    assert (vanilla[at["difference"]], rival[at["runs"] :].split()[0]) == ("-", "2/2")
    assert rival[at["verdict"] :] == "too few runs to say: +3.0 points over 2 splits"
    assert notes[0].startswith("Score: accuracy in percent")


def test_a_study_of_a_file_keeps_its_call(tmp_path):
    file = str(tmp_path / "g.safetensors")
    write_graphs(file, pack(lollipop(30, heads=(4, 6), seed=0)))
    asked = study(file, ["drop_edge"], results=tmp_path / "r.jsonl", splits=1, seeds=1, tune=0, epochs=1)
    assert asked.outlook().total == 3
    assert asked.run(workers=0, progress=False)
    assert [row.method for row in asked.rows] == ["vanilla", "drop_edge", "counts"]
    call = {"command": "epic compare", "dataset": file, "methods": ["drop_edge"], "splits": 1}
    assert all(call.items() <= record["call"].items() for record in asked.store)
    assert all(record["config"]["checksum"] for record in asked.store)
    with pytest.raises(InputError, match="unknown method 'drop_edg'; did you mean 'drop_edge'"):
        study(file, ["drop_edg"])


def test_the_plan_is_expanded_once(tmp_path, calls, monkeypatch):
    seen = []
    expand = Plan.expand
    monkeypatch.setattr(Plan, "expand", lambda plan, group, store: seen.append(group) or expand(plan, group, store))
    plan = plan_of("a", ["drop_edge"], splits=3, seeds=1, tune=0)
    runs = Runs(plan, Store(tmp_path / "r.jsonl"))
    outlook(runs)
    carry_out(runs, Fake(str(calls)), workers=0, progress=False)
    lines(runs)
    assert len(seen) == len(plan.groups()) == 3


def test_a_baseline_is_told_apart_from_methods(tmp_path):
    """It has a difference and an interval, but no place among the methods that p-values are corrected for."""
    plan = plan_of("a", ["drop_edge"], baselines=("counts",), splits=3, seeds=1, tune=0)
    runs = Runs(plan, Store(tmp_path / "r.jsonl"))
    assert rows(runs)[2].verdict == "another classifier: no finished runs yet"
    level = {"vanilla": 0.70, "drop_edge": 0.72}
    with runs.store.writer() as writer:
        for task in runs:
            c = task.config
            found = {"task": "classes", "sizes": [7, 1, 2], "seconds": 1.0}
            if c["backbone"] != "counts":
                found |= {"updates": 3, "epochs": 1, "made": 1, "making_seconds": 1.0}
            score = level[c["method"]] if "updates" in found else 0.6
            writer.add(task, {"test": score + 0.01 * c["split_seed"] ** 2, "validation": 0.5, **found})
    counts = rows(runs)[2]
    assert counts.verdict.startswith("another classifier: -10.0 points")
    assert (counts.epoch, counts.graph, counts.difference.difference) == (None, None, pytest.approx(-10))
    assert [a.label for a in differences(runs)] == ["drop_edge"]


def test_two_splits_have_a_banner_and_no_interval(tmp_path):
    """Classes are named, and what is too little to judge by says so on page and terminal."""
    table = tmp_path / "mine.csv"
    table.write_text("smiles,label\n" + "".join(f"{'C' * (1 + i)}O,{'yes' if i % 2 else 'no'}\n" for i in range(40)))
    pytest.importorskip("rdkit")
    asked = study(str(table), ["drop_edge"], results=tmp_path / "r.jsonl", splits=2, seeds=1, tune=0)
    assert "no finished runs yet" in asked.page()  # nothing is done yet
    with asked.store.writer() as writer:
        for task in asked.runs:
            score = 0.7 + 0.1 * task.config["split_seed"] * (task.config["method"] == "drop_edge")
            facts = {"task": "binary", "sizes": [28, 4, 8], "seconds": 1.0}
            writer.add(task, {"test": score, "validation": 0.5, **facts})
    text, page = asked.lines(), asked.page()
    assert text[0] == "2 whole splits are too few to judge by: a verdict needs 3."
    assert '<p class="banner" role="note">2 whole splits are too few' in page
    assert "too few splits" in next(line for line in text if line.startswith("drop_edge"))
    assert " to " not in next(line for line in text if line.startswith("drop_edge")).partition("verdict")[0][:60]
    assert "40 graphs (20 no, 20 yes)" in page


@pytest.mark.parametrize("sizes", [None, [16, 24]])
def test_a_quick_look_has_a_banner_and_no_verdict(tmp_path, sizes):
    """Not even many splits and a large effect make one of it."""
    file = str(tmp_path / "g.safetensors")
    write_graphs(file, pack(lollipop(40, heads=(4, 6), seed=0)))
    asked = study(file, ["drop_edge"], results=tmp_path / "r.jsonl", quick=True, sizes=sizes)
    plan = asked.runs.plan
    assert (plan.splits, plan.seeds, plan.tune) == (2, 1, 0)
    assert {k: plan.options[k] for k in ("epochs", "cost", "fit_epochs")} == Call("main", quick=True).build(
        "main"
    ).options
    assert asked.call["quick"] is True
    assert "A quick look" in asked.page()  # nothing is done yet: there is nothing to draw, and no warning
    asked = study(file, ["drop_edge"], results=tmp_path / "r.jsonl", quick=True, sizes=sizes, splits=4, epochs=7)
    assert (asked.runs.plan.splits, asked.runs.plan.options["epochs"]) == (4, 7)
    with asked.store.writer() as writer:
        for task in asked.runs:
            gain = (0.2 + 0.01 * task.config["split_seed"]) * (task.config["method"] == "drop_edge")
            facts = {"task": "classes", "sizes": [28, 4, 8], "seconds": 1.0}
            writer.add(task, {"test": 0.6 + gain, "validation": 0.5, **facts})
    judged = Runs(asked.runs.plan.model_copy(update={"quick": False}), asked.store, paired=True)
    plain = Study(asked.dataset, judged, {}, asked.perform)
    assert "helps: +2" in "\n".join(plain.lines())
    assert "helps: +2" in plain.page()
    said, page = "\n".join(asked.lines()), asked.page()
    assert said.startswith("A quick look (--quick)")
    assert 'role="note">A quick look (--quick)' in page
    for text in (said, page):
        assert not re.search("helps|evidence|95 % (intervals|bands)|as good as|too few", text, re.IGNORECASE)
    assert "+21" in said  # the numbers are there


def test_half_a_pair_is_shown_of_none(tmp_path, calls):
    plan = plan_of("a", ["drop_edge", "submix"], splits=3, seeds=1, tune=0)
    runs = Runs(plan, Store(tmp_path / "r.jsonl"), paired=True)
    with runs.store.writer() as writer:
        for task in list(runs)[:5]:  # the first split is whole, the second lacks a method
            writer.add(task, Fake(str(calls))(task))
    assert [row.runs for row in rows(runs)] == [1, 1, 1]
    assert [row.runs for row in rows(Runs(plan, runs.store))] == [2, 2, 1]


@pytest.mark.parametrize("size", [7, 40, 100_000])
def test_sizes_that_no_draw_can_have_are_refused(tmp_path, size):
    path = tmp_path / "graphs.safetensors"
    write_graphs(path, pack(lollipop(40, seed=0)))
    with pytest.raises(InputError, match=f"between 8 and the number of graphs less one \\(39\\), got {size}"):
        study(str(path), ["drop_edge"], sizes=[size], results=tmp_path / "r.jsonl", progress=False)


@pytest.mark.parametrize("what", ["seeds", "splits", "tune"])
def test_more_than_a_store_reads_is_refused(what):
    with pytest.raises(InputError, match=f"{what} must be at most 1000, got 1001"):
        plan_of("a", ["drop_edge"], **{what: 1001})


def test_a_single_try_is_no_tuning():
    """With a budget, which never restores a single try, the comparison is still whole."""
    plan = plan_of("a", ["drop_edge"], splits=3, seeds=1, tune=1)
    assert plan == plan_of("a", ["drop_edge"], splits=3, seeds=1, tune=0)


def test_the_call_shows_its_options_and_names_a_wrong_one(tmp_path):
    assert list(signature(epic.compare).parameters)[:3] == ["dataset", "methods", "model"]
    with pytest.raises(InputError, match="unknown option 'quik'; did you mean 'quick'"):
        epic.compare("lollipop", results=tmp_path / "r.jsonl", quik=True)
