import json

import pytest
import torch

from epic import EPIC, Cost, FeatureCost, InputError, LearnedCost, UnitCost
from epic._io import read_tensors, write_tensors
from epic.data import lollipop


def test_written_in_one_piece(tmp_path, monkeypatch):
    path = tmp_path / "a.safetensors"
    write_tensors(path, {"t": torch.arange(3)}, {"format": "f", "n": 1})
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_tensors(path, {"t": torch.arange(9)}, {"format": "f", "n": 2})
    assert [p.name for p in tmp_path.iterdir()] == ["a.safetensors"]  # no half file left
    tensors, header = read_tensors(path, "f")
    assert tensors["t"].tolist() == [0, 1, 2]
    assert header["n"] == 1


def test_damaged_missing_and_foreign_files_say_so(tmp_path):
    path = tmp_path / "c.safetensors"
    with pytest.raises(InputError, match="there is no file"):
        LearnedCost.load(path)
    UnitCost().save(path)
    with pytest.raises(InputError, match="holds a unit cost, not a learned one"):
        LearnedCost.load(path)
    with pytest.raises(InputError, match="holds epic-cost/1, not epic-augmenter/1"):
        EPIC.load(path)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(InputError, match="damaged"):
        Cost.load(path)
    with pytest.raises(InputError, match=r"the folder .* does not exist"):
        UnitCost().save(tmp_path / "nowhere" / "c.safetensors")


def test_every_cost_comes_back(tmp_path):
    graphs = lollipop(24, seed=0)
    learned = LearnedCost(hidden_channels=8).fit(graphs, epochs=2, progress=False)
    for cost in (UnitCost(), FeatureCost(0.7), learned):
        cost.save(tmp_path / "c")
        again = Cost.load(tmp_path / "c")
        assert type(again) is type(cost)
        assert torch.equal(again.distances(graphs, progress=False), cost.distances(graphs, progress=False))
    assert again.history_ == learned.history_
    assert again.learning_ == learned.learning_


def test_a_file_is_no_pickle(tmp_path):
    UnitCost().save(tmp_path / "c")
    raw = (tmp_path / "c").read_bytes()
    size = int.from_bytes(raw[:8], "little")
    assert json.loads(raw[8 : 8 + size])["__metadata__"]["epic"]
