"""Write ``examples/molecules.csv``: molecules made by joining frames and groups, and whether they like fat or water.

    python benchmarks/molecules_csv.py

Every molecule is a frame with one functional group. The label is a fact that RDKit computes: Crippen's logP, the
logarithm of how much more dissolves in octanol than in water, above the median of all or not.
"""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import median

OUT = Path(__file__).parents[1] / "examples" / "molecules.csv"

FRAMES = {
    "methane": "C",
    "ethane": "CC",
    "propane": "CCC",
    "isopropane": "CC(C)",
    "butane": "CCCC",
    "isobutane": "CC(C)C",
    "pentane": "CCCCC",
    "hexane": "CCCCCC",
    "octane": "CCCCCCCC",
    "allyl": "C=CC",
    "cyclopentane": "C1CCCC1",
    "cyclohexane": "C1CCCCC1",
    "benzene": "c1ccccc1",
    "toluene": "Cc1ccc(cc1)",
    "anisole": "COc1ccc(cc1)",
    "phenol": "Oc1ccc(cc1)",
    "naphthalene": "c1cccc2c1cccc2",
    "pyridine": "c1ccncc1",
    "thiophene": "c1ccsc1",
}
"""The group is bound to the last atom that is written, or to the atom before a ring bond is closed."""
GROUPS = {
    "alcohol": "O",
    "amine": "N",
    "dimethylamine": "N(C)C",
    "acid": "C(=O)O",
    "amide": "C(=O)N",
    "methyl ester": "C(=O)OC",
    "ketone": "C(=O)C",
    "nitrile": "C#N",
    "chloride": "Cl",
    "thioether": "SC",
    "sulfonamide": "S(=O)(=O)N",
}


def molecules() -> list[tuple[str, str, str]]:
    """Return SMILES, name and label of every molecule, each once, in a fixed order."""
    from rdkit import Chem
    from rdkit.Chem.Crippen import MolLogP

    found: dict[str, tuple[str, float]] = {}
    for frame, core in FRAMES.items():
        for group, end in GROUPS.items():
            mol = Chem.MolFromSmiles(core + end)
            found.setdefault(Chem.MolToSmiles(mol), (f"{frame} {group}", MolLogP(mol)))
    middle = median(value for _, value in found.values())
    return [(s, name, "lipophilic" if value > middle else "hydrophilic") for s, (name, value) in found.items()]


if __name__ == "__main__":
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["smiles", "name", "label"])
        writer.writerows(molecules())
    print(f"wrote {OUT}")
