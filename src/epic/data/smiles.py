"""Molecules from a CSV file of SMILES and labels."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data

from epic.data.dataset import Dataset, task_of
from epic.data.splits import Split
from epic.errors import InputError, choose
from epic.packing import pack

# The integer codes of OGB (Hu et al. 2020), so that its encoders and our OGB backbones fit. The last code of a list is
# "other".
CHIRALITY = ("CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW", "CHI_OTHER")
HYBRID = ("SP", "SP2", "SP3", "SP3D", "SP3D2")
BOND = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
STEREO = ("STEREONONE", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS", "STEREOANY")
ATOM_SIZES = (119, 5, 12, 12, 10, 6, 6, 2, 2)
BOND_SIZES = (5, 6, 2)


def _rdkit() -> Any:
    try:
        from rdkit import Chem, RDLogger
    except ImportError as error:
        raise InputError("reading SMILES needs RDKit: pip install 'epic-graph[mol]'") from error
    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    return Chem


def _code(value: object, known: tuple) -> int:
    return known.index(value) if value in known else len(known)


def molecule(smiles: str) -> Data | None:
    """The molecular graph of a SMILES, or None where RDKit cannot parse it."""
    mol = _rdkit().MolFromSmiles(smiles)
    if mol is None:
        return None
    atoms = [
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
    ends, attributes = [], []
    for b in mol.GetBonds():
        u, v = b.GetBeginAtomIdx(), b.GetEndAtomIdx()
        code = [_code(str(b.GetBondType()), BOND), _code(str(b.GetStereo()), STEREO), int(b.GetIsConjugated())]
        ends += [(u, v), (v, u)]
        attributes += [code, code]
    return Data(
        x=torch.tensor(atoms, dtype=torch.long).reshape(-1, len(ATOM_SIZES)),
        edge_index=torch.tensor(ends, dtype=torch.long).reshape(-1, 2).T.contiguous(),
        edge_attr=torch.tensor(attributes, dtype=torch.long).reshape(-1, len(BOND_SIZES)),
    )


def read_smiles(
    path: str | Path, smiles: str = "smiles", labels: tuple[str, ...] | None = None, split: str | None = "scaffold"
) -> Dataset:
    """Read a CSV with a header. ``labels`` names the target columns (default: ``label`` or ``y``, or the only other
    column).

    Rows whose SMILES cannot be parsed are left out and named in ``notes``; an empty label is missing. ``split`` is
    ``scaffold`` or None.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        header = list(reader.fieldnames or [])
        rows = list(reader)
    if smiles not in header:
        lower = {h.lower(): h for h in header}
        if smiles.lower() not in lower:
            raise InputError(f"{path} has no column {smiles!r}. Its columns: {', '.join(header) or 'none'}")
        smiles = lower[smiles.lower()]
    targets = _targets(path, header, smiles, labels)
    graphs, texts, skipped = [], [], []
    for line, row in enumerate(rows, 2):
        graph = molecule(row[smiles] or "")
        if graph is None or graph.num_nodes == 0:
            skipped.append(f"line {line}: {row[smiles]!r}")
            continue
        graph.y = torch.tensor([[_number(path, line, t, row[t]) for t in targets]])
        graphs.append(graph)
        texts.append(row[smiles])
    if not graphs:
        raise InputError(f"{path}: none of the {len(rows)} SMILES in column {smiles!r} can be parsed")
    packed = pack(graphs)
    assert packed.y is not None
    task = task_of(packed.y, str(path))
    notes = (f"{len(skipped)} of {len(rows)} SMILES could not be parsed and were left out", *skipped) if skipped else ()
    parts = scaffold_split(texts) if split == "scaffold" else None
    return Dataset(path.stem, packed, task, parts, notes)


def _targets(path: Path, header: list[str], smiles: str, labels: tuple[str, ...] | None) -> list[str]:
    others = [h for h in header if h != smiles]
    if labels:
        return [choose(name, others, f"label column of {path}") for name in labels]
    found = [h for h in others if h.lower() in ("label", "y", "target", "class")]
    if not found and len(others) == 1:
        found = others
    if not found:
        raise InputError(
            f"{path} has no column label, y, target or class: name the target among {', '.join(others) or 'none'}"
        )
    return found[:1]


def _number(path: Path, line: int, column: str, text: str | None) -> float:
    if text is None or not text.strip():
        return float("nan")
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{path}, line {line}: {column} is {text!r}, not a number") from None


def scaffold_split(smiles: list[str], train: float = 0.8, validation: float = 0.1) -> Split:
    """Molecules of one Bemis-Murcko scaffold stay together: the commonest scaffolds train, the rarest test."""
    _rdkit()
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    groups: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(smiles):
        groups[MurckoScaffoldSmiles(smiles=text, includeChirality=True)].append(index)
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for members in sorted(groups.values(), key=lambda g: (-len(g), g[0])):
        if len(parts[0]) + len(members) <= train * len(smiles):
            parts[0].extend(members)
        elif len(parts[1]) + len(members) <= validation * len(smiles):
            parts[1].extend(members)
        else:
            parts[2].extend(members)
    return Split(*(torch.tensor(sorted(p), dtype=torch.long) for p in parts))
