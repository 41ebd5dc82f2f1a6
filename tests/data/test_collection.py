from pathlib import Path

import pytest

from epic import InputError
from epic.data import load
from tests.data.test_tudataset import write


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))


def test_names_are_looked_up_in_the_data_folder_and_parsed_once(tmp_path, monkeypatch):
    raw = tmp_path / "data" / "tu" / "TINY" / "raw"
    raw.mkdir(parents=True)
    write(raw)
    first = load("TINY", data=tmp_path / "data")
    monkeypatch.setattr("epic.data.tudataset.read_tu", lambda *a: pytest.fail("parsed again"))
    assert load("TINY", data=tmp_path / "data").y.tolist() == first.y.tolist()
    monkeypatch.undo()
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    write(raw, graph_labels="1\n1\n2\n")  # a changed file is parsed again
    assert load("TINY", data=tmp_path / "data").y.tolist() == [0, 0, 1]
    write(raw, graph_labels="1\n1\n1\n")
    with pytest.raises(InputError, match="one class only"):
        load("TINY", data=tmp_path / "data")


@pytest.mark.parametrize("place", ["missing", "file"])
def test_epic_data_that_names_no_folder(tmp_path, monkeypatch, place):
    (tmp_path / "file").touch()
    monkeypatch.setenv("EPIC_DATA", str(tmp_path / place))
    with pytest.raises(InputError, match=f"there is no folder .*{place}, which EPIC_DATA names"):
        load("MUTAG")


def test_nobody_without_a_home_is_left_alone(monkeypatch):
    for name in ("EPIC_CACHE", "XDG_CACHE_HOME", "EPIC_DATA"):
        monkeypatch.delenv(name, raising=False)

    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    with pytest.raises(InputError, match="name a folder with EPIC_CACHE"):
        load("MUTAG")
