"""Maps of labels as they are published."""

import pytest

from epic import UnitCost, edit_path
from epic.data import load
from epic.data.chemistry import KNOWN, elements, molecule_of
from epic.data.label_map import parse_label_map, read_label_map
from epic.view.frames import frames
from epic.view.names import dataset_names
from tests.cli.command import epic

README = """
(4) \tDS_node_labels.txt (n lines)
\tcolumn vector of node labels,
=== Description ===
Node labels:

  0  C
  1  N
  5  Cl

Edge labels:

  0  aromatic
  1  single
"""
CONVERTED = """Node labels:\t\t[chem, charge]

Edge labels:\t\t[valence]

Node labels were converted to integer values using this map:

Component 0:
\t0\tC
\t1\tO

Component 1:
\t0\tNa
Edge labels were converted to integer values using this map:

Component 0:
\t0\t1
\t1\t2

Class labels were converted to integer values using this map:

\t0\tmutagen
"""


def test_both_published_forms_are_read():
    assert parse_label_map(README)["node"] == {0: "C", 1: "N", 5: "Cl"}
    assert parse_label_map(README)["edge"] == {0: "aromatic", 1: "single"}
    found = parse_label_map(CONVERTED)
    assert found == {"node": {0: "C", 1: "O"}, "edge": {0: "1", 1: "2"}, "class": {0: "mutagen"}}


@pytest.mark.parametrize(
    ("nodes", "edges", "atoms", "bonds"),
    [
        ("5\n0\n", "1\n0\n", ("C", "Cl"), ("aromatic", "single")),
        ("0\n1\n", "1\n", ("C", "N"), ("single",)),
        ("0\n2\n", "1\n", (), ()),  # a label without a name
        ("0, 1\n", "1\n", (), ()),  # several parts
        ("0\n", "3\n", ("C",), ()),
    ],
)
def test_columns_are_the_labels_that_occur(tmp_path, nodes, edges, atoms, bonds):
    (tmp_path / "README.txt").write_text(README)
    (tmp_path / "T_node_labels.txt").write_text(nodes)
    (tmp_path / "T_edge_labels.txt").write_text(edges)
    assert read_label_map(tmp_path, "T") == (atoms, bonds)


def test_words_that_are_no_elements_are_left_alone(tmp_path):
    (tmp_path / "README.txt").write_text("Node labels:\n 0 helix\n 1 C\n")
    (tmp_path / "T_node_labels.txt").write_text("0\n1\n")
    assert read_label_map(tmp_path, "T") == ((), ())


@pytest.mark.parametrize("name", ["MUTAG", "Mutagenicity"])
def test_real_maps_are_those_we_know(tu_folder, name, tmp_path, monkeypatch):
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path))
    for _ in range(2):  # the second time from the cache
        loaded = load(name, data=tu_folder.parent, download=False)
        assert (loaded.atoms, loaded.bonds) == (KNOWN[name].atoms, KNOWN[name].bonds)
        assert dataset_names(loaded).chemistry == KNOWN[name]


PTC = """README for dataset PTC_FM

=== Description ===

Node labels:

  0  In
  1  P
  2  O
  3  N
  4  Na
  5  C
  6  Cl

Edge labels:

  0  triple
  1  double
  2  single
  3  aromatic
"""
AIDS = """Node labels:\t\t[symbol]

Node attributes:\t[chem, charge, x, y]

Edge labels:\t\t[valence]

Node labels were converted to integer values using this map:

Component 0:
\t0\tC  
\t1\tO  
\t2\tN  
\t3\tCl 


Edge labels were converted to integer values using this map:

Component 0:
\t0\t1
\t1\t2
\t2\t3


Class labels were converted to integer values using this map:

\t0\ta
\t1\ti
"""
SMILES = ("c1ccccc1Cl", "CC(=O)O", "NCC#N", "Clc1ccncc1")
FORMS = {
    "PTC_FM": (PTC, "README.txt", {"O": 2, "N": 3, "C": 5, "Cl": 6}, {3.0: 0, 2.0: 1, 1.0: 2, 1.5: 3}),
    "AIDS": (AIDS, "AIDS_label_readme.txt", {"C": 0, "O": 1, "N": 2, "Cl": 3}, {1.0: 0, 2.0: 1, 3.0: 2}),
    "NCI1": ("=== Description ===\n", "README.txt", {"C": 1, "N": 2, "O": 3, "Cl": 4}, None),
}
"""The text of a set, its file, and its labels of atoms and bonds."""


