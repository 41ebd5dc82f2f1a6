from dataclasses import replace

import pytest
import torch

from epic import InputError
from epic.data import catalog, load, lollipop, write_graphs
from epic.data.catalog import degree_features
from epic.graphs.convert import pack
from tests.data.test_tudataset import write


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))


def test_a_folder_in_tu_format(tmp_path):
    (tmp_path / "mine").mkdir()
    write(tmp_path / "mine")
    dataset = load(tmp_path / "mine")
    assert dataset.name == "TINY"
    assert dataset.outputs == 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"there is neither \*_A\.txt"):
        load(tmp_path / "empty")


def test_unknown_names_say_the_nearest():
    with pytest.raises(InputError, match="did you mean NCI1"):
        load("NC1", download=False)
    with pytest.raises(InputError, match="did you mean MUTAG"):
        load("mutag", download=False)
    with pytest.raises(InputError, match="unknown dataset 'ogbg-molnone': did you mean ogbg-mol"):
        load("ogbg-molnone")
    with pytest.raises(InputError, match="there is no data folder"):
        load("NCI1", data="/nowhere")


def test_lollipop_and_degrees():
    dataset = load("lollipop")
    assert dataset.outputs == 4
    few = degree_features(pack(dataset.graphs), 3)
    assert few.x.shape[1] == 4
    assert (few.x.sum(1) == 1).all()


def test_real_sets_load_and_load_again(tu_folder):
    for name in ("MUTAG", "IMDB-BINARY"):
        assert catalog.is_here(name)
        first, again = (load(name, download=False).graphs for _ in range(2))
        assert first.digest() == again.digest()


def test_graphs_in_a_file_need_no_labels(tmp_path):
    write_graphs(tmp_path / "bare.safetensors", replace(pack(lollipop(3, seed=0)), y=None))
    dataset = load(tmp_path / "bare.safetensors")
    assert (len(dataset), dataset.task) == (3, "")
    with pytest.raises(InputError, match="bare has no labels: give each graph a y"):
        dataset.y  # noqa: B018
    assert len(dataset[torch.tensor([2, 0])]) == 2
