"""``epic report`` from the command line."""

import csv
import io

import pytest

from epic.paper.plans import load_plan
from tests.cli.command import epic
from tests.compare.stores import fill, others, tiny


@pytest.fixture
def results(tmp_path):
    """Two files: one plan in each."""
    order = load_plan("order", datasets=("BZR",))
    fill(order, tmp_path / "a.jsonl", lambda c: 0.8 + 0.01 * c["seed"])
    others(load_plan("blur"), tmp_path / "b.jsonl", lambda c: {"frobenius": {"1": 2.0}})
    return tmp_path


def test_a_page_from_merged_files(results):
    run = epic("report", "--results", "a.jsonl", "--results", "b.jsonl", "--out", "r.html", cwd=results)
    assert run.returncode == 0, run.stderr
    assert "random     81.00 (1.0) best" in run.stdout  # the table, not only the name of the file
    assert run.stdout.endswith("wrote r.html\n")
    page = (results / "r.html").read_text(encoding="utf-8")
    assert page.count('<section class="card plan"') == 2


@pytest.mark.parametrize("form", ["html", "md", "text", "latex", "csv"])
def test_a_quick_look_does_not_pose_as_a_result(tmp_path, form):
    """No marks, ranks, intervals or verdicts of what was measured; a banner on page and terminal."""
    quick = load_plan("main", quick=True, backbones=("gin",))
    fill(quick, tmp_path / "a.jsonl", lambda c: 0.5 + 0.1 * c["seed"] * (c["method"] == "epic"))
    call = ("report", "--results", "a.jsonl", "--format", form, *(("--out", "r.html") if form == "html" else ()))
    run = epic(*call, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    if form != "csv":
        assert "few epochs and runs. It shows that everything works, and is no result." in run.stdout
        assert "interval needs 3 seeds at least" in run.stdout
    else:
        rows = list(csv.DictReader(io.StringIO(run.stdout)))
        assert not [r for r in rows if r["mark"] or r["low"] or r["p_corrected"]]
        assert [r for r in rows if r["difference"] and float(r["difference"])]
        assert not [r for r in rows if r["column"] == "rank" and r["mean"]]
    assert " to 3" not in run.stdout
    assert "no evidence" not in run.stdout
    if form == "html":
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert page.count('class="banner"') == 2
        assert "(best)" not in page
        assert "what the runs say" not in page


def test_defaults(results):
    (results / "results").mkdir()
    (results / "a.jsonl").rename(results / "results" / "bench.jsonl")
    run = epic("report", cwd=results)
    assert run.returncode == 0, run.stderr
    assert "Random, breadth-first and connected order" in (results / "report.html").read_text(encoding="utf-8")


def test_what_is_in_no_table_is_told(results):
    fill(tiny(), results / "a.jsonl", lambda c: 0.5)
    run = epic("report", "--results", "a.jsonl", cwd=results)
    assert run.returncode == 0
    assert "12 results are in no table here" in run.stderr


def test_text_goes_to_the_screen(results):
    run = epic("report", "order", "--format", "md", "--results", "a.jsonl", cwd=results)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("## order\n")
    assert "| random | **81.00 (1.0)** |" in run.stdout
    run = epic("report", "--format", "csv", "--results", "a.jsonl", "--out", "r.csv", cwd=results)
    assert run.stdout == "wrote r.csv\n"
    assert (results / "r.csv").read_text(encoding="utf-8").startswith("table,block,")


def test_runs_are_shown_as_they_were_called(tmp_path):
    fewer = load_plan("order", datasets=("BZR",), seeds=2, epochs=7)
    fill(fewer, tmp_path / "a.jsonl", lambda c: 0.8 + 0.01 * c["seed"])
    call = ("report", "--format", "md", "--results", "a.jsonl")
    run = epic(*call, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "| random | **80.50 (0.7)** |" in run.stdout
    assert "`epic reproduce order --datasets BZR --seeds 2 --epochs 7`" in run.stdout
    run = epic(*call, "order", "main", "--methods", "bfs", cwd=tmp_path)
    assert "| bfs | " in run.stdout
    assert "| random | " not in run.stdout
    assert "nothing of main with these options" in run.stderr


@pytest.mark.parametrize("form", ["text", "md", "html"])
def test_classes_of_a_file_are_called_by_their_names(tmp_path, form):
    """They are kept with the runs, since the file may be gone."""
    file = str(tmp_path / "mine.csv")
    for name, seeds in (("a", 1), ("b", 2)):
        plan = load_plan("order", datasets=(file,), seeds=seeds, classes={file: {"active": 12, "in<b>active": 30}})
        fill(plan, tmp_path / f"{name}.jsonl", lambda c: 0.8)
    fill(load_plan("order", datasets=("BZR",), seeds=1), tmp_path / "c.jsonl", lambda c: 0.7)
    files = [word for name in "abc" for word in ("--results", f"{name}.jsonl")]
    run = epic("report", "--format", form, "--out", "r", *files, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    said = (tmp_path / "r").read_text(encoding="utf-8")
    assert said.count("12 active") == 1
    assert "Classes of BZR" not in said
    assert ("12 active, 30 in&lt;b&gt;active." in said) == (form != "text")


def test_runs_on_a_file_are_shown_whatever_became_of_it(tmp_path):
    file = str(tmp_path / "graphs.pt")
    plan = load_plan("order", datasets=(file,), checksums={file: "abc"})
    fill(plan, tmp_path / "a.jsonl", lambda c: 0.8)
    run = epic("report", "order", "--datasets", file, "--format", "md", "--results", "a.jsonl", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "| random | **80.00 (0.0)** |" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--results", "nowhere.jsonl"), "there is no file nowhere.jsonl"),
        (("ordr", "--results", "a.jsonl"), "unknown plan 'ordr'; did you mean 'order'?"),
        (("noise", "--results", "a.jsonl"), "results is a reported run of noise: run `epic reproduce noise`"),
        (("--results", "empty.jsonl"), "empty.jsonl: no results there yet"),
        (("--results", "a.jsonl", "--methods", "bsf"), "unknown method in these results 'bsf'; did you mean 'bfs'?"),
        (("--results", "a.jsonl", "--datasets", "BRZ"), "unknown dataset in these results 'BRZ'; did you mean 'BZR'?"),
        (("--results", "a.jsonl", "--results", "."), ". is a folder: name a .jsonl file for results"),
        (("--results", "a.jsonl", "--format", "xls"), "unknown format 'xls'"),
        (("--results", "a.jsonl", "--out", "/proc/r.html"), "cannot write /proc/r.html: "),
        (("--results", "a.jsonl", "--out", "no/r.html"), "the folder no does not exist"),
    ],
)
def test_what_cannot_be_reported_is_said(results, arguments, said):
    (results / "empty.jsonl").write_text("")
    run = epic("report", *arguments, cwd=results)
    assert run.returncode == 2
    assert said in run.stderr
    assert not (results / "report.html").exists()
