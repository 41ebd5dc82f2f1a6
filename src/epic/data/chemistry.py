"""Graphs that are molecules: which atoms and bonds they stand for, and whether they are valid.

RDKit (the extra ``mol``) does the chemistry. Without it no graph counts as a molecule, and nothing fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from epic.data.smiles import ATOM_SIZES, BOND_SIZES
from epic.data.tables import rdkit
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix

if TYPE_CHECKING:
    from rdkit.Chem import Mol


@dataclass(frozen=True)
class Chemistry:
    """What the labels of a dataset of molecules stand for.

    Args:
        atoms: The element of each node label.
        bonds: The bond of each edge label: ``single``, ``double``, ``triple`` or ``aromatic``. Empty if unknown.
    """

    atoms: tuple[str, ...]
    bonds: tuple[str, ...] = ()


# Datasets of TUDataset whose labels are documented in their readme files, or are atomic numbers in rising order.
KNOWN = {
    "MUTAG": Chemistry(tuple("C N O F I Cl Br".split()), ("aromatic", "single", "double", "triple")),
    "Mutagenicity": Chemistry(tuple("C O Cl H N F Br S P I Na K Li Ca".split()), ("single", "double", "triple")),
    "BZR": Chemistry(tuple("H C N O F P S Cl Br I".split())),
    "COX2": Chemistry(tuple("H C N O F S Cl Br".split())),
}

# Bonds in the order of OGB's codes (epic.data.smiles.BOND); the last code, "other", is drawn as a single bond.
OGB_BONDS = ("single", "double", "triple", "aromatic", "single")


def node_labels(data: Data) -> np.ndarray | None:
    """Return the label of each node: the place of the 1 in one-hot features, the first column of integer features.

    None if there are no features, or real values.

    >>> node_labels(Data(x=torch.tensor([[0.0, 1.0], [1.0, 0.0]]))).tolist()
    [1, 0]
    """
    if data.get("x") is None:
        return None
    x = matrix(data.x).cpu().numpy()
    if x.shape[1] == 0:
        return None
    if x.shape[1] > 1 and bool(((x == 0) | (x == 1)).all()) and bool((x.sum(1) > 0).all()):
        return x.argmax(1)
    return None if x.dtype.kind == "f" else x[:, 0].astype(np.int64)


def has_rdkit() -> bool:
    """Return whether RDKit is installed."""
    try:
        import rdkit.Chem  # noqa: F401
    except ImportError:
        return False
    return True


def is_ogb(graphs: Data | PackedGraphs) -> bool:
    """Return whether graphs have OGB's 9 integer features of atoms and 3 of bonds, as our SMILES reader gives them."""
    return _are_codes(graphs.x, ATOM_SIZES) and _are_codes(graphs.edge_attr, BOND_SIZES)


def chemistry_of(graphs: Data | PackedGraphs) -> Chemistry | None:
    """Return what the labels of graphs that are molecules stand for; None where they have OGB's features.

    One-hot labels do not say it. Graphs with as many kinds of nodes and edges as a set of ``KNOWN`` are read as its
    graphs, so ask only about graphs that are said to be molecules.

    Raises:
        InputError: They are not known to be molecules.
    """
    if is_ogb(graphs):
        return None
    width, kinds = (0 if t is None else matrix(t).shape[1] for t in (graphs.x, graphs.edge_attr))
    for chemistry in KNOWN.values():
        if (len(chemistry.atoms), len(chemistry.bonds)) == (width, kinds):
            return chemistry
    raise InputError(
        f"these graphs are not known to be molecules (x is {width} wide, edge_attr {kinds}): load them from SMILES or "
        f"from OGB, so that they have its features of atoms and bonds, or take one of {', '.join(KNOWN)}"
    )


@cache
def most_bonds(element: int | str, charge: int = 0) -> int:
    """Return the largest sum of bond orders that RDKit permits for an atom, hydrogens left out; 99 for no limit."""
    chem = rdkit()
    for count in range(1, 13):
        atom, mol = chem.Atom(element), chem.RWMol()
        atom.SetFormalCharge(charge)
        mol.AddAtom(atom)
        for _ in range(count):
            mol.AddBond(0, mol.AddAtom(chem.Atom(0)), chem.BondType.SINGLE)
        if chem.DetectChemistryProblems(mol):
            return count - 1
    return 99


def _are_codes(values: Tensor | None, sizes: Sequence[int]) -> bool:
    if values is None or values.is_floating_point() or values.dim() != 2 or values.shape[1] != len(sizes):
        return False
    return bool(((values >= 0) & (values < torch.tensor(sizes, device=values.device))).all())


