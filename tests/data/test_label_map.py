"""Maps of labels as they are published."""

import pytest

from epic.data import load
from epic.data.label_map import parse_label_map, read_label_map
from epic.view.molecule import KNOWN
from epic.view.names import dataset_names

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
