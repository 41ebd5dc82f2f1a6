"""``epic figures``."""

import json

import pytest
from matplotlib.image import imread

from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.paper.plans import load_plan
from tests.cli.command import epic

NAMES = ["edit_path", "curves", "correspondence", "lollipop_costs", "blur"]


@pytest.fixture(autouse=True)
def _no_data(monkeypatch, tmp_path):
    monkeypatch.delenv("EPIC_DATA", raising=False)
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))


@pytest.mark.slow
def test_all_figures_without_data_or_runs(tmp_path):
    run = epic("figures", "--out", "figures", "--graphs", "80", "--epochs", "2", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "learning costs" in run.stderr  # a progress bar
    folder = tmp_path / "figures"
    assert sorted(p.name for p in folder.iterdir()) == sorted(f"{n}.{s}" for n in NAMES for s in ("png", "json"))
    for name in NAMES:
        found = json.loads((folder / f"{name}.json").read_text())
        assert "learned now on 80 lollipop graphs, 2 epochs at most, seed 0" in found["source"]
        assert f"({found['source']})" in run.stdout
        assert imread(folder / f"{name}.png")[..., :3].min() < 0.5


@pytest.mark.parametrize(("form", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_runs_of_the_results_are_drawn(tmp_path, form, start):
    path = tmp_path / "bench.jsonl"
    with Store(path).writer() as writer:
        for task in list(Runs(load_plan("blur"), Store(path)))[:3]:
            writer.add(task, {"frobenius": {"1": 2.5, "2": 1.25}})
    run = epic("figures", "--out", str(tmp_path / "f"), "--results", str(path), "--only", "blur", "--format", form)
    assert run.returncode == 0, run.stderr
    assert sorted(p.name for p in (tmp_path / "f").iterdir()) == ["blur.json", f"blur.{form}"]
    assert (tmp_path / "f" / f"blur.{form}").read_bytes().startswith(start)
    found = json.loads((tmp_path / "f" / "blur.json").read_text())
    assert found["frobenius"] == {d: {"1": 2.5, "2": 1.25} for d in ("BZR", "COX2", "IMDB-BINARY")}
    assert found["source"] == "runs of the plan blur in bench.jsonl"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "blurr"), "did you mean 'blur'"),
        (("--format", "pgn"), "did you mean 'png'"),
        (("--results", "."), "is a folder"),
    ],
)
def test_what_cannot_be_drawn_ends_with_2_before_any_work(tmp_path, arguments, message):
    run = epic("figures", "--out", "figures", *arguments, cwd=tmp_path)
    assert run.returncode == 2
    assert message in run.stderr
    assert not (tmp_path / "figures").exists()
