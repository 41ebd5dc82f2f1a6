import contextlib
import os
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.transforms import ToUndirected

from epic import InputError, edit_path
from epic._io import read_tensors, write_tensors
from epic.data import load, lollipop, read_graphs, read_pt, write_graphs
from epic.graphs.convert import pack
from tests.graphs.test_convert import same
from tests.sample_graphs import random_graph


def some(**kind):
    rng = np.random.default_rng(0)
    return [random_graph(rng, n, y=[n % 2], **kind) for n in (3, 5, 1, 4)]


@pytest.mark.parametrize("kind", [{}, {"x": "int", "edge_width": 0}, {"x": None, "edge_width": None}])
def test_our_own_form(tmp_path, kind):
    graphs = some(**kind)
    write_graphs(tmp_path / "g.safetensors", pack(graphs), note="hello")
    packed, header = read_graphs(tmp_path / "g.safetensors")
    assert header["note"] == "hello"
    for i, g in enumerate(graphs):
        same(packed.graph(i), g)
    assert load(tmp_path / "g.safetensors").outputs == 2


def named(names=("urea", "", "ethanol", "naïve")):
    graphs = some()
    for number, (graph, name) in enumerate(zip(graphs, names, strict=True)):
        graph.name, graph.row, graph.smiles, graph.class_names = name, 3 * number, "C" * number, ("no", "yes")
        graph.other = torch.tensor(number)
    return pack(graphs)


def test_names_are_kept_and_other_attributes_are_not(tmp_path):
    graphs = named()
    write_graphs(tmp_path / "g.safetensors", graphs)
    read = read_graphs(tmp_path / "g.safetensors")[0]
    assert {k: v.tolist() for k, v in read.per_graph.items()} == {
        "row": [0, 3, 6, 9],
        "name": ["urea", "", "ethanol", "naïve"],
        "smiles": ["", "C", "CC", "CCC"],
        "class_names": [("no", "yes")] * 4,
    }
    assert read.digest() == graphs.digest()
    dataset = load(tmp_path / "g.safetensors")
    assert dataset.class_names == ("no", "yes")
    assert (dataset.find("ethanol"), dataset.graphs.title(2), dataset.graphs.title(1)) == (
        2,
        "ethanol (row 6)",
        "row 3",
    )
    assert edit_path(dataset[0], dataset[2]).ends == ("urea (row 0)", "ethanol (row 6)")


def test_words_that_mean_something_else_are_left_out(tmp_path):
    graphs = some()
    for graph in graphs:
        graph.name, graph.row, graph.class_names = torch.zeros(1), "first", "abc"
    write_graphs(tmp_path / "g.safetensors", pack(graphs))
    assert read_graphs(tmp_path / "g.safetensors")[0].per_graph == {}


def test_files_without_names_are_read_as_before(tmp_path):
    """As they were written before names were kept: the tensors alone."""
    write_graphs(tmp_path / "new.safetensors", named())
    tensors, header = read_tensors(tmp_path / "new.safetensors", "epic-graphs/1")
    del tensors["about"]
    write_tensors(tmp_path / "old.safetensors", tensors, header)
    old, new = (read_graphs(tmp_path / f"{name}.safetensors")[0] for name in ("old", "new"))
    assert old.per_graph == {}
    assert old.digest() == new.digest()


@pytest.mark.parametrize(
    "told", [b"[]", b"\xff", b"{", b'{"name": 3}', b'{"name": [1]}', b'{"x": ["a"]}', b'{"name": ["a", "b"]}']
)
def test_names_that_cannot_be_are_refused(tmp_path, told):
    write_graphs(tmp_path / "g.safetensors", named())
    tensors, header = read_tensors(tmp_path / "g.safetensors", "epic-graphs/1")
    tensors["about"] = torch.frombuffer(bytearray(told), dtype=torch.uint8)
    write_tensors(tmp_path / "g.safetensors", tensors, header)
    with pytest.raises(InputError, match=r"g\.safetensors"):
        read_graphs(tmp_path / "g.safetensors")


def test_a_list_of_pyg_graphs(tmp_path):
    torch.save(some(), tmp_path / "g.pt")
    packed = read_pt(tmp_path / "g.pt")
    for i, g in enumerate(some()):
        same(packed.graph(i), g)
    dataset = load(tmp_path / "g.pt")
    assert dataset.task == "classes"
    assert dataset.name == "g"


