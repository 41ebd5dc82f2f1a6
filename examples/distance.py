"""
01 Distance: how far apart two graphs are
=========================================

You learn: to count edits, to count edges too and read the bounds, and to learn from labels what an edit costs, so that
graphs of one class come near to each other. Run it: ``python examples/distance.py``
"""

import torch
from matplotlib.figure import Figure
from torch_geometric.data import Data

from epic import EdgeCost, LearnedCost, UnitCost, edit_distance
from epic.data import lollipop, lollipop_graph


def coloured(graph: Data, colours: int, generator: torch.Generator) -> Data:
    """Give each node one of some colours, at random."""
    drawn = torch.randint(colours, (graph.num_nodes,), generator=generator)
    graph.x = torch.nn.functional.one_hot(drawn, colours).float()
    return graph


# %%
# Two lollipops, cliques (the head) with a chain (the tail), all nodes of one colour. Turning one into the other takes
# two more nodes. ``UnitCost`` counts node operations. Substituting equal nodes is free, and edges have no price.
generator = torch.Generator().manual_seed(0)
small, large = (coloured(lollipop_graph(head, 3), 1, generator) for head in (4, 6))
by_nodes = UnitCost().distance(small, large)
print(f"nodes alone: {by_nodes:g}")

# %%
# With a price for edges it is the classical graph edit distance: two nodes and nine edges more. That is hard to compute
# in general, so the answer is a number that knows its bounds. ``edges`` is fast, ``exact`` goes on until it is proved.
fast = edit_distance(small, large, UnitCost(), method="edges", edge_cost=EdgeCost(1.0))
exact = edit_distance(small, large, UnitCost(), method="exact", edge_cost=EdgeCost(1.0), time_limit=10.0)
for found in (fast, exact):
    print(f"{found.method}: {float(found):g}, no less than {found.lower:g}, proved: {found.exact}")
print(f"the nodes of the small one become nodes {list(exact.match)} of the large one")

# %%
# Counting knows nothing of what matters. Here the class is the size of the head. The tail and three colours mean
# nothing. A learned cost finds that out from the labels.
train, test = ([coloured(g, 3, generator) for g in lollipop(count, seed=seed)] for count, seed in ((160, 0), (48, 1)))
test.sort(key=lambda graph: int(graph.y))
learned = LearnedCost().fit(train, progress=False, seed=0)
matrices = {
    "edits counted": UnitCost().distances(test, progress=False),
    "edits learned": learned.distances(test, progress=False),
}

# %%
# Distances of unseen graphs, sorted by class, for each node of the two: dark is near. With learned costs the four
# classes are four dark blocks. Counted edits see little of them.
sizes = torch.tensor([graph.num_nodes for graph in test])
figure = Figure(figsize=(8.4, 4), layout="constrained")
for axes, (name, matrix) in zip(figure.subplots(1, 2), matrices.items(), strict=True):
    axes.imshow(matrix / (sizes[:, None] + sizes), cmap="cividis")
    axes.set(title=name, xlabel="48 graphs by class", xticks=[], yticks=[])

# %%
# The same in numbers: how often is the nearest other graph of the same class?
same_class = {}
for name, matrix in matrices.items():
    nearest = matrix.fill_diagonal_(float("inf")).argmin(1)
    same_class[name] = sum(int(test[i].y) == int(test[j].y) for i, j in enumerate(nearest)) / len(test)
    print(f"{name}: the nearest graph is of the same class for {same_class[name]:.0%} of {len(test)}")
