"""Graphs on the way made into molecules again: bonds, and features that follow from them."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from epic.data.chemistry import Chemistry, fault, molecule_of
from epic.data.smiles import atom_features, bond_features
from epic.data.tables import rdkit
from epic.graphs.packed import PackedGraphs
from epic.paths.bonds import AROMATIC, ORDER, Bonds

CHIRALITY, STEREO = 1, 1
"""Columns of OGB's features of atoms and bonds that stay as they are: a graph says nothing about space."""
NAMES = ("", "single", "double", "triple")


def without_bonds(graphs: PackedGraphs) -> PackedGraphs:
    """Return graphs without the edge attributes that operations with bonds gave them."""
    return replace(graphs, edge={k: v for k, v in graphs.edge.items() if k not in (ORDER, AROMATIC)})


def as_molecules(made: PackedGraphs, bonds: Bonds) -> PackedGraphs:
    """Return graphs on the way with the features of the molecules that they are.

    Bonds get their kekulised orders. Where the molecule is valid, RDKit then finds aromatic systems, and what OGB's
    features say of hydrogens, degrees, hybridisation, rings and conjugation is computed again. Chirality stays with its
    atom, and stereo with its double bond. A graph between ends that are no valid molecules stays as it is.

    Args:
        made: Graphs from operations with bonds, one for each pair.
        bonds: The bonds of the operations.

    Returns:
        The graphs, without the attributes that operations with bonds gave them.
    """
    order, made = made.edge[ORDER], without_bonds(made)
    if made.x is None or made.edge_attr is None:
        return made
    fine = torch.from_numpy(bonds.whole).repeat_interleave(made.edge_ptr.diff())
    x, attributes = made.x.clone(), made.edge_attr.clone()
    if bonds.chemistry is None:
        attributes[fine, 0] = order[fine] - 1
        attributes[fine & (order != 2), STEREO] = 0
    else:
        attributes[fine] = _labels([NAMES[k] for k in order[fine].tolist()], bonds.chemistry).to(attributes)
    made = replace(made, node={**made.node, "x": x}, edge={**made.edge, "edge_attr": attributes})
    nodes, edges = made.ptr.tolist(), made.edge_ptr.tolist()
    for g, why in enumerate(bonds.faults):
        found = _perceived(made, g, bonds.chemistry) if why is None else None
        if found is not None:
            x[nodes[g] : nodes[g + 1]], attributes[edges[g] : edges[g + 1]] = found
    return made


def _perceived(graphs: PackedGraphs, g: int, chemistry: Chemistry | None) -> tuple[Tensor, Tensor] | None:
    """Return the features of atoms and bonds that RDKit finds; None where a graph is no valid molecule."""
    chem, data = rdkit(), graphs.graph(g)
    mol = molecule_of(data, chemistry)
    if mol is None or chem.SanitizeMol(mol, catchErrors=True):
        return None
    x, attributes = data.x, data.edge_attr
    ends = [(u, v) for u, v in data.edge_index.T.tolist()]
    if chemistry is None:
        chirality, stereo = x[:, CHIRALITY].clone(), attributes[:, STEREO].clone()
        bonds = bond_features(mol)
        x = torch.tensor(atom_features(mol)).to(x).reshape(x.shape)
        attributes = torch.tensor([bonds[e] for e in ends]).to(attributes).reshape(attributes.shape)
        x[:, CHIRALITY], attributes[:, STEREO] = chirality, torch.where(attributes[:, 0] == 1, stereo, 0)
    elif "aromatic" in chemistry.bonds:
        kinds = [str(mol.GetBondBetweenAtoms(*e).GetBondType()).lower() for e in ends]
        data.edge_attr = _labels(kinds, chemistry).to(attributes)
        again = molecule_of(data, chemistry)
        if again is not None and not fault(again):  # plain labels do not tell where the hydrogen of pyrrole is
            attributes = data.edge_attr
    return x, attributes


def _labels(kinds: list[str], chemistry: Chemistry) -> Tensor:
    """Return one-hot labels of bonds."""
    return torch.eye(len(chemistry.bonds))[[chemistry.bonds.index(k) for k in kinds]]
