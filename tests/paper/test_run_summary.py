"""How plans were run, and which of them a store has."""

import pytest

from epic import InputError
from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.paper.plans import load_plan
from epic.paper.run_summary import called_plans, run_summary, unshown
from epic.paper.tables import table_of
from epic.paper.tables.render import to_latex, to_markdown
from tests.compare.stores import fill, others, tiny
from tests.paper.tables.test_train import score


def found_in(store, *options, **only):
    return [runs.plan for runs in called_plans(store, *options, **only)]


def test_runs_time_versions_and_failures_are_counted(tmp_path):
    plan = tiny(seeds=2)
    store = fill(plan, tmp_path / "r.jsonl", score, lambda c: "no memory" if c["method"] == "submix" else None)
    found = run_summary(Runs(plan, store))
    assert (found.total, found.done, found.failed, found.seconds) == (12, 8, 4, 84.0)
    assert found.versions == (("epic 0.1, torch 2.13", 8),)
    assert found.failures[0].what == "A, gin, submix, seed 0"
    assert found.failures[0].error == "no memory"
    assert (found.command, found.warnings) == ("", ())
    text = (tmp_path / "r.jsonl").read_text()
    (tmp_path / "r.jsonl").write_text(text.replace('"data": "same"', '"data": "other"', 1))
    assert run_summary(Runs(plan, Store(tmp_path / "r.jsonl"))).warnings == (
        "Runs on A saw different data: their checksums differ.",
    )


def test_plans_of_our_own_follow_those_of_the_paper(tmp_path):
    for name in ("regime", "main"):
        plan = load_plan(name, datasets=("BZR",), backbones=("gin",), methods=["vanilla"], seeds=1)
        store = fill(plan, tmp_path / "r.jsonl", lambda c: 0.5)
    assert [plan.name for plan in found_in(store)] == ["main", "regime"]


def test_a_plan_is_shown_as_it_was_called(tmp_path):
    part = load_plan("noise", datasets=("IMDB-MULTI",), backbones=("gin",), methods=["vanilla", "flag"], epochs=7)
    store = fill(part, tmp_path / "r.jsonl", lambda c: 0.5)
    (runs,) = called_plans(store)
    assert runs.plan == part
    found = run_summary(runs)
    options = "--datasets IMDB-MULTI --backbones gin --methods vanilla,flag --epochs 7"
    assert found.command == f"epic reproduce noise {options}"
    assert found.total == found.done == part.count()


def test_two_calls_on_other_datasets_are_one_table(tmp_path):
    for dataset in ("BZR", "COX2"):
        fill(load_plan("order", datasets=(dataset,)), tmp_path / "r.jsonl", lambda c: 0.5)
    (plan,) = found_in(Store(tmp_path / "r.jsonl"))
    assert plan.datasets == ("BZR", "COX2")


def test_which_plans_a_store_has(tmp_path):
    fill(load_plan("order", datasets=("BZR",), seeds=1), tmp_path / "r.jsonl", lambda c: 0.5)
    others(load_plan("blur"), tmp_path / "r.jsonl", lambda c: {"frobenius": {"1": 1.0}})
    store = Store(tmp_path / "r.jsonl")
    assert [p.name for p in found_in(store)] == ["order", "blur"]
    assert [p.name for p in found_in(store, ["blur"])] == ["blur"]
    with pytest.raises(InputError, match=r"none of the .* results is a reported run of noise"):
        called_plans(store, ["noise"])
    with pytest.raises(InputError, match="unknown plan 'nois'; did you mean 'noise'"):
        called_plans(store, ["nois"])


def test_a_plan_that_was_not_called_shares_runs_with_others(tmp_path):
    main = load_plan("main", methods=["vanilla"], datasets=("BZR",), backbones=("gin",))
    store = fill(main, tmp_path / "r.jsonl", lambda c: 0.5)
    assert [p.name for p in found_in(store)] == ["main"]  # costs trains plainly too
    assert [p.name for p in found_in(store, ["costs"])] == ["costs"]


def test_a_part_is_shown_once(tmp_path):
    """The plan splits may be called by itself, and belongs to distance."""
    fill(load_plan("splits", datasets=("BZR",)), tmp_path / "r.jsonl", lambda c: 0.5)
    others(load_plan("distance", datasets=("BZR",)), tmp_path / "r.jsonl", lambda c: {"majority_accuracy": 0.5})
    assert [p.name for p in found_in(Store(tmp_path / "r.jsonl"))] == ["distance", "splits"]


@pytest.mark.parametrize("name", ["order", "costs", "lollipop"])
def test_a_quick_look_is_called_one_and_stands_beside_the_whole(name, tmp_path):
    path, quick = tmp_path / "r.jsonl", load_plan(name, quick=True)
    fill(load_plan("main", datasets=("BZR",), backbones=("gin",)), path, lambda c: 0.5)
    if name == "lollipop":
        others(quick, path, lambda c: {"pattern": {}})
    else:
        fill(quick, path, lambda c: 0.5)
    whole, small = called_plans(Store(path))
    assert [(r.plan.name, r.plan.quick) for r in (whole, small)] == [("main", False), (name, True)]
    assert "quick look (--quick)" in to_markdown(table_of(small))
    assert "quick look" in to_latex(table_of(small))
    assert "quick look" not in to_markdown(table_of(whole))


def test_less_can_be_asked_for(tmp_path):
    fill(load_plan("order", datasets=("BZR", "COX2")), tmp_path / "r.jsonl", lambda c: 0.5)
    store = Store(tmp_path / "r.jsonl")
    (plan,) = found_in(store, datasets=("COX2",), methods=("bfs",), seeds=2)
    assert (plan.datasets, [e.label for e in plan.entries], plan.seeds) == (("COX2",), ["bfs"], 2)
    with pytest.raises(InputError, match="none of the"):
        called_plans(store, methods=("submix",))


def test_results_that_no_table_shows_are_counted(tmp_path):
    fill(load_plan("order", datasets=("BZR",)), tmp_path / "r.jsonl", lambda c: 0.5)
    store = Store(tmp_path / "r.jsonl")
    assert unshown(called_plans(store), store) == 0
    other = fill(tiny(), tmp_path / "r.jsonl", lambda c: 0.5)
    assert unshown(called_plans(other), other) == 12


def test_files_merge_and_a_success_is_not_hidden_by_a_failure(tmp_path):
    plan = tiny()
    fill(plan, tmp_path / "a.jsonl", lambda c: score(c) if c["dataset"] == "A" else None)
    fill(plan, tmp_path / "b.jsonl", score, lambda c: "broken" if c["dataset"] == "A" else None)
    whole = Runs(plan, fill(plan, tmp_path / "c.jsonl", score))
    for files in ("ab", "ba"):
        both = Runs(plan, Store.merged([tmp_path / f"{f}.jsonl" for f in files]))
        assert run_summary(both).done == 12
        assert table_of(both) == table_of(whole)
    with pytest.raises(InputError, match=r"there is no file .*nowhere\.jsonl"):
        Store.merged([tmp_path / "a.jsonl", tmp_path / "nowhere.jsonl"])
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match=r"empty\.jsonl: no results there yet"):
        Store.merged([tmp_path / "empty.jsonl"])
