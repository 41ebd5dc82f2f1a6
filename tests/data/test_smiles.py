import csv
import gzip
import os
from pathlib import Path

import pytest
import torch

from epic import InputError
from epic.data import catalog, load, read_ogb, read_smiles
from epic.data.smiles import ATOM_SIZES, BOND_SIZES, molecule, scaffold_split

pytest.importorskip("rdkit", reason="RDKit is not installed (extra 'mol')")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))


def test_ethanol_by_hand():
    g = molecule("CCO")
    assert g.x[:, 0].tolist() == [5, 5, 7]  # atomic number minus one
    assert g.x[:, 4].tolist() == [3, 2, 1]  # hydrogens
    assert g.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert g.edge_attr.tolist() == [[0, 0, 0]] * 4
    assert molecule("not a molecule") is None
    lone = molecule("[Na+]")
    assert lone.edge_index.shape == (2, 0)
    assert lone.edge_attr.shape == (0, 3)


@pytest.mark.parametrize("name", ["ogbg-molbbbp", "ogbg-molbace"])
def test_features_equal_ogbs_own(name):
    root = Path(os.environ.get("EPIC_DATA", "")) / "ogb"
    if not (root / name.replace("-", "_")).is_dir():
        pytest.skip(f"set EPIC_DATA to a folder with ogb/{name.replace('-', '_')} to compare with OGB's files")
    dataset = read_ogb(root, name)
    with gzip.open(root / name.replace("-", "_") / "mapping" / "mol.csv.gz", "rt", encoding="utf-8") as file:
        smiles = [row["smiles"] for row in csv.DictReader(file)]
    for i in range(0, len(dataset), 23):
        ours, theirs = molecule(smiles[i]), dataset.graphs.graph(i)
        for key in ("x", "edge_index", "edge_attr"):
            assert torch.equal(ours[key], theirs[key]), (i, smiles[i], key)
    assert all(int(m) < s for m, s in zip(dataset.graphs.x.amax(0), ATOM_SIZES, strict=True))
    assert all(int(m) < s for m, s in zip(dataset.graphs.edge_attr.amax(0), BOND_SIZES, strict=True))


