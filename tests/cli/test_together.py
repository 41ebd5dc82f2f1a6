"""Two identical commands at once on the same output: nothing twice, nothing lost, the same files as of one."""

import json
import os
import subprocess
import sys

import pytest

from tests.cli.command import epic


def twice(*arguments, cwd):
    """Start a command two times at once; return exit codes and what they said."""
    command = [sys.executable, "-c", "from epic.cli import main; main()", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    runs = [
        subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    return [(run.communicate(timeout=240), run.returncode) for run in runs]


def files(folder):
    """Contents by name; those of TensorBoard have the time in their names."""
    found = (p for p in sorted(folder.rglob("*")) if p.is_file() and "tfevents" not in p.name)
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["fit", "DATA", "--out", "cost.safetensors", "--epochs", "2"],
        ["augment", "DATA", "--method", "epic_unit", "--count", "3000", "--shard", "256", "--out", "made"],
        ["train", "DATA", "--method", "epic_unit", "--updates", "60", "--out", "runs"],
    ],
    ids=lambda c: c[0],
)
def test_two_at_once_make_what_one_makes(command, small, tmp_path):
    command = [str(small) if word == "DATA" else word for word in command]
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
    assert epic(*command, cwd=tmp_path / "one").returncode == 0
    told = twice(*command, cwd=tmp_path / "two")
    assert [code for _, code in told] == [0, 0], told
    one, two = files(tmp_path / "one"), files(tmp_path / "two")
    assert one.keys() == two.keys()
    assert not any(name.endswith(".lock") for name in two)
    for name, contents in one.items():
        if name.endswith("result.json"):  # holds seconds
            a, b = (json.loads(text) for text in (contents, two[name]))
            assert (a["test"], a["validation"], a["history"]) == (b["test"], b["validation"], b["history"])
        elif not name.endswith("history.jsonl"):  # so does this
            assert contents == two[name], name


@pytest.mark.slow
def test_a_store_that_is_being_written_is_refused(small, tmp_path):
    command = ["compare", str(small), "--methods", "drop_edge", "--splits", "2", "--seeds", "1", "--epochs", "2"]
    told = twice(*command, "--results", "s.jsonl", cwd=tmp_path)
    assert sorted(code for _, code in told) in ([0, 2], [0, 0]), told
    if any(code for _, code in told):
        assert any("is being written by another run" in error for (_, error), _ in told), told
    written = (tmp_path / "s.jsonl").read_text()
    keys = [json.loads(line)["key"] for line in written.splitlines()]
    assert len(keys) == len(set(keys))
    assert epic(*command, "--results", "s.jsonl", cwd=tmp_path).returncode == 0
    assert (tmp_path / "s.jsonl").read_text() == written  # nothing was left to do
