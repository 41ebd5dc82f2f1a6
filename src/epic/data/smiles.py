"""Molecules from files of SMILES and labels, or from SDF files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import torch
from torch_geometric.data import Data

from epic.data.dataset import Dataset
from epic.data.splits import Split
from epic.data.tables import find_columns, rdkit, read_table
from epic.data.targets import Cell, Labels, read_labels
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.graphs.packed import entries

# The integer codes of OGB (Hu et al. 2020), so that its encoders and our OGB backbones fit. The last code of a list is
# "other".
CHIRALITY = ("CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW", "CHI_OTHER")
HYBRID = ("SP", "SP2", "SP3", "SP3D", "SP3D2")
BOND = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
STEREO = ("STEREONONE", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS", "STEREOANY")
ATOM_SIZES = (119, 5, 12, 12, 10, 6, 6, 2, 2)
BOND_SIZES = (5, 6, 2)
NAMED = 5
"""Rows that are left out are named in the notes, up to this many."""


def _code(value: object, known: tuple) -> int:
    return known.index(value) if value in known else len(known)


def molecule(smiles: str) -> Data | None:
    """Return the molecular graph of a SMILES, or None if RDKit cannot parse it.

    It has OGB's features of atoms and bonds, as graphs read from a file of molecules have.

    Args:
        smiles: The SMILES.
    """
    mol = rdkit().MolFromSmiles(smiles)
    if mol is None:
        return None
    bonds = bond_features(mol)
    return Data(
        x=torch.tensor(atom_features(mol), dtype=torch.long).reshape(-1, len(ATOM_SIZES)),
        edge_index=torch.tensor(list(bonds), dtype=torch.long).reshape(-1, 2).T.contiguous(),
        edge_attr=torch.tensor(list(bonds.values()), dtype=torch.long).reshape(-1, len(BOND_SIZES)),
    )


def atom_features(mol: Any) -> list[list[int]]:
    """Return OGB's features of each atom of a sanitised RDKit molecule."""
    return [
        [
            _code(a.GetAtomicNum(), tuple(range(1, 119))),
            _code(str(a.GetChiralTag()), CHIRALITY),
            _code(a.GetTotalDegree(), tuple(range(11))),
            _code(a.GetFormalCharge(), tuple(range(-5, 6))),
            _code(a.GetTotalNumHs(), tuple(range(9))),
            _code(a.GetNumRadicalElectrons(), tuple(range(5))),
            _code(str(a.GetHybridization()), HYBRID),
            int(a.GetIsAromatic()),
            int(a.IsInRing()),
        ]
        for a in mol.GetAtoms()
    ]


def bond_features(mol: Any) -> dict[tuple[int, int], list[int]]:
    """Return OGB's features of each bond of a sanitised RDKit molecule, by its atoms, both ways."""
    found = {}
    for b in mol.GetBonds():
        u, v = b.GetBeginAtomIdx(), b.GetEndAtomIdx()
        code = [_code(str(b.GetBondType()), BOND), _code(str(b.GetStereo()), STEREO), int(b.GetIsConjugated())]
        found[u, v] = found[v, u] = code
    return found


def read_smiles(
    path: str | Path,
    *,
    smiles: str | None = None,
    target: str | Sequence[str] | None = None,
    split: str | None = "scaffold",
    task: str | None = None,
) -> Dataset:
    """Read molecules from a CSV or TSV with a header, an SMI file, or an SDF file.

    Each graph keeps the number of its row (``row``: from 0, the header not counted), its ``smiles``, its ``name`` where
    there is a column of names, and what the classes are called by number (``class_names``) where labels are texts.

    Args:
        path: The file; see :func:`epic.data.tables.read_table`.
        smiles: Column of SMILES (default: the one that is called so, or looks so).
        target: Column to predict, or several (default: ``label``, ``y``, ``target`` or ``class``, or the only other
            column). An empty cell is a missing label.
        split: ``scaffold`` or None.
        task: ``classes``, ``binary`` or ``values``. By default 0 and 1, or two names of classes, are binary; all of 0,
            1, ..., k - 1 (3 to 20 of them, one column) and further names are classes; other numbers are values.

    Returns:
        The molecules, without labels if there is no column to predict. Its ``notes`` name rows that were left out
        because RDKit cannot parse them.

    Raises:
        InputError: If the file or a label cannot be used. The message names the line.
    """
    path = Path(path)
    header, rows = read_table(path)
    if not rows:
        raise InputError(f"{path} has no rows: it must hold a molecule a line after its header")
    columns = find_columns(path, header, rows, smiles=smiles, target=target)
    read = [(row, molecule(row.cells[columns.smiles])) for row in rows]
    kept = [(row, graph) for row, graph in read if graph is not None and graph.num_nodes]
    if not kept:
        raise InputError(f"{path}: none of the {len(rows)} SMILES in column {columns.smiles!r} can be parsed")
    cells = [[Cell(f"{path}, {row.where}: {t}", row.cells[t]) for t in columns.targets] for row, _ in kept]
    labels = read_labels(path, cells, task) if columns.targets else Labels(None, "")
    texts = [row.cells[columns.smiles] for row, _ in kept]
    about: dict[str, list] = {"row": [row.number for row, _ in kept], "smiles": texts}
    if columns.name is not None:
        about["name"] = [row.cells[columns.name] for row, _ in kept]
    if labels.class_names:
        about["class_names"] = [labels.class_names] * len(kept)
    graphs = replace(
        pack([graph for _, graph in kept]),
        y=labels.y,
        per_graph={k: entries(v) for k, v in about.items()},
    )
    notes = [note for note in (columns.note, labels.note) if note]
    if len(kept) < len(rows):
        skipped = [row for row, graph in read if graph is None or not graph.num_nodes]
        notes += [
            f"{len(skipped)} of {len(rows)} SMILES could not be parsed and were left out",
            *(f"row {row.number} ({row.where}): {row.cells[columns.smiles]!r}" for row in skipped[:NAMED]),
        ]
    parts = scaffold_split(texts) if split == "scaffold" else None
    return Dataset(path.stem, graphs, labels.task, parts, tuple(notes))


def scaffold_split(smiles: list[str]) -> Split:
    """Split 80/10/10; molecules of one Bemis-Murcko scaffold stay together: common ones train, rare ones test.

    The most common scaffold always trains. A molecule without rings has no scaffold and stands for itself. Which of the
    rare ones test does not go by the order of the molecules: files are often sorted by label.
    """
    rdkit()
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    groups: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(smiles):
        groups[MurckoScaffoldSmiles(smiles=text, includeChirality=True) or text].append(index)
    order = sorted(groups, key=lambda scaffold: (-len(groups[scaffold]), crc32(scaffold.encode()), scaffold))
    room = (max(0.8 * len(smiles), len(groups[order[0]])), 0.1 * len(smiles), len(smiles))
    parts: list[list[int]] = [[], [], []]
    for members in (groups[scaffold] for scaffold in order):
        next(part for part, most in zip(parts, room, strict=True) if len(part) + len(members) <= most).extend(members)
    return Split(*(torch.tensor(sorted(p), dtype=torch.long) for p in parts))
