"""Files of molecules as tables: CSV and TSV with a header, SMI, SDF."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epic.errors import InputError, choose

TABLES = (".csv", ".tsv", ".smi", ".sdf")
"""How the names of files of molecules end."""
LABELS = ("label", "y", "target", "class")
NAMES = (r"(.*[ _-])?name", "title", "compound|molecule|drug|ligand", r"(.*[ _-])?id")
"""Columns of names, the most likely first."""
UNNAMED = r"(unnamed: ?\d+)?"  # the row numbers that pandas writes


@dataclass(frozen=True)
class Row:
    """A molecule as its file has it.

    Attributes:
        number: Its number from 0; a header and blank lines do not count.
        where: Its line or record, for messages.
        cells: Texts by the names of their columns.
    """

    number: int
    where: str
    cells: dict[str, str]


def rdkit() -> Any:
    """Return ``rdkit.Chem``, silenced, or say how to install it."""
    try:
        from rdkit import Chem, RDLogger
    except ImportError as error:
        raise InputError("reading molecules needs RDKit: pip install rdkit (extra mol)") from error
    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    return Chem


def read_table(path: Path) -> tuple[list[str], list[Row]]:
    """Return the columns and rows of a file, by the end of its name.

    A CSV or TSV has a header; its cells are separated by commas, semicolons or tabs, whichever the header has most of.
    A line of an SMI file is a SMILES and a name, or (separated by tabs) a SMILES, a name and a label. Properties of an
    SDF record are columns.

    Raises:
        InputError: The file cannot be read, or a line has more cells than the header.
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    if path.suffix.lower() == ".sdf":
        return _sdf(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        code = "utf-16" if error.object.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin1"
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#x}): save it as UTF-8, or, if it is {code}, "
            f"run `iconv -f {code} -t utf-8 {path.name}`"
        ) from error
    added, mark, quoting = 0, _separator(text), csv.QUOTE_MINIMAL
    if path.suffix.lower() == ".smi":
        (added, text), mark, quoting = _with_header(text), "\t", csv.QUOTE_NONE
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, quoting=quoting)  # type: ignore[arg-type]
    header: list[str] = []
    rows: list[Row] = []
    try:
        for line in reader:
            cells = [cell.strip() for cell in line]
            if not header:
                header = cells
                if twice := sorted({h for h in header if header.count(h) > 1}):
                    named = ", ".join(map(repr, twice))
                    raise InputError(f"{path} has several columns {named}: give each its own name")
            elif any(cells):
                where = f"line {reader.line_num - added}"
                if any(cells[len(header) :]):
                    raise InputError(
                        f"{path}, {where} has {len(cells)} cells and the header has {len(header)}: put text that holds "
                        f"{mark!r} in double quotes"
                    )
                rows.append(Row(len(rows), where, dict(zip(header, cells + [""] * len(header), strict=False))))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num} cannot be read: {error}") from error
    return header, rows


def _separator(text: str) -> str:
    """Return what separates most cells in the first line.

    >>> _separator("smiles;name, or none;y")
    ';'
    """
    first = next((line for line in text.splitlines() if line.strip()), "")[: csv.field_size_limit()]
    return max(",;\t", key=lambda mark: len(next(csv.reader([first], delimiter=mark), [])))


def _with_header(text: str) -> tuple[int, str]:
    """Return an SMI file as a TSV with a header, and the number of lines that were added for it."""
    lines = text.splitlines()
    if lines and "smiles" in lines[0].lower():
        return 0, "\n".join(lines if "\t" in lines[0] else ["\t".join(line.split()) for line in lines])
    if not any("\t" in line for line in lines):
        lines = ["\t".join(line.split(maxsplit=1)) for line in lines]
    width = max((line.count("\t") + 1 for line in lines), default=1)
    header = ["smiles", "name", "label", *(f"column {i}" for i in range(4, width + 1))]
    return 1, "\n".join(["\t".join(header[:width]), *lines])


def _sdf(path: Path) -> tuple[list[str], list[Row]]:
    chem = rdkit()
    try:
        molecules = list(chem.SDMolSupplier(str(path)))
    except OSError as error:
        raise InputError(f"{path} is no SDF file ({error})") from error
    rows = []
    for number, mol in enumerate(molecules):
        cells = {"smiles": ""}
        if mol is not None:
            title = mol.GetProp("_Name").strip() if mol.HasProp("_Name") else ""
            own = {name: mol.GetProp(name).strip() for name in mol.GetPropNames()}
            cells = {**own, "smiles": chem.MolToSmiles(mol), **({"name": title} if title else {})}
        rows.append(Row(number, f"record {number}", cells))
    header = list(dict.fromkeys(name for row in rows for name in row.cells))
    return header, [Row(r.number, r.where, {h: r.cells.get(h, "") for h in header}) for r in rows]


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are what.

    Attributes:
        smiles: The column of SMILES.
        targets: The columns to predict; there may be none.
        name: The column of names, if there is one.
        note: What was guessed by the look of cells; empty if nothing was.
    """

    smiles: str
    targets: list[str]
    name: str | None
    note: str = ""


def find_columns(
    path: Path, header: list[str], rows: list[Row], *, smiles: str | None, target: str | Sequence[str] | None
) -> Columns:
    """Tell columns by what they are called, and SMILES also by their look.

    Raises:
        InputError: A column that was asked for is not there, or the columns leave a choice.
    """
    asked = [target] if isinstance(target, str) else list(target or ())
    note = ""
    if smiles is not None:
        alike = [h for h in header if h.lower() == smiles.lower()]
        column = smiles if smiles in header or not alike else alike[0]
        choose(column, header, f"column of {path}")
    elif named := [h for h in header if h.lower() == "smiles"] or [h for h in header if "smiles" in h.lower()]:
        column = named[0]
    else:
        column = _looks_like_smiles(path, [h for h in header if h not in asked], rows)
        note = f"column {column!r} is taken for the SMILES"
    others = [h for h in header if h != column and not re.fullmatch(UNNAMED, h, re.IGNORECASE)]
    targets = [choose(name, others, f"label column of {path}") for name in asked]
    free = [h for h in others if h not in targets]
    if not targets:
        targets = [h for h in free if h.lower() in LABELS][:1]
    free = [h for h in free if h not in targets]
    name = next((h for known in NAMES for h in free if re.fullmatch(known, h, re.IGNORECASE)), None)
    free = [h for h in free if h != name]
    if not targets and len(free) > 1:
        raise InputError(
            f"{path} has no column label, y, target or class: name it with --target (target= in Python), "
            f"among {', '.join(free)}"
        )
    return Columns(column, targets or free, name, note)


def _looks_like_smiles(path: Path, header: list[str], rows: list[Row]) -> str:
    """Return the column of the longest texts among those that RDKit can mostly parse (it parses N and P, too)."""
    parse = rdkit().MolFromSmiles

    def length(column: str) -> int:
        texts = [row.cells[column] for row in rows[:100] if row.cells[column]]
        parsed = [text for text in texts if parse(text) is not None]
        return sum(map(len, parsed)) if 2 * len(parsed) > len(texts) else 0

    best = max(header, key=length, default="")
    if not best or not length(best):
        raise InputError(f"{path} has no column of SMILES. Its columns: {', '.join(header) or 'none'}")
    if parse(best) is not None:
        raise InputError(
            f"the first line of {path} holds the molecule {best}: write a header above it, as smiles,label"
        )
    return best
