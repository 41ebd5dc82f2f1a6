"""The verbs, run as a user would."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
import yaml

from epic import LearnedCost
from epic.augment import METHODS
from epic.data import Shards, write_graphs
from epic.data.lollipop import lollipop
from epic.graphs.convert import pack
from epic.train.config import default_settings
from tests.cli.test_demo import epic


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A small dataset of our own, in a file."""
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    write_graphs(tmp_path / "small.safetensors", pack(lollipop(60, seed=0)))
    return tmp_path / "small.safetensors"


@pytest.mark.slow
def test_fit_then_path_then_train(small, tmp_path):
    run = epic("fit", str(small), "--out", str(tmp_path / "cost.safetensors"), "--epochs", "3")
    assert run.returncode == 0, run.stderr
    assert "learning costs" in run.stderr
    judged = [e.judged for e in LearnedCost.load(tmp_path / "cost.safetensors").history_]
    assert f"best epoch {1 + judged.index(min(judged))} of 3" in run.stdout
    assert LearnedCost.load(tmp_path / "cost.safetensors").fitted
    assert not list(tmp_path.glob("*.ckpt"))
    run = epic(
        "path", str(small), "0", "5", "--cost", str(tmp_path / "cost.safetensors"), "--out", str(tmp_path / "p.svg")
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("EditPath(")
    assert (tmp_path / "p.svg").stat().st_size > 5000
    for method in ("vanilla", "epic"):
        run = epic("train", str(small), "--method", method, "--epochs", "2", "--out", str(tmp_path / "runs"))
        assert run.returncode == 0, run.stderr
        (folder,) = (tmp_path / "runs").glob(f"small-{method}-gin-split0-seed0-*")
        result = json.loads((folder / "result.json").read_text())
        assert result["epochs"] == 2
        assert f"test accuracy {result['test']:.4f}" in run.stdout
        assert len((folder / "history.jsonl").read_text().splitlines()) == 2


@pytest.mark.slow
def test_train_killed_and_started_again_gives_the_same_result(small, tmp_path):
    command = ["train", str(small), "--method", "epic", "--epochs", "12"]
    killed(
        [*command, "--out", str(tmp_path / "a")],
        lambda: any(h.read_text().count("\n") >= 3 for h in (tmp_path / "a").glob("*/history.jsonl")),
    )
    results = []
    for out in ("a", "b"):
        assert epic(*command, "--out", str(tmp_path / out)).returncode == 0
        (folder,) = (tmp_path / out).iterdir()
        record = json.loads((folder / "result.json").read_text())
        del record["seconds"], record["making_seconds"], record["prepared"]
        lines = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
        results.append((record, [{k: v for k, v in line.items() if "seconds" not in k} for line in lines]))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "NCI2"), "unknown dataset 'NCI2': did you mean NCI1"),
        (("train", "{small}", "--method", "epicc"), "unknown method 'epicc'; did you mean 'epic' or"),
        (("train", "{small}", "--backbone", "gat"), "unknown backbone 'gat'"),
        (("train", "{small}", "--model", "pool=max"), "unknown pool 'max'"),
        (("train", "{small}", "--method", "drop_edge", "--set", "q=1"), "unknown setting of drop_edge 'q'"),
        (("train", "{small}", "--method", "drop_edge", "--set", "p"), "--set takes NAME=VALUE, got 'p'"),
        (("train", "{small}", "--method", "drop_edge", "--set", "p=2"), "p must lie between 0 and 1, got 2"),
        (("train", "{small}", "--lr", "-1"), "lr: Input should be greater than 0, got -1.0"),
        (("train", "{small}", "--config", "none.yaml"), "cannot read the config none.yaml"),
        (("train", "{small}", "--device", "nowhere"), "cannot use the device 'nowhere'"),
        (("path", "{small}", "0", "99"), "there is no graph 99 in small: graphs run from 0 to 59"),
        (("path", "{small}", "0", "1", "--out", "x.txt"), "must end in .html, .png, .svg, .pdf"),
        (("train", "{small}", "--split", "random"), "split: Input should be 'official' or 'stratified', got 'random'"),
        (("train", "{small}", "--model", "pool"), "--model takes NAME=VALUE, got 'pool'"),
        (("compare", "{small}", "--model", "pools=sum"), "unknown option of the backbone 'pools'; did you mean 'pool'"),
        (("train", "{small}", "--cost-assignment", "greedy"), "unknown assignment 'greedy'"),
        (("gallery", "{small}", "--out", "x.png"), "must end in .html"),
        (("path", "{small}", "0", "1", "--cost", "none.safetensors"), "there is no file none.safetensors"),
        (("fit", "{small}", "--out", "/nowhere/c.safetensors"), "the folder /nowhere does not exist"),
        (("fit", "nothing.csv", "--out", "c.safetensors"), "there is no file nothing.csv"),
        (("augment", "{small}", "--out", "a", "--method", "vanilla"), "vanilla makes no graphs"),
        (("augment", "{small}", "--out", "a", "--shard", "100"), "multiple of 256, got 100"),
        (("augment", "{small}", "--out", "a", "--part", "test"), "unknown part 'test'"),
        (("augment", "NCI2", "--out", "a"), "unknown dataset 'NCI2'"),
        (("datasets", "--data", "/nowhere"), "there is no data folder /nowhere"),
    ],
)
def test_wrong_calls_end_with_2_and_a_message(small, tmp_path, arguments, message):
    before = sorted(p.name for p in tmp_path.iterdir())
    run = epic(*(a.replace("{small}", str(small)) for a in arguments), cwd=tmp_path)
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    left = [n for n in sorted(p.name for p in tmp_path.iterdir()) if n not in (*before, "cache")]
    assert left == []


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A CSV of molecules, with two columns to predict and a row that is no molecule."""
    pytest.importorskip("rdkit", reason="RDKit is not installed (extra 'mol')")
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    rows = [f"C1{'C' * (1 + i // 6)}C1{'ONS'[i % 3]},{i % 3},{i % 2}\n" for i in range(90)]  # 15 scaffolds
    (tmp_path / "mine.csv").write_text("smiles,kind,active\n" + "".join(rows) + "xyz,0,1\n")
    return tmp_path / "mine.csv"


@pytest.mark.slow
def test_a_csv_is_read_as_told(table, tmp_path):
    command = ["train", str(table), "--epochs", "1", "--split", "stratified"]
    run = epic(*command, "--out", str(tmp_path / "none"))
    assert run.returncode == 2
    assert "name it with --target (target= in Python), among kind, active" in run.stderr
    for n, (options, metric) in enumerate(
        [
            (("--target", "kind"), "accuracy"),
            (("--target", "kind", "--task", "values"), "minus mean absolute error"),
            (("--target", "active"), "ROC-AUC"),
            (("--target", "kind,active", "--task", "values"), "minus mean absolute error"),
        ]
    ):
        run = epic(*command, *options, "--out", str(tmp_path / str(n)))
        assert run.returncode == 0, run.stderr
        assert f"test {metric} " in run.stdout
        (folder,) = (tmp_path / str(n)).iterdir()
    again = epic("train", "--config", str(folder / "config.yaml"), "--out", str(tmp_path / "again"))
    assert again.returncode == 0, again.stderr
    assert [p.name for p in (tmp_path / "again").iterdir()] == [folder.name]


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "--epochs", "1", "--out", "{folder}/c.safetensors"),
        ("path", "0", "1"),
        ("gallery", "--pairs", "2", "--out", "{folder}/g.html"),
        ("quality", "--methods", "epic_unit", "--graphs", "8", "--cost-epochs", "1"),
        pytest.param(
            (
                *("compare", "--methods", "drop_edge", "--splits", "1", "--seeds", "1", "--tune", "0", "--epochs", "1"),
                *("--results", "{folder}/compare.jsonl"),
            ),
            marks=pytest.mark.slow,
        ),
        ("augment", "--method", "epic_unit", "--count", "4", "--out", "{folder}/made"),
    ],
)
def test_every_verb_reads_a_csv_as_told_and_says_what_it_left_out(table, tmp_path, arguments):
    verb, *rest = (a.replace("{folder}", str(tmp_path)) for a in arguments)
    run = epic(verb, str(table), *rest, "--target", "kind")
    assert run.returncode == 0, run.stderr
    assert "labels 0 to 2 are taken for classes (--task values: for numbers)" in run.stderr
    assert "1 of 91 SMILES could not be parsed and were left out\nline 92: 'xyz'" in run.stderr
    run = epic(verb, str(table), *rest, "--target", "kind", "--task", "binary")
    assert run.returncode == 2
    assert "line 4: kind is '2', but binary labels are 0 or 1" in run.stderr


def test_datasets_lists_what_is_here():
    run = epic("datasets")
    assert run.returncode == 0
    assert "lollipop" in run.stdout
    assert "NCI1" in run.stdout


def test_one_class_is_refused(small, tmp_path):
    graphs = pack(lollipop(8, heads=(4,), seed=0))
    write_graphs(tmp_path / "one.safetensors", graphs)
    run = epic("fit", str(tmp_path / "one.safetensors"), "--out", str(tmp_path / "c.safetensors"))
    assert run.returncode == 2
    assert "one class only" in run.stderr
    assert torch.equal(graphs.y, torch.zeros(8, dtype=torch.long))


def test_a_config_file_gives_options_and_the_command_line_goes_before_it(small, tmp_path):
    (tmp_path / "c.yaml").write_text(f"dataset: {small}\nmethod: drop_edge\nepochs: 1\nset:\n  p: 0.4\n")
    run = epic("train", "--config", str(tmp_path / "c.yaml"), "--epochs", "2", "--out", str(tmp_path / "runs"))
    assert run.returncode == 0, run.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    resolved = yaml.safe_load((folder / "config.yaml").read_text())
    assert (resolved["method"], resolved["settings"]["p"], resolved["epochs"]) == ("drop_edge", 0.4, 2)
    assert (folder / "model.safetensors").exists()
    before = json.loads((folder / "result.json").read_text())
    again = epic("train", "--config", str(folder / "config.yaml"), "--out", str(tmp_path / "again"))
    assert again.returncode == 0, again.stderr
    (twin,) = (tmp_path / "again").iterdir()
    assert twin.name == folder.name, "the resolved config gives the same run"
    assert json.loads((twin / "result.json").read_text())["history"] == before["history"]
    assert list((folder / "tensorboard").iterdir())
    (tmp_path / "c.yaml").write_text("dataset: MUTAG\nepoch: 1\n")
    run = epic("train", "--config", str(tmp_path / "c.yaml"))
    assert run.returncode == 2
    assert "'epoch'; did you mean 'epochs'" in run.stderr
    (tmp_path / "c.yaml").write_text("- MUTAG\n")
    assert "must hold lines such as" in epic("train", "--config", str(tmp_path / "c.yaml")).stderr


def killed(command, ready, limit=90):
    """Start a command in a process of its own and kill it as soon as ``ready()``."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from epic.cli import main; main()", *command],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    deadline = time.time() + limit
    while not ready():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.time() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_augment_killed_and_started_again_gives_the_same_files(small, tmp_path):
    command = ["augment", str(small), "--set", "pairs=different", "--count", "15000", "--shard", "256"]
    command += ["--method", "epic_unit"]
    killed([*command, "--out", str(tmp_path / "a")], lambda: len(list((tmp_path / "a").glob("shard-*"))) >= 3)
    assert len(list((tmp_path / "a").glob("shard-*"))) < 59
    for place in ("a", "b"):
        run = epic(*command, "--out", str(tmp_path / place))
        assert run.returncode == 0, run.stderr
        assert "graphs/s" in run.stdout
        assert ("are there already" in run.stderr) == (place == "a")
    names = sorted(p.name for p in (tmp_path / "b").iterdir())
    assert sorted(p.name for p in (tmp_path / "a").iterdir() if not p.name.startswith(".")) == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    graphs = Shards(tmp_path / "a")
    assert len(graphs) == 15000
    assert graphs[7].y.shape == (1, 4)


