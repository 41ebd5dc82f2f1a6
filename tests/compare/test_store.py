import json
import re
import subprocess
import sys

import pytest

from epic import InputError
from epic.compare.store import Store
from epic.compare.task import Task

ONE, TWO = Task("train", {"dataset": "a", "seed": 0}), Task("train", {"dataset": "a", "seed": 1})


def test_the_key_is_kind_and_config_whatever_the_order():
    assert ONE.key == Task("train", {"seed": 0, "dataset": "a"}).key
    assert len({ONE.key, TWO.key, Task("distance", ONE.config).key}) == 3


def test_what_is_added_is_there_when_opened_again(tmp_path):
    store = Store(tmp_path / "r.jsonl")
    with store.writer() as writer:
        writer.add(ONE, {"test": 0.5, "validation": 0.5})
        writer.add(TWO, {"error": "ValueError: no"})
    for s in (store, Store(tmp_path / "r.jsonl")):
        assert s.get(ONE)["test"] == 0.5
        assert s.get(TWO) is None
        assert s.failed(TWO) == "ValueError: no"
        assert s.failed(ONE) is None
    with store.writer() as writer:
        writer.add(TWO, {"test": 0.6, "validation": 0.5})
    again = Store(tmp_path / "r.jsonl")
    assert again.get(TWO)["test"] == 0.6
    assert again.failed(TWO) is None
    assert len(again) == 2


def test_any_number_of_epochs_may_be_asked_for(tmp_path):
    call = {"command": "epic reproduce main --epochs 1001", "plan": "main", "epochs": 1001}
    store = Store(tmp_path / "r.jsonl")
    with store.writer() as writer:
        writer.add(ONE, {"test": 0.5, "validation": 0.5, "call": call})
    assert Store(tmp_path / "r.jsonl").get(ONE)["call"] == call


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_torn_last_line_costs_that_line_only(tmp_path, cut):
    path = tmp_path / "r.jsonl"
    with Store(path).writer() as writer:
        writer.add(ONE, {"test": 0.5, "validation": 0.5})
        writer.add(TWO, {"test": 0.6, "validation": 0.5})
    whole = path.read_bytes()
    path.write_bytes(whole[: -cut - 1])
    store = Store(path)
    assert store.get(ONE)["test"] == 0.5
    assert store.get(TWO) is None
    with store.writer() as writer:
        writer.add(TWO, {"test": 0.7, "validation": 0.5})
    assert Store(path).get(TWO)["test"] == 0.7
    assert Store(path).get(ONE)["test"] == 0.5


def test_files_merge_with_cat_even_after_a_torn_line(tmp_path):
    for name, task in (("a", ONE), ("b", TWO)):
        with Store(tmp_path / name).writer() as writer:
            writer.add(task, {"test": 0.5, "validation": 0.5})
            writer.add(Task("train", {"dataset": name, "seed": 9}), {"test": 0.1, "validation": 0.5})
    torn = (tmp_path / "a").read_bytes()[:-20]
    (tmp_path / "both").write_bytes(torn + (tmp_path / "b").read_bytes())
    both = Store(tmp_path / "both")
    assert both.get(ONE) is not None
    assert both.get(TWO) is not None
    assert len(both) == 3


@pytest.mark.slow
def test_one_writer_at_a_time(tmp_path):
    path = tmp_path / "r.jsonl"
    code = f"from epic.compare.store import Store\nwith Store({str(path)!r}).writer(): pass"
    with Store(path).writer():
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "is being written by another run" in other.stderr
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def line(of=ONE, **changes):
    record = {"key": of.key, "kind": of.kind, "config": of.config, "test": 0.5, "validation": 0.5, **changes}
    return json.dumps({k: v for k, v in record.items() if v is not None})


NO_RECORDS = [
    ('{"some": "thing"}', "no record of a task"),
    ("[1]", "no record of a task"),
    ("[" * 100_000, "recursion"),
    (line()[:30], "no JSON, or torn by a kill"),
    (line(key=["a"]), "its key is not that of its config"),
    (line(key={"a": 1}), "its key is not that of its config"),
    (line(config=None), "its config is missing"),
    (line(config=[1]), "its config is missing"),
    (line(kind=5), "no record of a task"),
    (line(config={"dataset": "b"}), "its key is not that of its config"),
    (line(error=5), "its error is '5'"),
    (line(test=None), "it lacks test"),
    (line(test="high"), "its test is 'high'"),
    (line(test=True), "its test is 'True'"),
    (line(validation=[1]), r"its validation is '.1.'"),
    (line(task=5), "its task is '5'"),
    (line(seconds="soon"), "its seconds is 'soon'"),
    (line(seconds=1e999), "its seconds is 'inf'"),
    (line(epochs=0), "its epochs is '0'"),
    (line(sizes=[1, 2]), "its sizes is"),
    (line(history={"loss": 5}), "its history is"),
    (line(versions=5), "its versions is '5'"),
    (line(call=[5]), "its call is"),
    (line(call={"plan": "main", "seeds": 10**9}), "its call is"),
    (line(call={"plan": "main", "datasets": [["a"]]}), "its call is"),
]


@pytest.mark.parametrize(("text", "reason"), NO_RECORDS, ids=range(len(NO_RECORDS)))
def test_what_is_no_record_is_skipped_and_named(tmp_path, caplog, text, reason):
    path = tmp_path / "r.jsonl"
    path.write_text(f"{line(TWO)}\n\n{text}\n{line(TWO, test=0.7)}\n")
    store = Store(path)
    assert [r["test"] for r in store] == [0.7]
    assert re.search(reason, store.skipped[path, 3])
    assert re.search(rf"1 lines are not results and are skipped \(line 3: .*{reason}", caplog.text)
    with store.writer() as writer:
        writer.add(ONE, {"test": 0.6, "validation": 0.5})
    assert len(Store(path)) == 2


def test_a_folder_is_no_store(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        Store(tmp_path)


def test_a_failure_elsewhere_does_not_hide_a_success(tmp_path):
    for name, outcome in (("a", {"test": 0.5, "validation": 0.5}), ("b", {"error": "ValueError: no"})):
        with Store(tmp_path / name).writer() as writer:
            writer.add(ONE, outcome)
    for names in ("ab", "ba"):
        (tmp_path / names).write_bytes(b"".join((tmp_path / n).read_bytes() for n in names))
        assert Store(tmp_path / names).get(ONE)["test"] == 0.5
        assert Store(tmp_path / names).failed(ONE) is None


@pytest.mark.parametrize("contents", [b"\x90\x00\x00\x00{}", b"smiles,y\nCC,1\n", b"{}\n"])
def test_a_file_of_something_else_is_not_written_to(tmp_path, contents):
    (tmp_path / "s").write_bytes(contents)
    with (
        pytest.raises(InputError, match="s holds something else than results: name another file"),
        Store(tmp_path / "s").writer(),
    ):
        pass
    assert (tmp_path / "s").read_bytes() == contents
