"""Your own CSV of molecules: from SMILES and labels to classifiers trained plainly and with EPIC.

You learn: what the file must look like, how to load and split it, and how to train one model plainly and one with
augmentation on the same split. The molecules here are 64 everyday ones; the question is which are carboxylic acids. So
few say nothing about which way is better: see compare_methods.py for that. It needs RDKit (pip install
'epic-graph[mol]'). Run it: python examples/molecules_csv.py
"""

import argparse
import csv
import json
from pathlib import Path

from epic import EPIC
from epic.data import read_smiles, stratified_split
from epic.train import Training, backbone_for, train

ACIDS = """O=CO CC(=O)O CCC(=O)O CCCC(=O)O CC(O)C(=O)O CC(=O)C(=O)O OC(=O)CC(=O)O OC(=O)CCC(=O)O OC(=O)CCCC(=O)O
OC(=O)CCCCC(=O)O OC(=O)/C=C/C(=O)O OC(=O)CC(O)(CC(=O)O)C(=O)O OC(=O)c1ccccc1 OC(=O)c1ccccc1O OC(=O)Cc1ccccc1
OC(=O)/C=C/c1ccccc1 CC(=O)Oc1ccccc1C(=O)O CC(C)Cc1ccc(cc1)C(C)C(=O)O COc1ccc2cc(ccc2c1)C(C)C(=O)O OC(=O)c1cccnc1
NCC(=O)O CC(N)C(=O)O CC(C)C(N)C(=O)O NC(Cc1ccccc1)C(=O)O NC(Cc1ccc(O)cc1)C(=O)O NC(Cc1c[nH]c2ccccc12)C(=O)O
OC(C(=O)O)c1ccccc1 OC(=O)c1cc(O)c(O)c(O)c1 COc1cc(ccc1O)C(=O)O OC(=O)Cc1c[nH]c2ccccc12 OC(=O)CCl CC=CC=CC(=O)O"""
OTHERS = """CO CCO CC(C)O OCC(O)CO CC(C)=O CC=O CCOC(C)=O Cc1ccccc1 Oc1ccccc1 COc1ccccc1 Nc1ccccc1 O=Cc1ccccc1
COc1cc(C=O)ccc1O CC(=O)Nc1ccc(O)cc1 Cn1cnc2c1c(=O)n(C)c(=O)n2C CN1CCCC1c1cccnc1 CC(C)C1CCC(C)CC1O
CC1(C)C2CCC1(C)C(=O)C2 CC1=CCC(CC1)C(C)=C CC(C)=CCCC(C)=CCO COc1cc(CC=C)ccc1O C1CCCCC1 CCCCCC CCOCC
NCCc1ccc(O)c(O)c1 NCCc1c[nH]c2ccc(O)cc12 NCCc1c[nH]cn1 c1ccncc1 c1ccc2ccccc2c1 COC(=O)c1ccccc1O
CCN(CC)CC(=O)Nc1c(C)cccc1C CCOC(=O)c1ccc(N)cc1"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "molecules_csv")
    options.add_argument("--epochs", type=int, default=30)
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    # A header, a column `smiles`, and a column `label`: 0/1 (empty where unknown), or real values.
    path = args.out / "molecules.csv"
    rows = [*ACIDS.split(), *OTHERS.split()]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["smiles", "label"])
        writer.writerows([smiles, int(smiles in ACIDS.split())] for smiles in rows)

    # By default molecules of one scaffold stay together, which is right for real projects; most of these have none.
    dataset = read_smiles(path, split=None)
    split = stratified_split(dataset.y[:, 0].long(), train=0.5, validation=0.25, seed=0)
    sizes = ", ".join(f"{len(getattr(split, part))} {part}" for part in ("train", "validation", "test"))
    print(f"{len(dataset)} molecules ({sizes}), task {dataset.task}; unreadable SMILES: {dataset.notes or 'none'}")

    # What edits cost is learned from the training molecules alone.
    training = dataset.graphs.select(split.train)
    augment = EPIC(ratio=0.5, seed=0).fit(training, epochs=10, progress=False)
    aspirin, paracetamol = (rows.index(s) for s in ("CC(=O)Oc1ccccc1C(=O)O", "CC(=O)Nc1ccc(O)cc1"))
    way = augment.path(dataset.graphs.graph(aspirin), dataset.graphs.graph(paracetamol), seed=0)
    print(f"\nfrom aspirin to paracetamol: {way}\n")

    results = {}
    how = Training(epochs=args.epochs, batch_size=16, lr=3e-3, seed=0)
    for name, method in (("vanilla", None), ("epic", augment)):
        model = backbone_for(training, outputs=dataset.outputs, seed=0, hidden_channels=32, num_layers=3, hidden=64)
        result = train(dataset, split=split, method=method, model=model, options=how, progress=False)
        results[name] = {"validation": result.validation, "test": result.test, "best_epoch": result.best_epoch}
        print(f"{name:<8} test ROC-AUC {result.test:.3f} (epoch {result.best_epoch}, best on validation)")
    print(f"A difference on {len(split.test)} molecules and one seed may well be chance.")
    (args.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")

    way.save(args.out / "path.html", title="From aspirin to paracetamol", ends=("aspirin", "paracetamol"))
    print(f"\nOn the command line, with a scaffold split: epic train {path} --method epic")
    print(f"wrote {path}, results.json and path.html (each step drawn, and marked valid or not)")


if __name__ == "__main__":
    main()
