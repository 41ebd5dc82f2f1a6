import pytest
import torch
from torch_geometric.data import Data

from epic import UnitCost, edit_path
from epic.data import load
from epic.data.chemistry import KNOWN, bond_orders, elements, fault, molecule_of
from epic.data.smiles import molecule
from epic.view.formula import skeleton
from epic.view.frames import frames
from epic.view.names import Names, names_of
from tests.view.test_page import slide

Chem = pytest.importorskip("rdkit.Chem", reason="molecules need the extra mol")

SMILES = [
    "CCO",
    "c1ccccc1O",
    "c1cc[nH]c1",  # a hydrogen that must be told
    "C[N+](C)(C)CC(=O)[O-]",
    "O=[N+]([O-])c1ccccc1",
    "C#N",
    "[Na+].[Cl-]",
    "CS(=O)(=O)N",
    "c1ccc2[nH]c3ccccc3c2c1",
]


@pytest.mark.parametrize("smiles", SMILES)
def test_a_smiles_survives_the_way_through_our_graph(smiles):
    mol = molecule_of(molecule(smiles))
    assert fault(mol) == ""
    Chem.SanitizeMol(mol)
    assert Chem.MolToSmiles(mol) == Chem.CanonSmiles(smiles)


def labelled(symbols, bonds, chemistry):
    """A graph of one-hot labels, as TUDataset gives it."""
    ends = torch.tensor([(a, b) for a, b, _ in bonds] + [(b, a) for a, b, _ in bonds]).T.reshape(2, -1)
    kinds = [chemistry.bonds.index(k) for _, _, k in bonds] * 2
    return Data(
        x=torch.eye(len(chemistry.atoms))[[chemistry.atoms.index(s) for s in symbols]],
        edge_index=ends,
        edge_attr=torch.eye(len(chemistry.bonds))[kinds],
    )


def test_labels_of_a_known_set_are_atoms_and_bonds():
    known = KNOWN["Mutagenicity"]
    nitro = labelled("CNOO", [(0, 1, "single"), (1, 2, "double"), (1, 3, "single")], known)
    assert elements(nitro, known) == ["C", "N", "O", "O"]
    assert bond_orders(nitro, known)[:3] == ["single", "double", "single"]
    mol = molecule_of(nitro, known)
    Chem.SanitizeMol(mol)
    assert Chem.MolToSmiles(mol) == Chem.CanonSmiles("C[N+](=O)[O-]")


@pytest.mark.parametrize(
    ("bonds", "says"),
    [
        ([(0, 1, "double"), (0, 2, "double"), (0, 3, "single")], "C has too many bonds"),
        ([(0, 1, "aromatic"), (1, 2, "aromatic")], "aromatic bond lies outside a ring"),
    ],
)
def test_what_chemistry_forbids_is_named(bonds, says):
    known = KNOWN["MUTAG"]
    graph = labelled("CCCC", bonds, known)
    mol = molecule_of(graph, known)
    assert says in fault(mol)
    with pytest.raises(Chem.MolSanitizeException):
        Chem.SanitizeMol(Chem.Mol(mol))
    assert skeleton(mol).shape == (4, 2)  # it can be drawn all the same


def test_other_graphs_are_no_molecules():
    ethanol = molecule("CCO")
    assert molecule_of(Data(edge_index=ethanol.edge_index, num_nodes=3)) is None
    assert molecule_of(Data(x=ethanol.x.float(), edge_index=ethanol.edge_index, edge_attr=ethanol.edge_attr)) is None
    assert molecule_of(Data(x=ethanol.x + 200, edge_index=ethanol.edge_index, edge_attr=ethanol.edge_attr)) is None
    assert molecule_of(Data(x=torch.tensor([[-1]]), edge_index=torch.zeros(2, 0).long()), KNOWN["MUTAG"]) is None


def test_each_step_is_marked_valid_or_not():
    path = edit_path(molecule("c1ccccc1O"), molecule("CC(=O)NC"), cost=UnitCost(), seed=0)
    data = frames(path, Names())
    reasons, at = data["faults"]
    assert len(at) == len(path) + 1
    for k, graph in enumerate(path):
        assert reasons[at[k]] == fault(molecule_of(graph))
    assert reasons[at[0]] == reasons[at[-1]] == ""
    assert {t[0] for t in data["tags"]} == {"C", "O", "N"}
    assert frames(path, names_of("MUTAG"))["faults"] is None  # bonds unknown, so nothing is claimed


def test_without_rdkit_symbols_are_shown_and_nothing_is_claimed(monkeypatch):
    monkeypatch.setattr("epic.data.chemistry.has_rdkit", lambda: False)
    known = KNOWN["Mutagenicity"]
    ends = [labelled("CO", [(0, 1, "single")], known), labelled("CNO", [(0, 1, "single"), (1, 2, "single")], known)]
    data = frames(edit_path(*ends), names_of("Mutagenicity"))
    assert {t[0] for t in data["tags"]} == {"C", "N", "O"}
    assert data["faults"] is None
    assert not data["molecule"]
    assert molecule_of(molecule("CCO")) is None


def test_the_page_says_so(browser, tmp_path):
    path = edit_path(molecule("c1ccccc1O"), molecule("CC(=O)NC"), cost=UnitCost(), seed=0)
    path.save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html")
    for k in range(len(path) + 1):
        slide(browser, k)
        reason = fault(molecule_of(path[k]))
        shown = browser.run("return document.getElementById('valid').textContent")
        assert shown == (f"\u2717 not a valid molecule: {reason}" if reason else "\u2713 valid molecule")
    assert browser.errors() == []


@pytest.mark.parametrize(("name", "flawed"), [("MUTAG", {82, 187}), ("Mutagenicity", set())])
def test_real_molecules_are_valid(tu_folder, name, flawed):
    """Two graphs of MUTAG have a carbon with five bonds as published."""
    graphs = load(name, data=tu_folder.parent, download=False).graphs
    found = {i for i in range(min(len(graphs), 400)) if fault(molecule_of(graphs.graph(i), KNOWN[name]))}
    assert found == flawed
