"""Molecules from a CSV file of SMILES and labels."""

from __future__ import annotations

import csv
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from epic.data.dataset import Dataset, task_of
from epic.data.splits import Split
from epic.errors import InputError, choose
from epic.graphs.convert import pack
from epic.labels import TASKS, infer_task

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
MOST_CLASSES = 20
"""Integers 0, 1, 2, ... up to this many are taken for classes; more are counts, or some other number."""


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
    """Return the molecular graph of a SMILES, or None if RDKit cannot parse it."""
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
    path: str | Path,
    *,
    smiles: str = "smiles",
    target: Sequence[str] | None = None,
    split: str | None = "scaffold",
    task: str | None = None,
) -> Dataset:
    """Read molecules from a CSV with a header.

    Args:
        path: The file.
        smiles: Column of SMILES.
        target: Columns to predict (default: ``label``, ``y``, ``target`` or ``class``, or the only other column).
            An empty cell is a missing label.
        split: ``scaffold`` or None.
        task: ``classes``, ``binary`` or ``values``. By default 0 and 1 are binary, all of 0, 1, ..., k - 1 (3 to 20 of
            them, one column) are classes, and other numbers are values.

    Returns:
        The molecules. Its ``notes`` name rows that were left out because RDKit cannot parse them.

    Raises:
        InputError: If the file or a label cannot be used. The message names the line.
    """
    path = Path(path)
    header, rows = _table(path)
    if smiles not in header:
        alike = [h for h in header if h.lower() == smiles.lower()]
        if not alike:
            raise InputError(f"{path} has no column {smiles!r}. Its columns: {', '.join(header) or 'none'}")
        smiles = alike[-1]
    targets = _targets(path, header, smiles, target)
    graphs, texts, cells, skipped = [], [], [], []
    for line, row in enumerate(rows, 2):
        graph = molecule(row[smiles] or "")
        if graph is None or graph.num_nodes == 0:
            skipped.append(f"line {line}: {row[smiles]!r}")
            continue
        graphs.append(graph)
        texts.append(row[smiles])
        cells.append([Cell(f"{path}, line {line}: {t}", (row[t] or "").strip()) for t in targets])
    if not graphs:
        raise InputError(f"{path}: none of the {len(rows)} SMILES in column {smiles!r} can be parsed")
    y, task, note = _labels(path, cells, task)
    notes = [note] if note else []
    if skipped:
        notes += [f"{len(skipped)} of {len(rows)} SMILES could not be parsed and were left out", *skipped[:NAMED]]
    parts = scaffold_split(texts) if split == "scaffold" else None
    return Dataset(path.stem, replace(pack(graphs), y=y), task, parts, tuple(notes))


def _table(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Return header and rows of a CSV."""
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            return list(reader.fieldnames or []), list(reader)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num + 1}: {error}: correct that row") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#x}): save it as UTF-8, or, if it is "
            f"Latin-1, run `iconv -f latin1 -t utf-8 {path.name}`"
        ) from error


def _targets(path: Path, header: list[str], smiles: str, target: Sequence[str] | None) -> list[str]:
    others = [h for h in header if h != smiles]
    if target:
        return [choose(name, others, f"label column of {path}") for name in target]
    found = [h for h in others if h.lower() in ("label", "y", "target", "class")]
    if not found and len(others) == 1:
        found = others
    if not found:
        raise InputError(
            f"{path} has no column label, y, target or class: name it with --target (target= in Python), "
            f"among {', '.join(others) or 'none'}"
        )
    return found[:1]


@dataclass(frozen=True)
class Cell:
    """A label as written in the file, and where."""

    where: str
    text: str

    @property
    def number(self) -> float:
        """Its value; NaN if it is empty."""
        try:
            value = float(self.text or "nan")
        except ValueError:
            raise InputError(f"{self.where} is {self.text!r}, not a number") from None
        if abs(value) > torch.finfo(torch.float).max:
            raise InputError(f"{self.where} is {self.text!r}, not a finite number: correct it, or leave it empty")
        return value

    @property
    def index(self) -> int:
        """Its value as a class index."""
        if math.isnan(self.number):
            raise InputError(
                f"{self.where} is missing, and a class must not be: leave out the row, or say --task values "
                "(task= in Python)"
            )
        if not self.number.is_integer():
            raise InputError(f"{self.where} is {self.text!r}, not a class index: classes are 0, 1, 2, ...")
        return int(self.number)


def _labels(path: Path, cells: list[list[Cell]], task: str | None) -> tuple[Tensor, str, str]:
    """Return labels, what they are (as given, or as they look), and a note if that may surprise."""
    y, note = torch.tensor([[cell.number for cell in row] for row in cells]), ""
    single = y.shape[1] == 1
    if task is None:
        if set(y[~torch.isnan(y)].tolist()) == {-1.0, 1.0}:
            raise InputError(
                f"{path}: the labels are -1 and 1. Write 0 and 1 for two classes, or say --task values (task= in "
                "Python) if they are numbers"
            )
        if single and (classes := _classes({row[0].text for row in cells if not math.isnan(row[0].number)})):
            task, note = "classes", f"labels 0 to {classes - 1} are taken for classes (--task values: for numbers)"
    else:
        choose(task, TASKS, "task")
    if task == "classes" and single:
        y = torch.tensor([row[0].index for row in cells])
    elif task == "classes" and infer_task(y) != task:
        raise InputError(f"{path}: classes are one column of 0, 1, 2, ..., or columns that sum to 1 in every row")
    elif task == "binary" and bool((odd := (y != 0) & (y != 1) & ~torch.isnan(y)).any()):
        row, column = odd.nonzero()[0].tolist()
        cell = cells[row][column]
        raise InputError(f"{cell.where} is {cell.text!r}, but binary labels are 0 or 1")
    return y, task_of(y, str(path), task), note


def _classes(texts: set[str]) -> int:
    """Return the number of classes if labels look like class indices with none left out, else 0.

    >>> _classes({"0", "2", "1"}), _classes({"0", "1"}), _classes({"0", "1.0", "2"}), _classes({"1", "2", "3"})
    (3, 0, 0, 0)
    """
    if not all(re.fullmatch(r"\d+", text) for text in texts):
        return 0
    values = set(map(int, texts))
    return len(values) if 3 <= len(values) <= MOST_CLASSES and max(values) == len(values) - 1 else 0


def scaffold_split(smiles: list[str]) -> Split:
    """Split 80/10/10; molecules of one Bemis-Murcko scaffold stay together: common ones train, rare ones test."""
    _rdkit()
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    groups: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(smiles):
        groups[MurckoScaffoldSmiles(smiles=text, includeChirality=True)].append(index)
    parts: list[list[int]] = [[], [], []]
    room = (0.8 * len(smiles), 0.1 * len(smiles), len(smiles))
    for members in sorted(groups.values(), key=lambda g: (-len(g), g[0])):
        next(part for part, most in zip(parts, room, strict=True) if len(part) + len(members) <= most).extend(members)
    return Split(*(torch.tensor(sorted(p), dtype=torch.long) for p in parts))