def test_augment_makes_a_damaged_shard_again(small, tmp_path):
    command = ("augment", str(small), "--method", "epic_unit", "--count", "300", "--shard", "256", "--out", "a")
    assert epic(*command, cwd=tmp_path).returncode == 0
    path = tmp_path / "a" / "shard-00000.safetensors"
    before = path.read_bytes()
    path.write_bytes(before[:-10])
    run = epic(*command, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "44 of 300 graphs are there already" in run.stderr
    assert "shard-00000.safetensors is damaged: it is made again" in run.stderr
    assert path.read_bytes() == before


def test_methods_lists_every_method():
    run = epic("methods", "--papers", "--grids")
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    for name in METHODS:
        assert any(line.split(" ")[0] == name for line in lines), name


def test_methods_explains_the_settings_of_one():
    run = epic("methods", "drop_edge")
    assert run.returncode == 0, run.stderr
    assert [line.split()[:2] for line in run.stdout.splitlines()[1:]] == [
        [name, str(value)] for name, value in default_settings("drop_edge").items()
    ]
    assert epic("methods", "drop_edges").returncode == 2


def test_quiet_shows_results_alone_and_verbose_says_more(small, tmp_path):
    command = ("fit", str(small), "--epochs", "1", "--out", str(tmp_path / "c.safetensors"))
    usual, quiet = epic(*command), epic("-q", *command)
    assert usual.stdout == quiet.stdout
    assert "learning costs" in usual.stderr
    assert "graphs to learn from" in usual.stderr
    assert quiet.stderr == ""
    table = ("train", str(small), "--epochs", "1", "--out", str(tmp_path / "runs"))
    assert '"epochs":1' in epic("-v", *table).stderr
    assert '"epochs":1' not in epic(*table).stderr