def test_a_table_with_bad_rows(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("id,SMILES,label\n1,CCO,1\n2,xyz,0\n3,c1ccccc1,0\n4,,1\n5,CC(C)N,\n")
    dataset = read_smiles(path)
    assert len(dataset) == 3
    assert dataset.notes[0] == "2 of 5 SMILES could not be parsed and were left out"
    assert dataset.notes[1] == "line 3: 'xyz'"
    assert dataset.task == "binary"
    assert dataset.y[:2, 0].tolist() == [1.0, 0.0]
    assert torch.isnan(dataset.y[2, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "no column 'smiles'. Its columns: a, b"),
        ("smiles,u,v\nCC,1,2\n", "no column label, y, target or class: name it with --target .*, among u, v"),
        ("smiles,y\nCC,yes\n", "line 2: y is 'yes', not a number"),
        ("smiles,y\nCC,1\nCCC,inf\n", "line 3: y is 'inf', not a finite number"),
        ("smiles,y\nCC,1\nCCC,-1e39\n", "line 3: y is '-1e39', not a finite number"),
        ("smiles,y\nCC,1\nCCC,-1\n", "the labels are -1 and 1. Write 0 and 1"),
        ("smiles,y\nCC,0\nCCC,1\nCO,2\nC,\n", "line 5: y is missing, and a class must not be"),
        ("smiles,y\nCC,0\nCCC,1\nCO,2\nC,nan\n", "line 5: y is missing, and a class must not be"),
        ("smiles,y\nCC,1\nCCC,1\n", "one class only"),
        ("smiles,y\n??,1\n", "none of the 1 SMILES"),
    ],
)
def test_bad_tables(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        read_smiles(path)
    with pytest.raises(InputError, match="there is no file"):
        read_smiles(tmp_path / "none.csv")


MOLECULES = ["C" * n for n in range(1, 25)]


def table(path, *columns, names="y"):
    lines = zip(MOLECULES, *columns, strict=False)
    path.write_text(f"smiles,{names}\n" + "".join(",".join(map(str, line)) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(
    ("labels", "task", "y"),
    [
        (["0", "1", "0"], "binary", [[0.0], [1.0], [0.0]]),
        (["0", "2", "1", " 0"], "classes", [0, 2, 1, 0]),
        (list(range(20)), "classes", list(range(20))),
        (list(range(21)), "values", [[float(v)] for v in range(21)]),
        (["0", "2", "1.0"], "values", [[0.0], [2.0], [1.0]]),
        (["1", "2", "3"], "values", [[1.0], [2.0], [3.0]]),
        (["0", "1", "3"], "values", [[0.0], [1.0], [3.0]]),
        (["-1", "0", "1"], "values", [[-1.0], [0.0], [1.0]]),
    ],
)
def test_what_labels_are_by_their_look(tmp_path, labels, task, y):
    dataset = read_smiles(table(tmp_path / "t.csv", labels))
    assert (dataset.task, dataset.y.tolist()) == (task, y)
    assert dataset.outputs == (max(y) + 1 if task == "classes" else 1)
    assert any("are taken for classes" in note for note in dataset.notes) == (task == "classes")


@pytest.mark.parametrize(
    ("labels", "task", "y"),
    [
        (["0", "1", "0"], "classes", [0, 1, 0]),
        (["0", "1", "0"], "values", [[0.0], [1.0], [0.0]]),
        (["0", "1", "2"], "values", [[0.0], [1.0], [2.0]]),
        (["-1", "1"], "values", [[-1.0], [1.0]]),
        (["1.0", "3.0"], "classes", [1, 3]),
        (["0", "1"], "binary", [[0.0], [1.0]]),
    ],
)
def test_what_labels_are_when_told(tmp_path, labels, task, y):
    dataset = load(table(tmp_path / "t.csv", labels), task=task)
    assert (dataset.task, dataset.y.tolist(), dataset.notes) == (task, y, ())


def test_missing_labels_of_a_binary_task(tmp_path):
    y = read_smiles(table(tmp_path / "t.csv", ["0", "nan", "1", ""]), task="binary").y
    assert torch.isnan(y[:, 0]).tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    ("labels", "task", "message"),
    [
        (["0", "1", "2"], "binary", "line 4: y is '2', but binary labels are 0 or 1"),
        (["0", "1.5"], "classes", "line 3: y is '1.5', not a class index"),
        (["-1", "1"], "classes", "class index -1 is negative: number the classes from 0"),
        (["0", "1"], "class", "unknown task 'class'; did you mean 'classes'"),
        (["1", "1"], "binary", "one class only"),
    ],
)
def test_what_labels_cannot_be(tmp_path, labels, task, message):
    with pytest.raises(InputError, match=message):
        read_smiles(table(tmp_path / "t.csv", labels), task=task)


def test_several_targets(tmp_path):
    path = table(tmp_path / "t.csv", "abc", "010", "101", names="id,u,v")
    assert load(path, target=["u"]).y.tolist() == [[0.0], [1.0], [0.0]]
    assert load(path, target=["u", "v"]).task == "classes"  # they sum to 1
    assert load(path, target=["u", "v"], task="binary").task == "binary"
    path = table(tmp_path / "t.csv", "012", "101", names="u,v")
    with pytest.raises(InputError, match="classes are one column"):
        load(path, target=["u", "v"], task="classes")
    with pytest.raises(InputError, match="say how to read a CSV, and lollipop is none"):
        load("lollipop", task="classes")


def test_a_table_in_another_encoding(tmp_path):
    (tmp_path / "t.csv").write_bytes("smiles,name,y\nCC,éthane,1\nC,méthane,0\n".encode("latin1"))
    with pytest.raises(InputError, match=r"is not UTF-8 text \(byte 0xe9\): save it as UTF-8"):
        read_smiles(tmp_path / "t.csv")


def test_a_field_that_is_too_long_is_named(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("smiles,y\nCC,1\n" + "C" * 200_000 + ",0\n")
    with pytest.raises(InputError, match=r"long\.csv, line 3: field larger than field limit"):
        read_smiles(path)


def test_scaffolds_stay_together():
    smiles = (
        ["c1ccccc1" + "C" * k for k in range(12)]
        + ["C1CCNCC1" + "C" * k for k in range(4)]
        + ["C1CC1", "c1ccoc1", "CCC"]
    )
    split = scaffold_split(smiles)
    where = {int(i): p for p, part in enumerate((split.train, split.validation, split.test)) for i in part}
    assert sorted(where) == list(range(19))
    assert len({where[i] for i in range(12)}) == 1
    assert len({where[i] for i in range(12, 16)}) == 1
    assert where[0] == 0


def test_a_csv_is_parsed_once_and_again_when_it_changes(tmp_path, monkeypatch):
    path = tmp_path / "m.csv"
    path.write_text("smiles,u,v\n" + "".join(f"C{'C' * i}O,{i % 3},{i % 2}\n" for i in range(9)) + "xyz,0,0\n")
    parsed = []
    monkeypatch.setattr(catalog, "read_smiles", lambda *a, **k: parsed.append(k) or read_smiles(*a, **k))
    first, again, other = (load(path, target=[t]) for t in "uuv")
    assert [k["target"] for k in parsed] == [["u"], ["v"]]
    assert (again.name, again.task, again.notes) == (first.name, first.task, first.notes)
    assert len(first.notes) == 3
    assert (first.task, other.task) == ("classes", "binary")
    for part in ("train", "validation", "test"):
        assert torch.equal(getattr(again.split, part), getattr(first.split, part))
    for one, two in zip(first, again, strict=True):
        assert all(torch.equal(one[k], two[k]) for k in ("x", "edge_index", "edge_attr", "y"))
    path.write_text("smiles,u,v\nCC,0,1\nCCO,1,0\n")
    assert len(load(path, target=["u"])) == 2
