"""
11 Molecules: from one drug to another, by molecules
====================================================

You learn: to find an edit path whose graphs are valid molecules, to read and draw them, and to augment a batch of
molecules by molecules. It needs RDKit (``pip install rdkit``). Run it: ``python examples/drug_to_drug.py``
"""

import torch
from matplotlib.figure import Figure
from rdkit.Chem import Draw
from torch_geometric.data import Batch

from epic import EPIC, UnitCost, edit_path
from epic.data.chemistry import molecule_of
from epic.data.smiles import molecule

# %%
# Two painkillers. Both have a benzene ring with two chains opposite each other.
paracetamol = molecule("CC(=O)Nc1ccc(O)cc1")
ibuprofen = molecule("CC(C)Cc1ccc(cc1)C(C)C(=O)O")

# %%
# An edit path may do its operations in any order, and a random one takes the molecule apart: carbon atoms get five
# bonds, and half of an aromatic ring is no ring. Two arguments help. ``matching="edges"`` changes few bonds.
# ``order="valid"`` kekulises both molecules and searches for an order in which valences hold at every step.
paths = {
    "random": edit_path(paracetamol, ibuprofen, UnitCost(), seed=0),
    "valid": edit_path(paracetamol, ibuprofen, UnitCost(), matching="edges", order="valid", seed=0),
}
for name, path in paths.items():
    print(f"order {name}: {sum(path.valid)} of {len(path.valid)} graphs are valid molecules")

# %%
# Many operations replace an atom by an equal one and change nothing yet. These steps make another molecule:
path = paths["valid"]
steps = [k for k in range(len(path) + 1) if k == 0 or path.smiles(k) != path.smiles(k - 1)]
for k in steps:
    operation = f"{path.operations[k - 1].kind} an atom" if k else "paracetamol"
    print(f"{k:>3}  {operation:<20} {path.smiles(k)}")

# %%
# Drawn by RDKit: the amide grows to propionamide, the phenol becomes the isobutyl chain atom by atom, the amide an
# ester, and in the last step the ester turns into the acid.
figure = Figure(figsize=(9, 5), layout="constrained")
for axes, k in zip(figure.subplots(2, -(-len(steps) // 2)).flat, steps, strict=False):
    axes.imshow(Draw.MolToImage(path.molecule(k), size=(400, 400)))
    axes.set_title(f"step {k}: {path.fraction(k):.0%} of the cost", fontsize=9)
for axes in figure.axes:
    axes.set_axis_off()

# %%
# The same in training: ``EPIC(order="valid")`` draws only graphs that are valid and connected, where a path has any.
# Their features of atoms and bonds are those of the new molecule: aromatic systems, hydrogens, rings.
painkillers = ["CC(=O)Oc1ccccc1C(=O)O", "COc1ccc2cc(ccc2c1)C(C)C(=O)O", "OC(=O)Cc1ccccc1Nc1c(Cl)cccc1Cl"]
stimulants = ["Cn1cnc2c1c(=O)n(C)c(=O)n2C", "CN1CCCC1c1cccnc1", "CC(N)Cc1ccccc1"]
graphs = [molecule(smiles) for smiles in painkillers + stimulants]
for number, graph in enumerate(graphs):
    graph.y = torch.tensor([number // 3])
augment = EPIC(UnitCost(), ratio=1.0, num_classes=2, matching="edges", order="valid", seed=0)
new = augment(Batch.from_data_list(graphs)).to_data_list()[len(graphs) :]
pictures = Figure(figsize=(9, 6), layout="constrained")
for axes, graph in zip(pictures.subplots(2, 3).flat, new, strict=True):
    axes.imshow(Draw.MolToImage(molecule_of(graph), size=(400, 400)))
    axes.set_title(f"painkiller {graph.y[0, 0]:.2f}, stimulant {graph.y[0, 1]:.2f}", fontsize=9)
    axes.set_axis_off()
