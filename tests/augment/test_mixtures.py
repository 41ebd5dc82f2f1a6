"""Every method that mixes says which two graphs a mixture came from, or says nothing."""

import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader

from epic import EPIC, UnitCost, edit_path
from epic.augment import METHODS, DropEdge, GMixup, SubMix
from epic.augment.generation import ShardMaker
from epic.data import load, read_graphs
from epic.graphs.convert import pack
from epic.testing import random_graphs

MIXING = [name for name, m in METHODS.items() if m.cls.mixes and m.cls.makes_graphs]
SILENT = ("g_mixup", "graph_transplant")
"""One mixes whole classes, the other one acts in the loss."""


def named(count=8, **options):
    """Graphs called by letters, each the only one of its class: a mixed label tells the parents."""
    found = random_graphs(count, num_classes=count, x="onehot", edge_width=None, **options)
    for number, data in enumerate(found):
        data.y, data.name = torch.tensor([number]), "abcdefgh"[number]
    return found


def fitted(name, graphs):
    cost = {"cost": UnitCost()} if name == "epic" else {}
    ratio = {"ratio": 1.0} if "ratio" in METHODS[name].params else {}
    method = METHODS[name].create(num_classes=8, **ratio, **cost)
    if method.learns:  # which takes several graphs of a class
        return method.fit(random_graphs(12, x="onehot", edge_width=None), epochs=1, progress=False)
    return method.fit(graphs, **({"progress": False} if method.stores else {}))


def tells(name, label):
    """Check a name against the classes in a mixed label."""
    one, two = ("abcdefgh".index(letter) for letter in name.split(" -> "))
    assert one != two
    assert set(label.nonzero()[:, 0].tolist()) <= {one, two}


@pytest.mark.parametrize("name", [n for n in MIXING if n not in SILENT])
@pytest.mark.parametrize("form", [list, Batch.from_data_list])
def test_mixtures_are_called_by_their_parents(name, form):
    graphs = named()
    batch = fitted(name, graphs)(form(graphs))
    assert int(batch.augmented.sum()) == 8
    originals = 0
    for data in batch.to_data_list():
        if bool(data.augmented):
            tells(data.name, data.y[0])
        else:
            assert data.y[0].argmax() == "abcdefgh".index(data.name)
            originals += 1
    assert originals == batch.num_graphs - 8
    for data in fitted(name, graphs).generate(graphs, count=5):
        tells(data.name, data.y[0])


@pytest.mark.parametrize("name", MIXING)
def test_graphs_without_names_give_no_names(name):
    graphs = named()
    for data in graphs:
        del data.name
    method = fitted(name, graphs)
    assert "name" not in method(Batch.from_data_list(graphs))
    if name != "graph_transplant":
        assert "name" not in next(method.generate(graphs, count=1))


def test_nothing_is_said_where_parents_are_not_known():
    graphs = random_graphs(12, num_classes=3, x="onehot", edge_width=None)
    for number, data in enumerate(graphs):
        data.name = f"graph {number}"
    batch = GMixup().fit(graphs)(graphs)
    assert bool(batch.augmented.any())
    assert "name" not in batch
    graphs[3].name = ""  # one that is called nothing
    assert "name" not in SubMix().fit(graphs)(graphs)


def test_rows_of_a_file_travel_to_shards_and_pages(tmp_path):
    table = tmp_path / "few.csv"
    table.write_text("smiles,label\nCCO,0\nnot one,0\nCCN,1\nc1ccccc1,1\n")
    dataset = load(table)
    batch = EPIC(UnitCost(), ratio=2.0).fit(dataset)(next(iter(DataLoader(dataset.graphs, batch_size=3))))
    assert batch.name[:3] == ["row 0", "row 2", "row 3"]
    assert set(batch.name[3:]) <= {f"row {i} -> row {j}" for i in (0, 2, 3) for j in (0, 2, 3) if i != j}
    for method, words in ((EPIC(UnitCost()), " -> row "), (DropEdge(), ", changed")):
        file = tmp_path / f"{type(method).__name__}.safetensors"
        file.write_bytes(ShardMaker(method.fit(dataset), dataset.graphs, 0, 256, 256)(0))
        made, _ = read_graphs(file)
        assert all(words in made.title(g) for g in range(256))
        assert words in edit_path(made.graph(0), made.graph(1)).ends[0]


def test_one_graph_that_changes_keeps_its_name():
    graphs = named()
    assert DropEdge(0.9)(graphs[0]).name == "a"
    batch = DropEdge(0.9)(Batch.from_data_list(graphs))
    assert [batch.name[i] for i in range(8)] == ["abcdefgh"[int(k)] for k in batch.y]


def test_words_that_mean_something_else_are_no_names():
    graphs = named()
    for data in graphs:
        data.name, data.row = torch.tensor([1.0, 2.0]), torch.tensor([0, 1, 2])
    assert pack(graphs).titles is None
    assert pack(Batch.from_data_list(graphs)).titles is None
    with pytest.warns(UserWarning, match="adds nothing"):
        SubMix(num_classes=8)([graphs[0]])
    assert "name" not in SubMix(num_classes=8)(Batch.from_data_list(graphs))
