"""
04 Molecules from a CSV
=======================

You learn: what a file of molecules must look like, how rows keep their names, how to look at the way from one molecule
to another, how to train on the file plainly and with augmentation, and the same in a loop of your own. It needs RDKit
(``pip install rdkit``). Run it: ``python examples/molecules_csv.py``
"""

import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch_geometric.loader import DataLoader

from epic import EPIC, UnitCost, edit_path
from epic.data import load, stratified_split
from epic.train import Training, backbone_for, train

# %%
# A header, a column of SMILES, and a column of labels. Labels may be words, 0/1 (empty where unknown) or real values; a
# column of names is kept. These are 209 small molecules, hydrophilic or lipophilic (by a computed logP).
file = Path(sys.argv[0]).parent / "molecules.csv"  # next to this script
print(*file.read_text().splitlines()[:4], sep="\n")
dataset = load(str(file))
names = [graph.name for graph in dataset]
print(f"{len(dataset)} molecules; classes {dataset.class_names}; row 60 is {names[60]}, {dataset[60].smiles}")

# %%
# A split by class, as ``epic compare`` draws them. ``epic train`` keeps molecules of one scaffold together: a harder
# test.
split = stratified_split(dataset.y[:, 0].long(), train=0.5, validation=0.25, seed=0)
training = dataset.graphs.select(split.train)
print({part: len(getattr(split, part)) for part in ("train", "validation", "test")})

# %%
# The path from one molecule to another, through valid molecules, when every edit costs the same:
source, target = (dataset[names.index(name)] for name in ("benzene acid", "cyclohexane amine"))
way = edit_path(source, target, UnitCost(), matching="edges", order="valid", seed=0)
print(way)
steps = list(dict.fromkeys(way.smiles(k) or "(not valid)" for k in range(len(way) + 1)))
print(" -> ".join(steps))
strip = way.plot(steps=5)

# %%
# One network trained plainly and one with graphs from such ways, on the same split. A difference on so few molecules
# and one seed may well be chance: ``epic compare molecules.csv --budget 10m`` says how sure it is.
augment = EPIC(UnitCost(), matching="edges", ratio=1.0, order="valid", seed=0).fit(training)
results = {}
for name, method in (("plain", None), ("with EPIC", augment)):
    model = backbone_for(training, outputs=dataset.outputs, seed=0, hidden_channels=32, num_layers=3, hidden=64)
    how = Training(epochs=30, batch_size=16, lr=3e-3, seed=0)
    results[name] = train(dataset, split=split, method=method, model=model, options=how, progress=False)
    print(f"{name}: test ROC-AUC {results[name].test:.3f} on {len(split.test)} molecules")

# %%
# The same in a loop of your own. Labels of two classes are one column of 0 and 1, so a new graph has a number between
# them, and the loss is ``F.binary_cross_entropy_with_logits``. Several tasks are several columns. Where a file leaves
# labels out they are NaN: sum the loss over ``batch.y.isfinite()`` alone.
torch.manual_seed(0)
loader = DataLoader([dataset[i] for i in split.train.tolist()], batch_size=16, shuffle=True)
model = backbone_for(training, outputs=dataset.outputs, seed=0, hidden_channels=32, num_layers=3, hidden=64)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(30):
    for batch in loader:
        batch = augment(batch)  # 16 molecules come in, 32 graphs go out
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(batch), batch.y)
        loss.backward()
        optimizer.step()
new = batch.y[batch.augmented, 0]
print(f"labels of the new graphs in the last batch: {[round(v, 2) for v in new.tolist()]}")
test = next(iter(DataLoader([dataset[i] for i in split.test.tolist()], batch_size=len(split.test))))
with torch.no_grad():
    right = int(((model.eval()(test) > 0) == (test.y > 0.5)).sum())
print(f"{right} of {len(split.test)} test molecules are classified right")
