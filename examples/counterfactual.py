"""
03 Counterfactual: a small change that changes the answer
=========================================================

You learn: to ask why a trained model answered as it did, by the cheapest edits found that make it answer otherwise, and
to read which nodes they touch. Run it: ``python examples/counterfactual.py``
"""

import networkx
import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, global_add_pool
from torch_geometric.transforms import OneHotDegree

from epic import EPIC, counterfactual
from epic.data import lollipop

degrees = OneHotDegree(8, cat=False)

# %%
# A model to explain: a small GIN that learns the size of a lollipop's head, the clique. The tail means nothing. Nodes
# know their degrees only.
torch.manual_seed(0)
train = [degrees(graph) for graph in lollipop(160, seed=0)]


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = GIN(9, 32, num_layers=2)
        self.out = torch.nn.Linear(32, 4)

    def forward(self, batch: Batch) -> torch.Tensor:
        return self.out(global_add_pool(self.layers(batch.x, batch.edge_index), batch.batch))


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(30):
    for batch in DataLoader(train, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        F.cross_entropy(model(batch), batch.y).backward()
        optimizer.step()
test = [degrees(graph) for graph in lollipop(80, seed=1)]
with torch.no_grad():
    answers = model(Batch.from_data_list(test)).argmax(1)
right = sum(int(graph.y) == int(answer) for graph, answer in zip(test, answers, strict=True))
print(f"{right} of {len(test)} unseen graphs are classified right")

# %%
# Edits should cost what the labels say they matter, so the cost is learned too. Degrees change with the edits:
# ``refresh`` computes them again before the model sees a graph.
augment = EPIC(degree_features=True, seed=0).fit(train, epochs=10, progress=False)
refresh = augment.found_.degrees.refresh

# %%
# Take a graph of class 0 (a clique of 4). What has to change until the model says class 1? ``matching="edges"`` keeps
# structure: nodes that stay in their place are not torn out of it. A model with one output says yes, class 1, where it
# is positive; ``target`` may then be left out, and so may ``finish`` without degree features. A changed molecule need
# not be a valid one: look at ``found.path.valid[found.step]``.
graph = next(g for g, answer in zip(test, answers, strict=True) if answer == 0 and int(g.y) == 0)
found = counterfactual(graph, model, reference=train, cost=augment.cost_, target=1, matching="edges", finish=refresh)
print(found)
for operation in found.operations:
    print(operation)

# %%
# Before and after. Red marks what is new: a fifth node joins the clique, though not with all its edges, which is enough
# for the model. The tail stays as it is, although the reference graph has another one: the model does not ask for that.
figure = Figure(figsize=(8, 3.6), layout="constrained")


def draw(axes, shown: Data, title: str, red: set[int]) -> None:
    """Draw a graph by its own layout; some nodes in red."""
    drawing = networkx.Graph(shown.edge_index.t().tolist())
    at = networkx.kamada_kawai_layout(drawing)
    colours = ["tab:red" if node in red else "tab:gray" for node in drawing]
    networkx.draw_networkx(drawing, at, ax=axes, node_color=colours, with_labels=False, node_size=90)
    axes.set(title=title)
    axes.axis("off")


left, right_side = figure.subplots(1, 2)
new = {i for i, node in enumerate(found.graph.source_node.tolist()) if node < 0}
draw(left, graph, f"the model says class {found.before}", set())
draw(right_side, found.graph, f"after {found.step} operations: class {found.after}", new)

# %%
# The same for all unseen graphs of class 0: how much of the path to the nearest graph of class 1 does the model need?
shares = []
for graph, answer in zip(test, answers, strict=True):
    if answer == 0:
        each = counterfactual(
            graph, model, reference=train, cost=augment.cost_, target=1, k=1, tries=2, matching="edges", finish=refresh
        )
        shares.append(each.step / max(1, len(each.path)))
print(f"{len(shares)} graphs: on average {sum(shares) / len(shares):.0%} of the operations are needed")
