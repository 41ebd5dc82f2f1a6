"""Which atoms and bonds the labels of a TU set stand for, from the text file that is published with it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

SYMBOLS = frozenset(
    """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo
    Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl
    Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og
    """.split()
)
BONDS = {"1": "single", "2": "double", "3": "triple", "4": "aromatic"}
BONDS |= {word: word for word in BONDS.values()}
HEAD = re.compile(r"^\s*(node|edge|class) labels(?=\s*:|\s+were)", re.IGNORECASE)
ENTRY = re.compile(r"^\s*(-?\d+)\s+(\S+)\s*$")


def read_label_map(root: Path, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the element of each node label and the bond of each edge label, in the order of one-hot columns.

    They stand in a text file with ``readme`` in its name, such as ``<name>_label_readme.txt``, in lines such as
    ``0  C`` under ``Node labels:``. The text of NCI1 has none.

    Args:
        root: The folder of the set's files.
        name: The name of the set.

    Returns:
        Elements, and bonds (``single``, ``double``, ``triple``, ``aromatic``). Each is empty if the file does not say,
        or says anything else.
    """
    atoms: tuple[str, ...] = ()
    bonds: tuple[str, ...] = ()
    texts = (file for file in root.glob("*.txt") if "readme" in file.name.lower() and file.is_file())
    for file in sorted(texts, key=lambda file: ("label" not in file.name, file.name)):
        said = parse_label_map(file.read_text(encoding="utf-8", errors="replace"))
        atoms = atoms or _columns(
            root / f"{name}_node_labels.txt", {k: v for k, v in said["node"].items() if v in SYMBOLS}
        )
        kinds = {k: BONDS[v.lower()] for k, v in said["edge"].items() if v.lower() in BONDS}
        bonds = bonds or _columns(root / f"{name}_edge_labels.txt", kinds)
    return atoms, bonds if atoms else ()


def parse_label_map(text: str) -> dict[str, dict[int, str]]:
    """Return what the labels of nodes, edges and classes stand for, as far as a text says.

    >>> parse_label_map("Node labels:\\n\\n  0  C\\n  1  N\\nEdge labels:\\n  0  single\\n")
    {'node': {0: 'C', 1: 'N'}, 'edge': {0: 'single'}, 'class': {}}
    """
    found: dict[str, dict[int, str]] = {"node": {}, "edge": {}, "class": {}}
    part = None
    for line in text.splitlines():
        head, entry = HEAD.match(line), ENTRY.match(line)
        if head:
            part = head[1].lower()
        elif part and entry:
            found[part].setdefault(int(entry[1]), entry[2])
        elif re.match(r"\s*Component [1-9]", line):
            part = None  # labels of several parts: the first one names the element
    return found


def _columns(file: Path, names: dict[int, str]) -> tuple[str, ...]:
    """Return the names of the labels in a file in rising order; empty if one of them has none."""
    if not names or not file.is_file():
        return ()
    try:
        labels = np.unique(np.array(file.read_text(encoding="utf-8").split(), dtype=np.int64))
    except (ValueError, OverflowError):
        return ()  # several parts in a line
    found = tuple(names.get(label, "") for label in labels.tolist())
    return found if all(found) else ()
