import csv
import gzip
import os
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
import torch

from epic import InputError
from epic.data import catalog, load, read_ogb, read_smiles
from epic.data.smiles import ATOM_SIZES, BOND_SIZES, molecule, scaffold_split
from epic.graphs.convert import pack

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
    assert [g.smiles for g in dataset] == smiles
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
    assert dataset.notes[1] == "row 1 (line 3): 'xyz'"
    assert dataset.task == "binary"
    assert dataset.y[:2, 0].tolist() == [1.0, 0.0]
    assert torch.isnan(dataset.y[2, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "no column of SMILES. Its columns: a, b"),
        ("CCO,1\nCCC,0\nCC,0\n", "the first line of .* holds the molecule CCO: write a header above it"),
        ("smiles,name,y\nCC,ethane, pure,1\n", "line 2 has 4 cells and the header has 3: put text that holds ','"),
        ("smiles,y,y\nCC,0,1\n", "several columns 'y'"),
        ("smiles,y\nCC,yes\nC,0\n", "line 2: y is 'yes', not a number"),
        ("smiles;y\nCC;0,5\nC;0.2\n", "line 2: y is '0,5', not a number: write decimals with a point"),
        ("smiles,y\n" + "".join(f"CC,t{i}\n" for i in range(51)), "51 different texts are many for names of classes"),
        ("smiles,u,v\nCC,1,2\n", "no column label, y, target or class: name it with --target .*, among u, v"),
        ("smiles,y\nCC,yes\n", r"one class only \(yes\)"),
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
    lines = zip(cycle(MOLECULES), *columns, strict=False)
    path.write_text(f"smiles,{names}\n" + "".join(",".join(map(str, line)) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(
    ("labels", "task", "y"),
    [
        (["0", "1", "0"], "binary", [[0.0], [1.0], [0.0]]),
        (["0", "2", "1", " 0"], "classes", [0, 2, 1, 0]),
        (list(range(20)), "classes", list(range(20))),
        (list(range(51)), "values", [[float(v)] for v in range(51)]),
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
    with pytest.raises(InputError, match=r"say how to read a file of molecules .*, and lollipop is none"):
        load("lollipop", task="classes")


OWN = """compound name{0}Canonical SMILES{0}outcome
aspirin{0}CC(=O)Oc1ccccc1C(=O)O{0}active

"acid{0} acetic"{0}CC(=O)O{0}inactive
broken{0}xyz{0}active
caffeine{0}Cn1cnc2c1c(=O)n(C)c(=O)n2C{0}
twin{0}CCO{0}inactive
twin{0}CCN{0}inactive
"""


@pytest.mark.parametrize(("mark", "suffix"), [(",", "csv"), (";", "csv"), ("\t", "tsv"), ("\t", "csv")])
def test_rows_names_and_classes_stay_with_graphs(tmp_path, mark, suffix):
    path = tmp_path / f"own.{suffix}"
    path.write_text(OWN.format(mark))
    for dataset in (load(path), load(path)):  # parsed, and from the cache
        assert [g.row for g in dataset] == [0, 1, 3, 4, 5]
        assert [g.name for g in dataset] == ["aspirin", f"acid{mark} acetic", "caffeine", "twin", "twin"]
        assert dataset[1].smiles == dataset[:2][1].smiles == "CC(=O)O"
        assert dataset.graphs.select(torch.tensor([4, 0])).graph(1).name == "aspirin"
        assert (dataset.task, dataset.class_names) == ("binary", ("inactive", "active"))
        assert dataset.y[[0, 1, 3], 0].tolist() == [1.0, 0.0, 0.0]
        assert torch.isnan(dataset.y[2, 0])
        assert [dataset.find(w) for w in (0, "1", "3", "caffeine")] == [0, 1, 2, 2]
        assert dataset.graphs.title(2) == "caffeine (row 3)"
        with pytest.raises(InputError, match="row 2 of own was left out"):
            dataset.find(2)
        with pytest.raises(InputError, match=r"no graph asprin in own, but 'aspirin'.*: rows run.* from 0 to 5"):
            dataset.find("asprin")
        with pytest.raises(InputError, match="2 graphs of own are called 'twin': give a row, such as 4"):
            dataset.find("twin")
    assert list(pack(list(dataset)).per_graph["name"]) == [g.name for g in dataset]


def test_names_of_many_classes_are_sorted(tmp_path):
    dataset = load(table(tmp_path / "t.csv", ["red", "blue", "red", "green"]), target="y")
    assert (dataset.task, dataset.y.tolist()) == ("classes", [2, 0, 2, 1])
    assert dataset.class_names == ("blue", "green", "red")
    assert dataset.notes == ("blue is class 0, green is class 1, red is class 2",)
    dataset = load(table(tmp_path / "t.csv", ["yes", "no"]), task="classes")
    assert (dataset.task, dataset.y.tolist(), dataset.class_names) == ("classes", [1, 0], ("no", "yes"))
    with pytest.raises(InputError, match="line 2: y is 'red', not a number"):
        load(table(tmp_path / "t.csv", ["red", "blue"]), task="values")


def test_a_column_of_smiles_by_its_look(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("kind,structure,logP\nN,CCO,0.5\nP,c1ccccc1,1.5\nI,oops,0\n")
    with pytest.raises(InputError, match=r"name it with --target .*, among kind, logP"):
        read_smiles(path)
    dataset = read_smiles(path, target="logP")
    assert [g.smiles for g in dataset] == ["CCO", "c1ccccc1"]
    assert dataset.notes[0] == "column 'structure' is taken for the SMILES"
    assert len(read_smiles(path, target="logP", smiles="Kind")) == 3
    with pytest.raises(InputError, match=r"unknown column of .* 'structur'; did you mean 'structure'"):
        read_smiles(path, smiles="structur")


@pytest.mark.parametrize(
    "text",
    [
        'CCO ethyl alcohol\n\nxx bad\nCC(=O)O acetic "acid"\n',
        'CCO\tethyl alcohol\n\nxx\tbad\nCC(=O)O\tacetic "acid"\n',
        'smiles\tname\nCCO\tethyl alcohol\n\nxx\tbad\nCC(=O)O\tacetic "acid"\n',
    ],
)
def test_smi_files_have_names_and_no_labels(tmp_path, text):
    (tmp_path / "t.smi").write_text(text)
    dataset = load(tmp_path / "t.smi")
    assert [(g.row, g.name) for g in dataset] == [(0, "ethyl alcohol"), (2, 'acetic "acid"')]
    assert dataset.notes[1] == f"row 1 (line {4 if text.startswith('smiles') else 3}): 'xx'"
    with pytest.raises(InputError, match="t has no labels: give each graph a y, or a table a column"):
        _ = dataset.y
    (tmp_path / "t.smi").write_text("CCO\tethanol\t0.5\nCC\tethane\t1.5\n")
    assert load(tmp_path / "t.smi").y.tolist() == [[0.5], [1.5]]


def test_sdf_records_are_rows(tmp_path):
    chem = pytest.importorskip("rdkit.Chem")
    with chem.SDWriter(str(tmp_path / "t.sdf")) as out:
        for smiles, name, kind in (("CCO", "ethanol", "alcohol"), ("CC(=O)O", "acetic acid", "acid")):
            mol = chem.MolFromSmiles(smiles)
            mol.SetProp("_Name", name)
            mol.SetProp("kind", kind)
            out.write(mol)
    whole = (tmp_path / "t.sdf").read_text()
    (tmp_path / "t.sdf").write_text("bad\n\n\n  1  0 nonsense\nM  END\n$$$$\n" + whole)
    dataset = load(tmp_path / "t.sdf")
    assert [(g.row, g.name, g.smiles) for g in dataset] == [(1, "ethanol", "CCO"), (2, "acetic acid", "CC(=O)O")]
    assert (dataset.class_names, dataset.y.tolist()) == (("acid", "alcohol"), [[1.0], [0.0]])
    assert dataset.notes[2].startswith("row 0 (record 0)")
    assert torch.equal(dataset[0].x, molecule("CCO").x)


@pytest.mark.parametrize(("code", "byte"), [("latin1", "0xe9"), ("utf-16", "0xff")])
def test_a_table_in_another_encoding(tmp_path, code, byte):
    (tmp_path / "t.csv").write_bytes("smiles,name,y\nCC,éthane,1\nC,méthane,0\n".encode(code))
    told = rf"is not UTF-8 text \(byte {byte}\): save it as UTF-8, or, if it is {code}, run `iconv -f {code} -t"
    with pytest.raises(InputError, match=told):
        read_smiles(tmp_path / "t.csv")


def test_a_field_that_is_too_long_is_named(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("smiles,y\nCC,1\n" + "C" * 200_000 + ",0\n")
    with pytest.raises(InputError, match=r"long\.csv, line 3 cannot be read: field larger than field limit"):
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


def test_the_most_common_scaffold_trains_and_chains_stand_for_themselves():
    split = scaffold_split(["c1ccccc1" + "C" * k for k in range(18)] + ["C1CC1", "C1CCC1"])
    assert split.train.tolist() == list(range(18))
    chains = scaffold_split(["C" * k for k in range(1, 61)])
    assert [len(part) for part in vars(chains).values()] == [48, 6, 6]
    rings = scaffold_split(["C1CC1"] * 10 + ["C" * k for k in range(1, 111)])
    assert set(range(10)) < set(rings.train.tolist())
    assert [len(part) for part in vars(rings).values()] == [96, 12, 12]


def test_scaffolds_do_not_go_by_the_order_of_a_file():
    smiles = [f"C1{'C' * k}C1{'O' * many}" for k in range(1, 40) for many in range(2)]
    shuffled = np.random.default_rng(0).permutation(len(smiles))
    split, other = scaffold_split(smiles), scaffold_split([smiles[i] for i in shuffled])
    for part, same in zip(vars(split).values(), vars(other).values(), strict=True):
        assert sorted(shuffled[same].tolist()) == part.tolist()
    assert split.test.tolist() != list(range(len(smiles)))[-len(split.test) :]


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


def test_a_header_longer_than_a_cell_may_be_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("smiles,y," + "z" * csv.field_size_limit() + "x\nCC,1,2\n")
    with pytest.raises(InputError, match="line 1 cannot be read: field larger than field limit"):
        read_smiles(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("label", "says"), [("2.5", r"has one target only \(2.5\)"), ("nan", "has no label: all are missing or nan")]
)
def test_labels_that_say_nothing_are_refused(tmp_path, label, says):
    (tmp_path / "m.csv").write_text("smiles,y\n" + "".join(f"{'C' * k}O,{label}\n" for k in range(1, 9)))
    with pytest.raises(InputError, match=says):
        read_smiles(tmp_path / "m.csv", task="values" if label == "2.5" else None)