def touched(graphs):
    """As they are after PyG, or our own ``pack``, asked what belongs to nodes and what to edges: it notes that down."""
    pack(graphs)
    return [ToUndirected()(g) for g in graphs]


@pytest.mark.parametrize("kind", [{}, {"x": None, "edge_width": None}])
def test_whatever_pyg_saves(tmp_path, kind):
    graphs = touched(some(**kind))
    known = torch.serialization.get_safe_globals()
    for name, saved in (("list", graphs), ("batch", Batch.from_data_list(graphs))):
        torch.save(saved, tmp_path / f"{name}.pt")
    if kind == {}:
        InMemoryDataset.save(graphs, str(tmp_path / "dataset.pt"))
        torch.save(InMemoryDataset.collate(graphs), tmp_path / "older.pt")
    for path in tmp_path.glob("*.pt"):
        packed = read_pt(path)
        assert len(packed) == 4, path
        for got, g in zip(map(packed.graph, range(4)), graphs, strict=True):
            same(got, g)
    InMemoryDataset.save(graphs[:1], str(tmp_path / "one.pt"))
    same(read_pt(tmp_path / "one.pt").graph(0), graphs[0])
    assert set(torch.serialization.get_safe_globals()) == set(known), "what others may load stays as it was"


def test_nodes_that_pyg_does_not_count_are_not_lost(tmp_path):
    edge = torch.tensor([[0, 1], [1, 0]])
    graphs = [Data(edge_index=edge, num_nodes=n, y=torch.tensor([n % 2])) for n in (2, 2, 2)]
    InMemoryDataset.save(graphs, str(tmp_path / "all.pt"))
    assert read_pt(tmp_path / "all.pt").sizes.tolist() == [2, 2, 2]
    graphs[1].num_nodes = 3
    InMemoryDataset.save(graphs, str(tmp_path / "lost.pt"))
    with pytest.raises(InputError, match="where isolated nodes are"):
        read_pt(tmp_path / "lost.pt")


class Own(Data):
    pass


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        ([Own(x=torch.ones(1, 1))], r"holds tests\.data\.test_files\.Own and is not opened"),
        (Batch.from_data_list([Own(x=torch.ones(1, 1))]), r"holds tests\.data\.test_files\.Own and is not opened"),
        ([Data(x=np.ones((1, 1)))], r"holds numpy\S+ and is not opened"),
        ([HeteroData()], r"holds torch_geometric\S+HeteroData and is not opened"),
        (({"a": 1}, {}), "a tuple that is no dataset of PyG"),
    ],
)
def test_what_is_not_read_is_named(tmp_path, saved, message):
    torch.save(saved, tmp_path / "g.pt")
    with pytest.raises(InputError, match=message):
        read_pt(tmp_path / "g.pt")


MARK = Path(tempfile.gettempdir()) / f"epic-evil-{os.getpid()}"


class Evil:
    def __reduce__(self):
        return os.system, (f"touch {MARK}",)


def test_a_pickle_with_code_is_not_run(tmp_path):
    torch.save([*some(), Evil()], tmp_path / "evil.pt")
    with pytest.raises(InputError, match=r"holds \w+\.system and is not opened"):
        read_pt(tmp_path / "evil.pt")
    assert not MARK.exists()


