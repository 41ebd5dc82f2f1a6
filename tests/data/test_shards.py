import json
import pickle
from dataclasses import replace

import pytest
import torch
from torch_geometric.loader import DataLoader

from epic import EPIC, InputError, UnitCost
from epic.augment.generation import ShardMaker, check_shard, write_shards
from epic.data import Shards, load, lollipop, read_graphs, write_graphs
from epic.data.shards import begin, plan
from epic.data.splits import split_of
from epic.graphs.convert import pack
from epic.graphs.packed import entries
from epic.train import Training
from epic.train import train as run_training


@pytest.fixture
def train():
    return pack(lollipop(30, seed=0))


def written(folder, train, count=700, shard=256, workers=0, only=None):
    folder.mkdir(exist_ok=True)
    method = EPIC(UnitCost(), num_classes=4, seed=0, degree_features=False)
    missing = [name for name, _ in begin(folder, {"count": count, "shard": shard})]
    sizes = list(write_shards(ShardMaker(method, train, 5, count, shard), folder, missing[:only], workers))
    return method, sizes


def test_shards_are_a_pyg_dataset_of_what_generate_yields(tmp_path, train):
    method, sizes = written(tmp_path / "a", train)
    assert sizes == [256, 256, 188]
    graphs = Shards(tmp_path / "a", keep=1)
    assert len(graphs) == 700
    expected = list(method.generate(train, count=700, seed=5))
    for i in (0, 255, 256, 511, 512, 699):
        assert torch.equal(graphs[i].edge_index, expected[i].edge_index)
        assert torch.equal(graphs[i].y, expected[i].y)
    assert len(graphs[100:110]) == 10
    batches = list(DataLoader(graphs, batch_size=350, num_workers=1))
    assert batches[1].y.shape == (350, 4)
    assert torch.equal(pickle.loads(pickle.dumps(graphs))[3].y, expected[3].y)
    assert len(load(tmp_path / "a")) == 700


@pytest.mark.slow
def test_sizes_workers_and_going_on_change_no_graph(tmp_path, train):
    written(tmp_path / "whole", train)
    written(tmp_path / "parts", train, only=1)
    assert len(list((tmp_path / "parts").glob("shard-*"))) == 1
    with pytest.raises(InputError, match=r"lacks 2 of its shards \(first: shard-00001"):
        Shards(tmp_path / "parts")
    assert written(tmp_path / "parts", train, workers=2)[1] != []
    for name, _ in plan(700, 256):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    written(tmp_path / "large", train, shard=512)
    a, b = Shards(tmp_path / "large").pack(), Shards(tmp_path / "whole").pack()
    assert torch.equal(a.edge_index, b.edge_index)
    assert torch.equal(a.y, b.y)


def test_a_damaged_shard_is_noticed_and_made_again(tmp_path, train):
    written(tmp_path, train)
    path = tmp_path / "shard-00001.safetensors"
    before = path.read_bytes()
    for length in (0, 5, 100, len(before) - 1):
        path.write_bytes(before[:length])
        with pytest.raises(InputError, match=r"lacks 1 of its shards \(first: shard-00001.* run `epic augment` again"):
            Shards(tmp_path)
    assert written(tmp_path, train)[1] == [256], "this one alone"
    assert path.read_bytes() == before
    assert len(Shards(tmp_path)) == 700


def test_a_folder_of_something_else_is_refused(tmp_path, train):
    written(tmp_path / "a", train)
    with pytest.raises(InputError, match=r"made otherwise \(other count\)"):
        written(tmp_path / "a", train, count=800)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match=r"is not empty and holds no shards\.json"):
        written(tmp_path / "b", train)
    with pytest.raises(InputError, match="is no folder of shards"):
        Shards(tmp_path / "b")
    (tmp_path / "a" / "shards.json").write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        Shards(tmp_path / "a")
    with pytest.raises(InputError, match="multiple of 256, got 100"):
        check_shard(100)


@pytest.mark.parametrize("edit", [{"count": 10**15}, {"count": -1}, {"shard": 0}, {"count": "5"}, {"shard": None}])
def test_a_manifest_that_cannot_be_is_refused(tmp_path, edit):
    (tmp_path / "shards.json").write_text(json.dumps({"count": 512, "shard": 256, **edit}))
    with pytest.raises(InputError, match=r"shards\.json is damaged .*: write the shards again"):
        Shards(tmp_path)


def test_shards_keep_names_and_those_of_classes(tmp_path, train):
    """Graphs that are stored keep their names. New ones are called by their parents."""
    about = {"name": entries(f"g{i}" for i in range(30)), "class_names": entries([tuple("abcd")] * 30)}
    graphs = replace(train, per_graph=about)
    begin(tmp_path, {"count": 30, "shard": 16})
    for (name, count), first in zip(plan(30, 16), (0, 16), strict=True):
        write_graphs(tmp_path / name, graphs[first : first + count])
    stored = Shards(tmp_path)
    assert [stored[i].name for i in (0, 17, 29)] == ["g0", "g17", "g29"]
    assert stored.pack().title(20) == load(tmp_path).graphs.title(20) == "g20"
    (tmp_path / "made").mkdir()
    written(tmp_path / "made", graphs, count=256)
    made = load(tmp_path / "made")
    assert made.class_names == tuple("abcd")
    assert all(set(made.graphs.title(g).split(" -> ")) <= {f"g{i}" for i in range(30)} for g in range(256))


def test_a_shard_with_too_few_graphs_is_noticed(tmp_path, train):
    written(tmp_path, train)
    path = tmp_path / "shard-00001.safetensors"
    write_graphs(path, read_graphs(path)[0][:9])
    with pytest.raises(InputError, match=r"shard-00001.* holds 9 graphs, not 256"):
        Shards(tmp_path)[300]


def test_augmented_graphs_are_a_dataset_to_train_on(tmp_path, train):
    """Soft labels are classes still, and not tasks or values."""
    written(tmp_path / "a", train, count=256)
    dataset = load(tmp_path / "a")
    assert (dataset.task, dataset.outputs) == ("classes", 4)
    split = split_of(dataset.y)
    assert len(split.test) > 40
    result = run_training(dataset, split=split, options=Training(epochs=2, batch_size=64), progress=False)
    assert 0 <= result.test <= 1
