import errno
import json
import threading
import time
from pathlib import Path

import pytest
import torch

from epic import EPIC, Cost, FeatureCost, InputError, LearnedCost, UnitCost
from epic._io import alone, read_tensors, write_tensors, write_text
from epic.data import lollipop


def test_written_in_one_piece(tmp_path, monkeypatch):
    path = tmp_path / "a.safetensors"
    write_tensors(path, {"t": torch.arange(3)}, {"format": "f", "n": 1})

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("os.replace", "os.fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(name, full)
            with pytest.raises(InputError, match=r"cannot write .*a\.safetensors: No space"):
                write_tensors(path, {"t": torch.arange(9)}, {"format": "f", "n": 2})
    assert [p.name for p in tmp_path.iterdir()] == ["a.safetensors"]  # no half file left
    tensors, header = read_tensors(path, "f")
    assert tensors["t"].tolist() == [0, 1, 2]
    assert header["n"] == 1


def test_links_stay_links_and_devices_are_written(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for text in ("one", "two"):
        write_text(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "file").read_text() == text
    write_text("/dev/null", "nothing")
    assert not Path("/dev/null").is_file()


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


def shape_of(cost, **changes):
    tensors, header = cost.state()
    config = {**header["config"], **changes.pop("config", {})}
    return tensors, {"format": "epic-cost/1", "kind": "learned", **header, "config": config, **changes}


@pytest.fixture(scope="module")
def learned():
    return LearnedCost(hidden_channels=8).fit(lollipop(24, seed=0), epochs=1, progress=False)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"config": {"hidden_channels": 10**9}}, "overflowed"),
        ({"config": {"hidden_channels": 10**4}}, "expected"),
        ({"config": {"num_layers": 10**9}}, "1000000000 layers in"),
        ({"config": {"num_layers": "3"}}, "of at least 1"),
        ({"config": {"hidden_channels": -1}}, "of at least 1"),
        ({"config": {"nodes": {"kind": "int", "sizes": [10**15]}}}, "encode"),
        ({"config": {"nodes": {"kind": "words", "sizes": [3]}}}, "unknown kind of features 'words'"),
        ({"config": {"nodes": [3]}}, "indices must be integers"),
        ({"config": {"other": 1}}, "unexpected keyword"),
        ({"learning": {"epochs": -1}}, "must be positive"),
        ({"history": 5}, "not iterable"),
    ],
)
def test_edited_headers_of_costs_are_refused(tmp_path, learned, changes, reason):
    tensors, header = shape_of(learned, **changes)
    write_tensors(tmp_path / "c", tensors, header)
    with pytest.raises(InputError, match=f"c is damaged or holds something else .*{reason}.*: save it again"):
        Cost.load(tmp_path / "c")


def test_edited_tensors_of_costs_are_refused(tmp_path, learned):
    tensors, header = shape_of(learned)
    name = "price.0.weight"
    for changed, reason in (
        ({k: v for k, v in tensors.items() if k != name}, "price.0.weight"),
        ({**tensors, "more": torch.zeros(1)}, "the tensor 'more' is not expected"),
        ({**tensors, name: tensors[name].T.contiguous()[:3]}, "expected torch.float32"),
        ({**tensors, name: tensors[name].long()}, "float"),
        ({**tensors, name: tensors[name] * torch.nan}, "holds NaN or infinity"),
        ({**tensors, name: tensors[name].to(torch.float8_e5m2)}, "it holds torch.float8_e5m2"),
    ):
        write_tensors(tmp_path / "c", changed, header)
        with pytest.raises(InputError, match=reason):
            Cost.load(tmp_path / "c")
    write_tensors(tmp_path / "c", {"more": torch.zeros(1)}, {"format": "epic-cost/1", "kind": "unit"})
    with pytest.raises(InputError, match="the tensor 'more' is not expected"):
        Cost.load(tmp_path / "c")
    for edit in (float("nan"), float("inf"), -1, "much"):
        write_tensors(tmp_path / "c", {}, {"format": "epic-cost/1", "kind": "feature", "edit": edit})
        with pytest.raises(InputError, match="c is damaged"):
            Cost.load(tmp_path / "c")


