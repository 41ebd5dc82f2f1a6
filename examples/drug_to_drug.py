"""
11 Molecules: from one drug to another, through valid molecules
===============================================================

You learn: to find an edit path whose graphs are valid molecules, to read and draw them, and to augment a batch of
molecules with valid molecules. It needs RDKit (``pip install rdkit``). Run it: ``python examples/drug_to_drug.py``
"""

from io import BytesIO

import torch
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.image import imread
from rdkit.Chem.Draw.rdMolDraw2D import MolDraw2DCairo
from torch_geometric.data import Batch

from epic import EPIC, UnitCost, edit_path
from epic.data import molecule, molecule_of

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
# Drawn by RDKit. Above, the matching: atoms of one number replace each other, and atoms without one are deleted or
# inserted. Below, the path: the amide grows to propionamide, the phenol becomes the isobutyl chain atom by atom, the
# amide an ester, and in the last step the ester turns into the acid.
def draw(axes, mol, title, colours=None, *, bond=32, size=(400, 220)):
    """Draw a molecule with some of its atoms coloured."""
    canvas, colours = MolDraw2DCairo(*size), colours or {}
    canvas.drawOptions().fixedBondLength = bond
    canvas.DrawMolecule(mol, highlightAtoms=list(colours), highlightAtomColors=colours, highlightBonds=[])
    canvas.FinishDrawing()
    axes.imshow(imread(BytesIO(canvas.GetDrawingText())))
    axes.set_title(title, fontsize=9)
    axes.set_axis_off()


kept = [op for op in path.operations if op.kind == "substitute"]
figure = Figure(figsize=(9, 5.4), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=(1, 1.3))
ends = {"source": (paracetamol, "source: paracetamol"), "target": (ibuprofen, "target: ibuprofen")}
for axes, (end, (graph, title)) in zip(above.subplots(1, 2), ends.items(), strict=True):
    mol, colours = molecule_of(graph), {}
    for number, op in enumerate(kept):
        atom = getattr(op, end)
        colours[atom] = (*colormaps["rainbow"](number / len(kept))[:3], 0.5)
        mol.GetAtomWithIdx(atom).SetProp("atomNote", str(number + 1))
    draw(axes, mol, title, colours, bond=44, size=(660, 270))
for axes, k in zip(below.subplots(2, -(-len(steps) // 2)).flat, steps, strict=False):
    draw(axes, path.molecule(k), f"step {k}: {path.fraction(k):.0%} of the cost")

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
    draw(axes, molecule_of(graph), f"painkiller {graph.y[0, 0]:.2f}, stimulant {graph.y[0, 1]:.2f}")