def written(folder, name):
    """Molecules in TU format, with the text that is published with such a set."""
    chem = pytest.importorskip("rdkit.Chem", reason="RDKit is not installed (extra 'mol')")
    text, file, atoms, bonds = FORMS[name]
    folder.mkdir(parents=True)
    (folder / file).write_text(text, newline="\r\n")
    lines: dict = {"A": [], "graph_indicator": [], "graph_labels": [], "node_labels": [], "edge_labels": []}
    for number, smiles in enumerate(SMILES, 1):
        mol, first = chem.MolFromSmiles(smiles), len(lines["node_labels"]) + 1
        if bonds and 1.5 not in bonds:
            chem.Kekulize(mol, clearAromaticFlags=True)
        lines["graph_labels"].append(number % 2)
        for atom in mol.GetAtoms():
            lines["graph_indicator"].append(number)
            lines["node_labels"].append(atoms[atom.GetSymbol()])
        for bond in mol.GetBonds():
            ends = (bond.GetBeginAtomIdx() + first, bond.GetEndAtomIdx() + first)
            for a, b in (ends, ends[::-1]):
                lines["A"].append(f"{a}, {b}")
                lines["edge_labels"].append(bonds[bond.GetBondTypeAsDouble()] if bonds else 0)
    for part, values in lines.items():
        if bonds or part != "edge_labels":
            (folder / f"{name}_{part}.txt").write_text("\n".join(map(str, values)) + "\n")
    return chem


@pytest.mark.parametrize("name", ["PTC_FM", "AIDS"])
def test_sets_with_a_map_are_drawn_as_molecules(tmp_path, monkeypatch, name):
    """RDKit reads the molecules again that the files were written from."""
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    chem = written(tmp_path / "tu" / name / "raw", name)
    for source in (name, str(tmp_path / "tu" / name)):  # by its name, and as a folder
        dataset = load(source, data=tmp_path, download=False)
        names = dataset_names(dataset)
        read = [chem.CanonSmiles(chem.MolToSmiles(molecule_of(graph, names.chemistry))) for graph in dataset]
        assert read == [chem.CanonSmiles(smiles) for smiles in SMILES]
        drawn = frames(edit_path(dataset[0], dataset[3], UnitCost(), seed=0), names)
        assert drawn["molecule"]
        assert {tag[0] for tag in drawn["tags"]} == {"C", "N", "Cl"}


def test_a_set_without_a_map_takes_elements(tmp_path, monkeypatch):
    """Nothing is guessed: labels of NCI1 have numbers until they are named."""
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    written(tmp_path / "NCI1" / "raw", "NCI1")
    dataset = load(tmp_path / "NCI1")
    path = edit_path(dataset[0], dataset[3], UnitCost(), seed=0)
    assert (dataset.atoms, dataset_names(dataset).chemistry) == ((), None)
    assert not frames(path, dataset_names(dataset))["molecule"]
    named = frames(path, dataset_names(dataset, atoms=["C", "N", "O", "Cl"]))
    assert named["molecule"]
    assert {tag[0] for tag in named["tags"]} == {"C", "N", "Cl"}
    call = ("path", str(tmp_path / "NCI1"), "0", "3", "--out", "p.html")
    assert epic(*call, "--atoms", "C,N,O,Cl", cwd=tmp_path).returncode == 0
    assert '"molecule": true' in (tmp_path / "p.html").read_text().replace('":true', '": true')


def test_a_file_called_like_a_known_set_is_read_by_its_own_features(tmp_path):
    (tmp_path / "Mutagenicity.csv").write_text("smiles,active\nCCN,1\nCCO,0\nCCCl,1\n")
    dataset = load(tmp_path / "Mutagenicity.csv")
    names = dataset_names(dataset)
    assert (names.chemistry, names.class_name(0)) == (None, "class 0")
    assert elements(dataset[0], names.chemistry) == ["C", "C", "N"]