@pytest.mark.parametrize(
    "changes",
    [
        {"params": 5},
        {"params": {"cost": "none", "ratio": "many"}},
        {"params": {"cost": "free"}},
        {"params": {"cost": "none", "colour": 1}},
        {"found": None},
        {"found": {"degrees": {"width": -1}}},
        {"found": {"degrees": None, "num_classes": 10**12}},
        {"found": {"degrees": None, "task": "music"}},
    ],
)
def test_edited_augmenters_are_refused(tmp_path, changes):
    augment = EPIC(cost=UnitCost())
    augment.save(tmp_path / "a")
    tensors, header = read_tensors(tmp_path / "a", "epic-augmenter/1")
    write_tensors(tmp_path / "a", tensors, {**header, **changes})
    with pytest.raises(InputError, match="a is damaged or holds something else"):
        EPIC.load(tmp_path / "a")


def test_a_header_that_is_nested_too_deep_is_refused(tmp_path):
    from safetensors.torch import save_file

    save_file({"empty": torch.zeros(0)}, tmp_path / "c", {"epic": '{"format": ' + "[" * 100_000})
    with pytest.raises(InputError, match="recursion"):
        Cost.load(tmp_path / "c")


def checkpoint(path):
    from epic._checkpoint import load_checkpoint, save_checkpoint

    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.rand(4, 3)).sum().backward()
    optimizer.step()
    history = [{"epoch": 0, "updates": 1, "loss": 0.5}, {"epoch": 1, "updates": 2, "loss": 0.25}]
    best = {k: v.clone() for k, v in model.state_dict().items()}
    save_checkpoint(path, "me", {"now": model}, optimizer, best, history)
    return lambda: load_checkpoint(path, "me", {"now": model}, optimizer, lambda line: line["loss"])


@pytest.mark.parametrize(
    ("changed", "header"),
    [
        ({"now.0.weight": None}, {}),
        ({"now.0.weight": torch.zeros(2)}, {}),
        ({"now.0.weight": torch.zeros(2, 3).long()}, {}),
        ({"best.0.weight": torch.zeros(3, 2)}, {}),
        ({"best.1.running_mean": None}, {}),
        ({"other.0.weight": torch.zeros(2, 3)}, {}),
        ({"optimizer.0.exp_avg": torch.zeros(7)}, {}),
        ({"optimizer.0.exp_avg": None}, {}),
        ({"optimizer.0.step": torch.tensor(-1.0)}, {}),
        ({"optimizer.99.exp_avg": torch.zeros(7)}, {}),
        ({"optimizer.one.exp_avg": torch.zeros(7)}, {}),
        ({}, {"history": None}),
        ({}, {"history": [{"epoch": 0, "updates": 1}]}),
        ({}, {"history": [{"epoch": 0, "updates": 1, "loss": "low"}]}),
        ({}, {"history": [{"epoch": 0, "updates": 5, "loss": 1.0}, {"epoch": 1, "updates": 2, "loss": 1.0}]}),
    ],
)
def test_edited_checkpoints_are_refused(tmp_path, changed, header):
    path = tmp_path / "c.ckpt"
    load = checkpoint(path)
    assert len(load()[1]) == 2
    tensors, before = read_tensors(path, "epic-checkpoint/1")
    tensors = {k: v for k, v in {**tensors, **changed}.items() if v is not None}
    write_tensors(path, tensors, {**before, **header})
    with pytest.raises(InputError, match=r"c\.ckpt is damaged .*: delete it to start again"):
        load()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_the_second_waits_for_the_first_and_says_so(kind, tmp_path, caplog):
    path = tmp_path / "made"
    if kind == "folder":
        path.mkdir()
    seen = []

    def second():
        with alone(path):
            seen.append("second")

    with alone(path):
        other = threading.Thread(target=second)
        other.start()
        while "waiting until it is done" not in caplog.text:  # a second lock of the same process waits as well
            assert other.is_alive()
            time.sleep(0.01)
        seen.append("first")
    other.join()
    assert seen == ["first", "second"]
    assert [p.name for p in tmp_path.iterdir()] == (["made"] if kind == "folder" else [])
