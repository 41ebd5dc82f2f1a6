"""What a chemist writes at each atom and bond of a graph, valid or not: hydrogens, charges, double bonds, wedges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from torch_geometric.data import Data

from epic.data.chemistry import Chemistry, bond_orders, fault, molecule_of

if TYPE_CHECKING:
    from rdkit.Chem import Mol

BOND_LENGTH = 1.5  # of RDKit's drawings


@dataclass(frozen=True)
class Formula:
    """The skeletal formula of a graph.

    Args:
        hydrogens: Number of hydrogens that each atom carries without being drawn.
        charges: Charge of each atom.
        flawed: Whether an atom has too many bonds.
        bonds: Kind of each bond (pair of atoms): ``single``, ``double``, ``triple``; ``aromatic`` where double bonds
            cannot alternate.
        rings: The ring on whose inner side a double bond is drawn, for bonds in rings.
        fault: Why it is not a valid molecule; empty if it is.
    """

    hydrogens: list[int]
    charges: list[int]
    flawed: list[bool]
    bonds: dict[tuple[int, int], str]
    rings: dict[tuple[int, int], tuple[int, ...]]
    fault: str


def formula_of(data: Data, chemistry: Chemistry | None = None) -> Formula | None:
    """Return the formula of a graph; None if atoms or bonds are not known, or RDKit is missing."""
    if bond_orders(data, chemistry) is None:
        return None
    mol = molecule_of(data, chemistry)
    if mol is None:
        return None
    from rdkit import Chem

    said = fault(mol)
    flawed = [False] * mol.GetNumAtoms()
    for problem in Chem.DetectChemistryProblems(mol) if said else ():
        if problem.GetType().startswith("AtomValence"):
            flawed[problem.GetAtomIdx()] = True
    drawn = prepared(mol)
    hydrogens = [0 if bad else a.GetTotalNumHs() for a, bad in zip(drawn.GetAtoms(), flawed, strict=True)]
    charges = [a.GetFormalCharge() for a in drawn.GetAtoms()]
    if not said:
        Chem.Kekulize(drawn)
    bonds = {_pair(b.GetBeginAtomIdx(), b.GetEndAtomIdx()): str(b.GetBondType()).lower() for b in drawn.GetBonds()}
    return Formula(hydrogens, charges, flawed, bonds, _inner_rings(drawn, bonds), said)


def prepared(mol: Mol) -> Any:
    """Return a copy of a molecule, valid or not, with the hydrogens and rings that RDKit must know to draw it."""
    from rdkit import Chem

    copy = Chem.RWMol(mol)
    copy.UpdatePropertyCache(strict=False)
    Chem.GetSymmSSSR(copy)
    return copy


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _inner_rings(mol: Any, bonds: Mapping[tuple[int, int], str]) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return the ring of each multiple bond: the smallest, and of these the one with most multiple bonds."""
    found: dict[tuple[int, int], tuple[int, ...]] = {}
    rings = [tuple(r) for r in mol.GetRingInfo().AtomRings()]
    around = [[_pair(r[i - 1], r[i]) for i in range(len(r))] for r in rings]
    multiple = [sum(bonds[p] != "single" for p in pairs) for pairs in around]
    for i in sorted(range(len(rings)), key=lambda i: (len(rings[i]), -multiple[i])):
        for pair in around[i]:
            if bonds[pair] != "single":
                found.setdefault(pair, tuple(sorted(rings[i])))
    return found


def end_molecule(data: Data, chemistry: Chemistry | None) -> Mol | None:
    """Return the molecule of a path's end: from its SMILES with all that it tells, or from its labels."""
    mol = molecule_of(data, chemistry)
    smiles = data.get("smiles")
    if mol is None or not smiles:
        return mol
    from rdkit import Chem

    whole = Chem.MolFromSmiles(smiles)
    if whole is None or [a.GetSymbol() for a in whole.GetAtoms()] != [a.GetSymbol() for a in mol.GetAtoms()]:
        return mol
    return whole


def skeleton(mol: Mol, fixed: Mapping[int, np.ndarray] | None = None) -> np.ndarray:
    """Return RDKit's coordinates ``[atoms, 2]`` for a drawing, in lengths of a bond, y down.

    Args:
        mol: The molecule, valid or not.
        fixed: Where some atoms must be.
    """
    from rdkit.Chem.rdDepictor import Compute2DCoords
    from rdkit.Geometry import Point2D

    copy = prepared(mol)
    spots = {i: Point2D(BOND_LENGTH * float(x), -BOND_LENGTH * float(y)) for i, (x, y) in (fixed or {}).items()}
    Compute2DCoords(copy, coordMap=spots)
    return np.array(copy.GetConformer().GetPositions()).reshape(-1, 3)[:, :2] / BOND_LENGTH * [1, -1]


def same_rings(one: Mol, other: Mol, pairs: Mapping[int, int]) -> bool:
    """Return whether two molecules agree on which of the paired atoms are bonded and which lie in rings."""
    counted = []
    for mol, atoms in ((one, pairs.keys()), (other, pairs.values())):
        copy = prepared(mol)
        inside = set(atoms)
        bonds = sum(b.GetBeginAtomIdx() in inside and b.GetEndAtomIdx() in inside for b in copy.GetBonds())
        counted.append((bonds, [copy.GetAtomWithIdx(i).IsInRing() for i in atoms]))
    return counted[0] == counted[1]


def wedges(mol: Mol, at: np.ndarray) -> list[tuple[int, int, int]]:
    """Return the bonds that show stereo centres in a drawing: centre, other atom, 1 for a wedge and -1 for hashes.

    Args:
        mol: The molecule.
        at: Coordinates of its atoms.
    """
    from rdkit import Chem
    from rdkit.Geometry import Point3D

    copy = prepared(mol)
    conformer = Chem.Conformer(copy.GetNumAtoms())
    for i, (x, y) in enumerate(at.tolist()):
        conformer.SetAtomPosition(i, Point3D(x, -y, 0.0))
    copy.RemoveAllConformers()
    copy.AddConformer(conformer)
    Chem.WedgeMolBonds(copy, copy.GetConformer())
    kinds = {Chem.BondDir.BEGINWEDGE: 1, Chem.BondDir.BEGINDASH: -1}
    return [
        (b.GetBeginAtomIdx(), b.GetEndAtomIdx(), kinds[b.GetBondDir()])
        for b in copy.GetBonds()
        if b.GetBondDir() in kinds
    ]
