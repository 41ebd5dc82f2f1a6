import json

import pytest
import yaml
from safetensors.torch import load_file

from epic import LearnedCost
from epic.data import load
from epic.data.catalog import degree_features
from epic.train import backbone_for
from tests.cli.command import epic, killed


@pytest.mark.slow
def test_fit_then_path_then_train(small, tmp_path):
    run = epic("fit", str(small), "--out", str(tmp_path / "cost.safetensors"), "--epochs", "3")
    assert run.returncode == 0, run.stderr
    assert "learning costs" in run.stderr
    judged = [e.judged for e in LearnedCost.load(tmp_path / "cost.safetensors").history_]
    assert "learned in 3 epochs" in run.stdout
    assert f"epoch {1 + judged.index(min(judged))} of 3 ordered" in run.stderr
    assert LearnedCost.load(tmp_path / "cost.safetensors").fitted
    assert not list(tmp_path.glob("*.ckpt"))
    run = epic(
        "path", str(small), "0", "5", "--cost", str(tmp_path / "cost.safetensors"), "--out", str(tmp_path / "p.svg")
    )
    assert run.returncode == 0, run.stderr
    assert "\nEditPath(" in run.stdout
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


def test_the_command_line_goes_before_the_config_file(small, tmp_path):
    (tmp_path / "c.yaml").write_text(f"dataset: {small}\nmethod: drop_edge\nepochs: 1\nset:\n  p: 0.4\n")
    run = epic("train", "--config", str(tmp_path / "c.yaml"), "--epochs", "2", "--out", str(tmp_path / "runs"))
    assert run.returncode == 0, run.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    resolved = yaml.safe_load((folder / "config.yaml").read_text())
    assert (resolved["method"], resolved["settings"]["p"], resolved["epochs"]) == ("drop_edge", 0.4, 2)
    weights, dataset = load_file(folder / "model.safetensors"), load(small)
    graphs = degree_features(dataset.graphs, weights["first.linear.weight"].shape[1] - 1)
    backbone_for(graphs, outputs=dataset.outputs).load_state_dict(weights)  # as the page on files says
    before = json.loads((folder / "result.json").read_text())
    again = epic("train", "--config", str(folder / "config.yaml"), "--out", str(tmp_path / "again"))
    assert again.returncode == 0, again.stderr
    (twin,) = (tmp_path / "again").iterdir()
    assert twin.name == folder.name, "the resolved config gives the same run"
    assert json.loads((twin / "result.json").read_text())["history"] == before["history"]
    assert list((folder / "tensorboard").iterdir())
    written = (folder / "result.json").stat().st_mtime_ns
    run = epic("train", "--config", str(folder / "config.yaml"), "--out", str(tmp_path / "runs"))
    assert run.returncode == 0, run.stderr
    assert f"this run is done: remove {folder} to do it again" in run.stderr
    assert "test accuracy" in run.stdout
    assert (folder / "result.json").stat().st_mtime_ns == written
    (tmp_path / "c.yaml").write_text("dataset: MUTAG\nepoch: 1\n")
    run = epic("train", "--config", str(tmp_path / "c.yaml"))
    assert run.returncode == 2
    assert "'epoch'; did you mean 'epochs'" in run.stderr
    (tmp_path / "c.yaml").write_text("- MUTAG\n")
    assert "must hold lines such as" in epic("train", "--config", str(tmp_path / "c.yaml")).stderr


@pytest.mark.parametrize("value", [".inf", "-.inf", ".nan"])
def test_a_config_holds_finite_numbers(small, tmp_path, value):
    (tmp_path / "c.yaml").write_text(f"dataset: {small}\nupdates: {value}\n")
    run = epic("train", "--config", str(tmp_path / "c.yaml"))
    assert run.returncode == 2
    assert "line 2: updates is" in run.stderr
    assert "not a finite number" in run.stderr
