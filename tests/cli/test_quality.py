import json

import pytest

from epic import LearnedCost
from epic.data import write_graphs
from epic.data.lollipop import lollipop
from epic.graphs.convert import pack
from tests.cli.command import epic


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    graphs = pack(lollipop(60, seed=0))
    write_graphs(tmp_path / "small.safetensors", graphs)
    LearnedCost(hidden_channels=8).fit(graphs, epochs=1, progress=False).save(tmp_path / "cost.safetensors")
    return tmp_path / "small.safetensors"


def test_one_line_a_method_and_the_same_numbers_in_json(small, tmp_path):
    run = epic(
        "quality",
        str(small),
        "--methods",
        "epic_unit,drop_edge, ged_mixup",
        "--graphs",
        "30",
        "--cost-epochs",
        "1",
        "--json",
        str(tmp_path / "q.json"),
    )
    assert run.returncode == 0, run.stderr
    lines = {line.split()[0]: line.split() for line in run.stdout.splitlines() if line.strip()}
    numbers = json.loads((tmp_path / "q.json").read_text())
    assert list(numbers) == ["(originals)", "epic_unit", "drop_edge", "ged_mixup"]
    assert numbers["(originals)"]["disconnected"] == 0
    assert numbers["ged_mixup"]["disconnected"] == 0
    assert numbers["drop_edge"]["disconnected"] > 0
    assert lines["drop_edge"][1:3] == ["-", "-"]
    for name in ("epic_unit", "ged_mixup"):
        assert lines[name][1] == f"{numbers[name]['interpolation']['learned']:.3f}"
        assert numbers[name]["graphs"] == 30
        assert numbers[name]["milliseconds"] > 0
    assert (tmp_path / "cache" / "costs").is_dir()  # the cost learned is kept for the next time


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--methods", "epic,submx"), "unknown method 'submx'; did you mean 'submix'"),
        (("--methods", "vanilla"), "Vanilla makes no graphs to look at"),
        (("--cost", "none.safetensors"), "there is no file none.safetensors"),
        (("--json", "/nowhere/q.json"), "the folder /nowhere does not exist"),
    ],
)
def test_wrong_calls(small, tmp_path, arguments, message):
    given = arguments if "--cost" in arguments else (*arguments, "--cost", str(tmp_path / "cost.safetensors"))
    run = epic("quality", str(small), *given)
    assert run.returncode == 2
    assert message in run.stderr


def test_matching_is_that_of_epic_and_of_no_other(small, tmp_path):
    numbers = []
    for options in ((), ("--matching", "edges")):
        out = tmp_path / "q.json"
        common = ("--methods", "epic_unit", "--graphs", "20", "--cost-epochs", "1", "--json", str(out))
        run = epic("quality", str(small), *common, *options)
        assert run.returncode == 0, run.stderr
        numbers.append(json.loads(out.read_text())["epic_unit"])
    assert numbers[0] != numbers[1]
    run = epic("quality", str(small), "--methods", "drop_edge", "--matching", "edges")
    assert run.returncode
    assert "are for epic" in run.stderr