def elements(data: Data, chemistry: Chemistry | None = None) -> list[str] | None:
    """Return the symbol of each node; None if the graph is not known to be a molecule. OGB's features need RDKit."""
    if chemistry is not None:
        labels = node_labels(data)
        if labels is None or not all(0 <= i < len(chemistry.atoms) for i in labels.tolist()):
            return None
        return [chemistry.atoms[i] for i in labels]
    if not is_ogb(data) or not has_rdkit():
        return None
    from rdkit.Chem import GetPeriodicTable

    table = GetPeriodicTable()
    return [table.GetElementSymbol(z + 1) if z < 118 else "*" for z in data.x[:, 0].tolist()]


def bond_orders(data: Data, chemistry: Chemistry | None = None) -> list[str] | None:
    """Return the kind of bond of each edge; None if it is not known."""
    attributes = data.get("edge_attr")
    if attributes is None:
        return None
    if chemistry is None:
        return [OGB_BONDS[b] for b in attributes[:, 0].tolist()] if is_ogb(data) else None
    if attributes.dim() != 2 or attributes.shape[1] != len(chemistry.bonds):
        return None
    return [chemistry.bonds[b] for b in attributes.argmax(1).tolist()]


def molecule_of(data: Data, chemistry: Chemistry | None = None) -> Mol | None:
    """Return a graph as an RDKit molecule that is not sanitised, its atoms in the order of the nodes.

    Bonds of unknown order are single.

    Args:
        data: The graph.
        chemistry: What node and edge labels stand for. Without it the graph must have OGB's integer features.

    Returns:
        The molecule; None if the graph is not known to be one, or RDKit is missing.
    """
    symbols = elements(data, chemistry)
    if symbols is None or not has_rdkit():
        return None
    from rdkit import Chem

    orders = bond_orders(data, chemistry) or ["single"] * data.edge_index.shape[1]
    bonds: dict[tuple[int, int], str] = {}
    for (a, b), order in zip(data.edge_index.T.tolist(), orders, strict=True):
        if a != b and (b, a) not in bonds:  # each bond is stored both ways
            bonds.setdefault((a, b), order)
    aromatic = {end for ends, order in bonds.items() if order == "aromatic" for end in ends}
    known = [(5, 0)] * len(symbols) if chemistry is not None else data.x[:, [3, 4]].tolist()
    mol = Chem.RWMol()
    for u, (symbol, (charge, hydrogens)) in enumerate(zip(symbols, known, strict=True)):
        atom = Chem.Atom(symbol)
        if charge != 5:
            atom.SetFormalCharge(charge - 5)
        if u in aromatic:
            atom.SetIsAromatic(True)
            if symbol != "C":  # pyrrole's nitrogen, which RDKit cannot guess
                atom.SetNumExplicitHs(hydrogens)
        mol.AddAtom(atom)
    for (a, b), order in bonds.items():
        count = mol.AddBond(a, b, getattr(Chem.BondType, order.upper()))
        if order == "aromatic":
            mol.GetBondWithIdx(count - 1).SetIsAromatic(True)
    if chemistry is not None:
        _guess_charges(mol)
    return mol.GetMol()


def _guess_charges(mol: Any) -> None:
    """Set the charges that datasets of plain labels leave out.

    Nitrogen or phosphorus with four bonds and oxygen with three are positive. An oxygen that a single bond joins to
    such a nitrogen (as in nitro groups) is negative.
    """
    bonds = {a.GetIdx(): sum(b.GetBondTypeAsDouble() for b in a.GetBonds()) for a in mol.GetAtoms()}
    for atom in mol.GetAtoms():
        if atom.GetIsAromatic() and not any(n.GetSymbol() == "O" and n.GetDegree() == 1 for n in atom.GetNeighbors()):
            continue  # furan's oxygen, pyrrole's nitrogen; not an N-oxide
        if bonds[atom.GetIdx()] == {"N": 4, "P": 4, "O": 3}.get(atom.GetSymbol()):
            atom.SetFormalCharge(1)
    for atom in mol.GetAtoms():
        if atom.GetSymbol() == "O" and bonds[atom.GetIdx()] == 1:
            (other,) = atom.GetNeighbors()
            if other.GetSymbol() == "N" and other.GetFormalCharge() == 1:
                atom.SetFormalCharge(-1)


def fault(mol: Mol) -> str:
    """Return why RDKit cannot sanitise a molecule, in a few words; empty if it can.

    Missing hydrogens are not a fault: RDKit adds them.
    """
    chem = rdkit()
    if not chem.SanitizeMol(chem.Mol(mol), catchErrors=True):
        return ""
    found = chem.DetectChemistryProblems(mol)
    if not found:  # it looks at the bonds of atoms only before it looks for alternating bonds
        return "an aromatic atom has too many bonds"
    kind = found[0].GetType()
    if kind.startswith("AtomValence"):
        atom = mol.GetAtomWithIdx(found[0].GetAtomIdx())
        return f"{atom.GetSymbol()} has too many bonds"
    if kind.startswith("AtomKekulize"):
        return "an aromatic bond lies outside a ring"
    return "an aromatic ring has no alternating bonds" if kind.startswith("Kekulize") else str(found[0].Message())
