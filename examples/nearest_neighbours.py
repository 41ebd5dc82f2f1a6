"""
07 Neighbours and kernels in scikit-learn
=========================================

You learn: to classify graphs by distances that your labels see, with nearest neighbours and with a kernel, in
scikit-learn's manner, to mix them with a trained network, and to read the edit path to a neighbour as the reason for an
answer.
Run it: ``python examples/nearest_neighbours.py``
"""

import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from sklearn.model_selection import cross_val_score
from torch_geometric.data import Data

from epic import EditBlend, EditKernelClassifier, EditNeighbors, UnitCost, pack
from epic.data import Dataset, Split, lollipop
from epic.train import Training, backbone_for
from epic.train import train as train_network


def coloured(count: int, seed: int) -> list[Data]:
    """Cliques with a chain: the class is the clique's size. Nodes have one of three colours, which mean nothing."""
    generator = torch.Generator().manual_seed(seed)
    graphs = lollipop(count, seed=seed)
    for graph in graphs:
        graph.x = F.one_hot(torch.randint(3, (graph.num_nodes,), generator=generator), 3).float()
    return graphs


# %%
# One model counts edits, the other learns from the classes what they cost.
train, test = coloured(160, seed=0), coloured(60, seed=1)
counted = EditNeighbors(cost=UnitCost(), n_neighbors=1, progress=False).fit(train)
learned = EditNeighbors(n_neighbors=1, seed=0, progress=False).fit(train, epochs=10)
scores = {"neighbours, edits counted": counted.score(test), "neighbours, edits learned": learned.score(test)}

# %%
# A support vector machine on the kernel exp(-gamma d) of the same distances; gamma and C are chosen by cross-validation
# inside ``fit``, and the probabilities are calibrated.
kernel = EditKernelClassifier(cost=learned.cost_, seed=0, progress=False).fit(train)
scores["kernel, edits learned"] = kernel.score(test)
for name, score in scores.items():
    print(f"{name}: {score:.0%} of {len(test)} test graphs right")
print("probabilities of the first:", [round(p, 2) for p in kernel.predict_proba(test)[0].tolist()])

# %%
# A network mixed with the kernel, the best classifier of :doc:`the study </study>`. Both sides are calibrated, and the
# weight is chosen on validation graphs that neither was trained on. Any module that takes a ``Batch`` will do.
validation = coloured(60, seed=2)
everything = Dataset("lollipops", pack(train + validation + test), "classes")
network = backbone_for(pack(train), outputs=4, seed=0, hidden_channels=32, num_layers=3)
split = Split(*torch.arange(len(everything)).split([len(train), len(validation), len(test)]))
train_network(everything, split=split, model=network, options=Training(epochs=8), progress=False)
blend = EditBlend(network, kernel).fit(validation)
alone = EditBlend(network, kernel, weight=0.0).fit(validation)
print(f"network {alone.score(test):.0%}, kernel {kernel.score(test):.0%}, blend {blend.score(test):.0%}", end="; ")
print(f"the kernel has a share of {blend.weight_:.2f}")

# %%
# They are scikit-learn classifiers, so what works there works here. Graphs are lists of PyG's ``Data``.
labels = [int(graph.y) for graph in train]
folds = cross_val_score(EditNeighbors(cost=UnitCost(), progress=False), train, labels, cv=3)
print(f"counted edits, three folds: {folds.mean():.0%}")

# %%
# How far is the nearest training graph of each class? Rows are classes of test graphs. With learned costs every class
# is nearest to itself.
classes, known = torch.tensor([int(g.y) for g in test]), torch.tensor(labels)
tables = {}
figure = Figure(figsize=(8, 3.4), layout="constrained")
for axes, (name, model) in zip(figure.subplots(1, 2), {"counted": counted, "learned": learned}.items(), strict=True):
    distances = model.cost_.distances(test, train, progress=False)
    nearest_of = torch.stack([distances[:, known == c].amin(1) for c in range(4)], 1)
    table = tables[name] = torch.stack([nearest_of[classes == c].mean(0) for c in range(4)])
    axes.imshow(table, cmap="cividis")
    for row, column in torch.cartesian_prod(torch.arange(4), torch.arange(4)).tolist():
        axes.text(column, row, f"{table[row, column]:.1f}", ha="center", va="center", color="white")
    axes.set(title=f"edits {name}", xlabel="nearest training graph of class", ylabel="test graphs of class")
    own = int((table.argmin(1) == torch.arange(4)).sum())
    print(f"edits {name}: {own} of 4 classes are nearest to themselves")

# %%
# Why does the model say so? The edit path to the neighbour tells what would have to change, and how much that costs.
query = test[0]
print(f"a test graph of class {int(query.y)} with {query.num_nodes} nodes, and its neighbours:")
near = learned.neighbors(query, n_neighbors=3)
for each in near:
    print(f"graph {each.index} of class {each.label}, {each.graph.num_nodes} nodes, distance {each.distance:.3f}")
print(f"the path to the nearest: {near[0].path}")
