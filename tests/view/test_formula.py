"""Skeletal formulas against RDKit's own reading of the same molecules."""

import numpy as np
import pytest
import torch

from epic import UnitCost, edit_path
from epic.data.chemistry import KNOWN
from epic.data.smiles import molecule
from epic.view.formula import end_molecule, formula_of, same_rings, skeleton, wedges
from epic.view.frames import frames
from epic.view.names import Names
from epic.view.placement import place
from tests.data.test_chemistry import SMILES, labelled

Chem = pytest.importorskip("rdkit.Chem", reason="molecules need the extra mol")
CHIRAL = ["C[C@H](N)C(=O)O", "C[C@@H](O)CC", "C[C@]12CCCC[C@@H]1CCCC2", "OC[C@H](O)[C@@H](O)C=O"]


def named(smiles):
    graph = molecule(smiles)
    graph.smiles = smiles
    return graph


@pytest.mark.parametrize("smiles", SMILES)
def test_hydrogens_charges_and_bonds_are_those_of_rdkit(smiles):
    found, mol = formula_of(molecule(smiles)), Chem.MolFromSmiles(smiles)
    assert found.hydrogens == [a.GetTotalNumHs() for a in mol.GetAtoms()]
    assert found.charges == [a.GetFormalCharge() for a in mol.GetAtoms()]
    assert found.fault == ""
    assert not any(found.flawed)
    assert "aromatic" not in found.bonds.values()
    order = {"single": 1, "double": 2, "triple": 3}
    for atom in mol.GetAtoms():
        i = atom.GetIdx()
        bonds = sum(order[kind] for pair, kind in found.bonds.items() if i in pair)
        assert bonds + found.hydrogens[i] == atom.GetTotalValence()
    rings = {frozenset(r) for r in mol.GetRingInfo().AtomRings()}
    for pair, ring in found.rings.items():
        assert set(pair) < set(ring)
        assert frozenset(ring) in rings


def test_what_is_not_valid_is_written_too():
    known = KNOWN["MUTAG"]
    five = formula_of(labelled("CCCCCC", [(0, i, "single") for i in range(1, 6)], known), known)
    assert (five.fault, five.flawed) == ("C has too many bonds", [True, *[False] * 5])
    assert five.hydrogens == [0, 3, 3, 3, 3, 3]
    half = formula_of(labelled("CCC", [(0, 1, "aromatic"), (1, 2, "aromatic")], known), known)
    assert set(half.bonds.values()) == {"aromatic"}
    assert half.fault
    assert formula_of(labelled("CO", [(0, 1, "single")], known)) is None  # atoms not known


@pytest.mark.parametrize("smiles", CHIRAL)
def test_wedges_say_which_mirror_image_it_is(smiles):
    """RDKit reads the drawing of a path's end back, wedges and all, however it was turned or mirrored."""
    for ends in ((smiles, "CCCC(C)O"), ("OCC(N)CCC", smiles)):
        path = edit_path(*map(named, ends), cost=UnitCost(), seed=3)
        placed, last = place(path, Names()), smiles == ends[1]
        where = placed.of_target if last else np.arange(path.source.num_nodes)
        mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
        at = placed.drawings[-last][where]
        Chem.RemoveStereochemistry(mol)
        conformer = Chem.Conformer(len(where))
        for i, (x, y) in enumerate(at.tolist()):
            conformer.SetAtomPosition(i, (x, -y, 0.0))
        mol.AddConformer(conformer)
        node = {int(p): i for i, p in enumerate(where)}
        for a, b, sign in placed.wedges[last]:
            kind = mol.GetBondBetweenAtoms(node[a], node[b]).GetBondType()
            mol.RemoveBond(node[a], node[b])
            mol.AddBond(node[a], node[b], kind)  # a wedge begins at its centre
            mol.GetBondBetweenAtoms(node[a], node[b]).SetBondDir(
                Chem.BondDir.BEGINWEDGE if sign > 0 else Chem.BondDir.BEGINDASH
            )
        mol = mol.GetMol()
        Chem.SanitizeMol(mol)
        Chem.AssignChiralTypesFromBondDirs(mol)
        Chem.AssignStereochemistry(mol, cleanIt=True, force=True)
        assert Chem.MolToSmiles(mol) == Chem.CanonSmiles(smiles)


def test_wedges_last_while_their_centre_is_untouched():
    path = edit_path(named("C[C@H](N)C(=O)O"), named("CCCC(C)O"), cost=UnitCost(), seed=3)
    drawn = frames(path, Names())
    done = {op.source: k for k, op in enumerate(path.operations, 1)}
    ((centre, _, _, born, dies),) = drawn["wedges"]
    assert centre == 1
    assert born == 0
    assert 1 <= dies <= min(done[i] for i in (0, 1, 2, 3))


def test_a_smiles_tells_more_than_labels_and_a_wrong_one_nothing():
    assert Chem.FindMolChiralCenters(end_molecule(named(CHIRAL[0]), None)) == [(1, "S")]
    wrong = molecule("CCO")
    wrong.smiles = "CCN"
    assert [a.GetSymbol() for a in end_molecule(wrong, None).GetAtoms()] == ["C", "C", "O"]
    assert wedges(end_molecule(wrong, None), torch.zeros(3, 2).numpy()) == []


def test_rings_must_be_the_same_to_be_drawn_alike():
    ring, chain = Chem.MolFromSmiles("C1CCCCC1"), Chem.MolFromSmiles("CCCCCC")
    pairs = {i: i for i in range(6)}
    assert same_rings(ring, ring, pairs)
    assert not same_rings(ring, chain, pairs)
    fixed = skeleton(ring, {0: np.array([0.0, 0.0]), 1: np.array([1.0, 0.0])})
    assert np.linalg.norm(fixed[0] - fixed[1]) == pytest.approx(1, abs=0.01)
