import os
from pathlib import Path

import pytest
import torch

from epic import InputError
from epic.data import read_ogb, read_smiles
from epic.data.ogb import read_smiles_of
from epic.data.smiles import ATOM_SIZES, BOND_SIZES, molecule, scaffold_split

pytest.importorskip("rdkit", reason="RDKit is not installed (extra 'mol')")


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
    dataset, smiles = read_ogb(root, name), read_smiles_of(root, name)
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
        ("smiles,u,v\nCC,1,2\n", "no column label, y, target or class"),
        ("smiles,y\nCC,yes\n", "line 2: y is 'yes', not a number"),
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
