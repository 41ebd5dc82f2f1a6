import json
import re

import pytest

from epic.compare.store import Store
from epic.data import lollipop, write_graphs
from epic.graphs.convert import pack
from tests.cli.command import epic

NARROW = ("--quick", "--methods", "vanilla,drop_edge", "--backbones", "gin", "--seeds", "1", "--epochs", "2")


@pytest.mark.slow
def test_a_plan_is_run_shown_and_not_run_again(small, tmp_path):
    command = ("reproduce", "main", *NARROW, "--datasets", str(small))
    run = epic(*command, "--dry", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("main: 2 runs, 0 done, 2 to do")
    assert not (tmp_path / "results").exists()
    timed = epic(*command, "--dry", "--probe", cwd=tmp_path)
    assert re.search(r"main: 2 runs, 0 done, 2 to do, about \d+ s\n", timed.stdout), timed.stdout
    assert "timing" in timed.stderr
    assert not (tmp_path / "results").exists()
    run = epic(*command, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "wrote main.html" in run.stdout
    page = (tmp_path / "main.html").read_text()
    assert "drop_edge" in page
    records = [json.loads(line) for line in (tmp_path / "results" / "bench.jsonl").read_text().splitlines()]
    assert [r["config"]["method"] for r in records] == ["vanilla", "drop_edge"]
    assert all(len(r["history"]["validation"]) == r["config"]["epochs"] == 2 for r in records)
    assert all(r["versions"]["epic"] and r["data"] for r in records)
    again = epic(*command, cwd=tmp_path)
    assert "2 runs, 2 done, 0 to do" in again.stdout
    assert len(Store(tmp_path / "results" / "bench.jsonl")) == 2
    assert (tmp_path / "results" / "bench.jsonl").read_text().count("\n") == 2
    write_graphs(small, pack(lollipop(12, heads=(4, 6), seed=7)))
    changed = epic(*command, "--dry", cwd=tmp_path)
    assert "2 runs, 0 done, 2 to do" in changed.stdout, "the file holds other graphs now"


@pytest.mark.slow
def test_classes_of_a_file_have_names(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="RDKit is not installed (extra 'mol')")
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    rows = [f"C1{'C' * (1 + i // 6)}C1{'ONS'[i % 3]},{'inactive' if i % 3 else 'active'}\n" for i in range(60)]
    (tmp_path / "mine.csv").write_text("smiles,label\n" + "".join(rows))
    run = epic("reproduce", "main", *NARROW, "--datasets", "mine.csv", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "mine.csv: 40 inactive, 20 active." in run.stdout
    assert "mine.csv: 40 inactive, 20 active." in (tmp_path / "main.html").read_text()
    run = epic("report", "--format", "text", cwd=tmp_path)
    assert "mine.csv: 40 inactive, 20 active." in run.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reproduce", "mains"), "unknown plan 'mains'; did you mean 'main'"),
        (("reproduce", "main", "--methods", "epik"), "unknown method 'epik'"),
        (("reproduce", "distance", "--methods", "epic"), "distance does not compare methods: leave out --methods"),
        (("reproduce", "main", "--out", "nowhere/x.html"), "the folder nowhere does not exist"),
        (("reproduce", "main", "--out", "/proc/x.html"), "cannot write /proc/x.html: "),
        (("reproduce", "lollipop", "--datasets", "BZR"), "lollipop is on graphs of its own: leave out --datasets"),
        (("reproduce", "distance_exact", "--backbones", "gin"), "trains no classifier: leave out --backbones"),
        (("compare", "{small}", "--budget=-5s"), "a time is a number from 0 up"),
        (("compare", "{small}", "--results", "/proc/no/r.jsonl"), "cannot write results to /proc/no/r.jsonl"),
        (("reproduce", "main", "--datasets", ","), "no datasets are named: give one at least"),
        (("report", "main", "--methods", ""), "no methods are named: give one at least"),
        (("compare", "{small}", "--methods", ""), "no methods are named: give one at least"),
        (("compare", "{small}", "--methods", "epik"), "unknown method 'epik'"),
        (("compare", "{small}", "--budget", "soon"), "a time is written 45s, 30m or 2h, got 'soon'"),
        (("compare", "nothing.csv"), "there is no file nothing.csv"),
    ],
)
def test_wrong_calls(small, tmp_path, arguments, message):
    run = epic(*(a.replace("{small}", str(small)) for a in arguments), cwd=tmp_path)
    assert run.returncode == 2
    assert message in run.stderr