def test_damaged_and_wrong_files(tmp_path):
    noise = [bytes(torch.randint(256, (n,), generator=torch.Generator().manual_seed(n)).tolist()) for n in range(64)]
    for content in (b"nonsense", b"0", b".", *noise):
        (tmp_path / "a.pt").write_bytes(content)
        with pytest.raises(InputError, match=r"a\.pt"):
            read_pt(tmp_path / "a.pt")
    torch.save(some(), tmp_path / "a.pt", _use_new_zipfile_serialization=False)
    whole = (tmp_path / "a.pt").read_bytes()
    for place in range(0, len(whole), 7):  # some flips are harmless, or make PyG wonder about num_nodes
        (tmp_path / "a.pt").write_bytes(whole[:place] + bytes([whole[place] ^ 21]) + whole[place + 1 :])
        with contextlib.suppress(InputError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_pt(tmp_path / "a.pt")
    torch.save({"x": torch.ones(3)}, tmp_path / "b.pt")
    with pytest.raises(InputError, match="holds a dict, not a list"):
        read_pt(tmp_path / "b.pt")
    with pytest.raises(InputError, match="there is no file"):
        load(tmp_path / "c.pt")
    graphs = some()
    for g in graphs:
        g.y = torch.tensor([0])
    torch.save(graphs, tmp_path / "d.pt")
    with pytest.raises(InputError, match="one class only"):
        load(tmp_path / "d.pt")


def test_integers_in_a_file_are_asked_about(tmp_path):
    graphs = lollipop(60, seed=0)
    for i, data in enumerate(graphs):
        data.y = torch.tensor([3 * i])
    torch.save(graphs, tmp_path / "counts.pt")
    with pytest.raises(InputError, match="60 different integers up to 177 in 60 graphs: say task='values'"):
        load(tmp_path / "counts.pt")
    dataset = load(tmp_path / "counts.pt", task="values")
    assert (dataset.task, dataset.y.dtype, dataset.outputs) == ("values", torch.float, 1)
    assert load(tmp_path / "counts.pt", task="classes").num_classes == 178


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ptr": None}, "ptr"),
        ({"more": torch.zeros(1)}, "more"),
        ({"face.x": torch.zeros(1)}, "face"),
        ({"ptr": torch.tensor([0, 3, 2, 5])}, "must rise from 0"),
        ({"ptr": torch.tensor([1, 2, 3, 5])}, "must rise from 0"),
        ({"ptr": torch.tensor([0.0, 2, 4, 5])}, "must be torch.long"),
        ({"ptr": torch.zeros(0).long()}, "ptr must be integers"),
        ({"ptr": torch.tensor([0, 2, 4, 10**12])}, "there are 1000000000000 nodes"),
        ({"ptr": torch.tensor([0, 2, 4, 10**12]), "node.x": torch.zeros(10**12, 0)}, "correct num_nodes"),
        ({"ptr": torch.tensor([0, 2, 4, 10**12]), "node.x": None}, "correct num_nodes"),
        ({"edge_ptr": torch.tensor([0, 1, 2])}, "edge_ptr"),
        ({"edge_ptr": torch.tensor([0, 1, 2, 10**12])}, "edge_ptr ends at 1000000000000"),
        ({"edge_index": torch.zeros(3, 4).long()}, r"integers of shape \[2, edges\]"),
        ({"edge_index": torch.full((2, 3), 10**12)}, "its nodes are 0"),
        ({"edge_index": torch.full((2, 3), -1)}, "its nodes are 0"),
        ({"node.x": torch.zeros(7, 1)}, "there are 5 nodes"),
        ({"node.x": torch.tensor(1.0)}, "there are 5 nodes"),
        ({"edge.edge_attr": torch.zeros(7, 1)}, "there are 3 edges"),
        ({"y": torch.zeros(2)}, "there are 3 graphs"),
        ({"node.x": torch.full((5, 1), torch.nan)}, "NaN or infinity"),
    ],
)
def test_files_of_what_is_no_graphs_are_refused(tmp_path, changes, reason):
    path = tmp_path / "g.safetensors"
    graphs = [Data(x=torch.ones(n, 1), edge_index=torch.tensor([[0], [n - 1]]), y=n) for n in (2, 2, 1)]
    write_graphs(path, pack(graphs))
    tensors, header = read_tensors(path, "epic-graphs/1")
    write_tensors(path, {k: v for k, v in {**tensors, **changes}.items() if v is not None}, header)
    with pytest.raises(InputError, match=f"g.safetensors is damaged or holds something else .*{reason}"):
        read_graphs(path)


def test_a_pt_file_asks_for_no_more_memory_than_its_size(tmp_path):
    graph = Data(x=torch.zeros(1, 1).expand(10**9, 1), edge_index=torch.zeros(2, 0).long())
    torch.save([graph], tmp_path / "g.pt")
    with pytest.raises(InputError, match="x claims 1000000000 numbers in a file of"):
        read_pt(tmp_path / "g.pt")
    torch.save([Data(x=torch.zeros(10**6, 1), edge_index=torch.zeros(2, 0).long())], tmp_path / "g.pt")
    with zipfile.ZipFile(tmp_path / "g.pt") as whole, zipfile.ZipFile(tmp_path / "h.pt", "w", 8) as packed:
        for member in whole.infolist():
            packed.writestr(member.filename, whole.read(member))
    with pytest.raises(InputError, match=r"claims to hold .* bytes, more than its size"):
        read_pt(tmp_path / "h.pt")
