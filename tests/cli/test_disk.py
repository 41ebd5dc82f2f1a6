"""A disk that is full, and one that cannot be written: a sentence, exit code 2, and nothing half-written."""

import subprocess

import pytest

from epic import InputError
from epic.compare.store import Store
from epic.compare.task import Task
from epic.paper.plans import load_plan
from tests.cli.command import epic
from tests.compare.stores import fill

COMMANDS = {
    "fit": ("fit", "{small}", "--epochs", "1", "--out", "{disk}/c.safetensors"),
    "train": ("train", "{small}", "--epochs", "1", "--method", "drop_edge", "--out", "{disk}/runs"),
    "augment": ("augment", "{small}", "--method", "drop_edge", "--count", "512", "--shard", "256", "--out", "{disk}/a"),
    "report": ("report", "--results", "{results}", "--out", "{disk}/kept"),
    "path": ("path", "{small}", "0", "1", "--out", "{disk}/path.png"),
    "demo": ("demo", "--graphs", "80", "--epochs", "1", "--out", "{disk}/demo"),
}


@pytest.fixture
def disk(tmp_path):
    """A small disk with one file on it."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(place)], capture_output=True).returncode:
        pytest.skip("a small disk needs the right to mount one")
    (place / "kept").write_text("kept")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.stat().st_size}


def fill_up(place, free):
    with (place / "ballast").open("wb") as file:
        file.write(b"x" * (96 * 1024 - 8192 - free))


@pytest.mark.parametrize("kind", ["full", "read-only"])
@pytest.mark.parametrize("verb", COMMANDS)
def test_a_disk_that_cannot_be_written_is_told(small, disk, tmp_path, verb, kind):
    if kind == "full":
        fill_up(disk, 4096)
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    results = tmp_path / "r.jsonl"
    fill(load_plan("splits", datasets=("BZR",)), results, lambda config: 0.5)
    before = contents(disk)
    names = {"small": small, "disk": disk, "results": results}
    run = epic("-q", *(word.format(**names) for word in COMMANDS[verb]), cwd=tmp_path)
    assert run.returncode == 2, run.stderr
    last = run.stderr.splitlines()[-1]
    assert last.startswith("epic: cannot ")
    assert ("No space left" if kind == "full" else "Read-only file system") in last
    assert "Traceback" not in run.stderr
    after = contents(disk)
    assert {k: v for k, v in after.items() if k in before} == before
    assert not [p for p in after if p.name.startswith(".")], "no temporary file is left"


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(small, disk, tmp_path, monkeypatch):
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    monkeypatch.setenv("EPIC_CACHE", str(disk))
    run = epic("path", str(small), "0", "1", cwd=tmp_path)
    assert run.returncode == 0, run.stderr


def test_a_store_on_a_full_disk_keeps_whole_lines(disk):
    store, task = Store(disk / "r.jsonl"), Task("train", {"seed": 0})
    fill_up(disk, 8192)
    with store.writer() as writer:
        writer.add(task, {"test": 0.5, "validation": 0.5})
        before = store.path.read_bytes()
        with pytest.raises(InputError, match=r"cannot write results to .*r\.jsonl: No space left"):
            writer.add(task, {"test": 0.6, "validation": 0.5, "text": "x" * 20_000})
    assert store.path.read_bytes() == before
    assert Store(store.path).get(task)["test"] == 0.5
    (disk / "ballast").unlink()
    with Store(store.path).writer() as writer:
        writer.add(task, {"test": 0.7, "validation": 0.5})
    assert Store(store.path).get(task)["test"] == 0.7
