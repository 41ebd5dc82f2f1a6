"""
06 Is it better?
================

You learn: to ask ``epic.compare`` whether augmentation helps on your own file with your own network, and to read its
answer: a difference to plain training, an interval, a verdict, and often "no evidence". It needs RDKit
(``pip install rdkit``). Run it: ``python examples/compare_methods.py``
"""

import sys
from pathlib import Path
from tempfile import mkdtemp

import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch_geometric.nn import GIN, global_add_pool

import epic
from epic.data import lollipop

folder = Path(mkdtemp())
molecules = Path(sys.argv[0]).parent / "molecules.csv"  # next to this script


# %%
# Your network is called with the number of columns of ``x`` and the number of outputs. Molecules from a CSV have atoms
# as categories; a real network would embed them.
class Net(torch.nn.Module):
    def __init__(self, features: int, outputs: int) -> None:
        super().__init__()
        self.layers = GIN(features, 32, num_layers=2)
        self.out = torch.nn.Linear(32, outputs)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        return self.out(global_add_pool(self.layers(x.float().log1p(), edge_index), batch))


# %%
# Every method meets the same splits and the same initial weights, and takes the same number of gradient steps. Runs are
# kept in a file, so the same question goes on where it stopped. Here training is short, with one seed a split and
# untuned settings: it shows how to compare, not which method is good. By default there are three seeds a split, three
# settings to try and 5,000 updates; ``budget="30m"`` cuts that to the time you have. ``epic_edges`` is EPIC with unit
# costs, which are not learned, along paths that keep edges: the recipe of :doc:`the study </study>`.
short = {"model": Net, "seeds": 1, "tune": 0, "updates": 100, "progress": False, "results": folder / "runs.jsonl"}
methods = ["drop_edge", "epic_edges"]
found = epic.compare(molecules, methods, splits=5, **short)
for row in found.rows:
    print(f"{row.method}: {row.score:.1f} % ROC-AUC; {row.verdict}")

# %%
# ``print(found)`` shows the whole table, with times and settings. ``counts`` and ``ecfp`` are classifiers without a
# network, by counts of atoms and by circular fingerprints. A network that does not beat them has learned little, and
# then it matters little what is done to its training graphs.
#
# An interval that contains zero means that chance alone makes such differences. It is wide for good reasons: a split
# has 42 test molecules, and training sets of two splits overlap (:doc:`/how_it_works`).
figure = Figure(figsize=(8, 3.4), layout="constrained")
three = epic.compare(molecules, methods, splits=3, **short)  # nothing is run: these runs are there
for axes, (count, study) in zip(figure.subplots(1, 2, sharex=True), {3: three, 5: found}.items(), strict=True):
    study.draw(axes)
    axes.set_title(f"{count} splits")

# %%
# How little do three splits say? These are the same runs, and the first three splits alone. Below three there is no
# verdict at all, only a banner that says so:
one = epic.compare(molecules, methods, splits=1, **short)
print(one.banner)
for row in one.rows[1:3]:
    print(f"{row.method}: {row.verdict}")

# %%
# So do not try method after method until one wins: of twenty that do nothing, one is below p = 0.05 by chance. Name the
# methods first and ask once. Verdicts are corrected for how many you named.
#
# A **learning curve** says more with the same data: few graphs are labelled, and all others are test. It also says what
# a method is worth in labelled graphs. The graphs here are cliques with a chain, and the class is the size of the
# clique. Nodes have random colours that mean nothing, but ``epic_unit``, which sees nodes alone, pays for colours and
# for nothing else.
generator = torch.Generator().manual_seed(0)
graphs = lollipop(400, seed=0)
for graph in graphs:
    graph.x = F.one_hot(torch.randint(3, (graph.num_nodes,), generator=generator), 3).float()
curve = epic.compare(graphs, ["epic_unit"], sizes=[48, 96, 192], splits=4, **short)
learning_curve = Figure(figsize=(8, 3.8), layout="constrained")
curve.draw(learning_curve.add_subplot())
for line in curve.lines():
    print(line)

# %%
# Bands are 95 % intervals over four draws. Methods are judged by differences on the same draw, which vary less than the
# bands. A method can hurt, and a curve is what shows it. More draws, seeds and updates, and your own graphs, make it an
# answer:
#
# .. code-block:: bash
#
#    epic compare mine.csv --methods epic_edges,submix --sizes 100,200,400,all --budget 2h --page curves.html
(folder / "page.html").write_text(curve.page(), encoding="utf-8")
print("page.html has the verdicts, the picture, the table and the command")
