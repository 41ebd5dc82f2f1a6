"""
08 A cost of your own
=====================

You learn: the two functions that state what an edit costs, what they enable (distances, paths, augmentation), and how
to save a cost of your own. Run it: ``python examples/your_own_cost.py``
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from torch import Tensor
from torch_geometric.data import Batch

from epic import EPIC, Cost, PackedGraphs, UnitCost, edit_path
from epic.costs import NodeCosts
from epic.data import lollipop, lollipop_graph

# %%
# Count edits of nodes and, through the degrees, edits of edges. A deleted node takes its edges with it, and a
# substituted node keeps as many as its new degree allows. An edge has two ends, and each of them is charged half of its
# price. The sum is never more than the classical edit distance, which looks at the edges themselves and is hard to
# compute.


class DegreeCost(Cost):
    """A node costs 1, and each of its edges ``edge``, half at either end."""

    kind = "degree"  # the name in saved files
    symmetric = True  # u into v costs what v into u does: half of a distance matrix is then mirrored

    def __init__(self, *, edge: float = 1.0) -> None:
        self.edge = edge

    def embed(self, graphs: PackedGraphs) -> NodeCosts:
        """A vector for each node, and what deleting and inserting it costs. All graphs lie in a few long tensors."""
        degree = graphs.degree().float()
        price = 1 + self.edge / 2 * degree
        return NodeCosts(degree[:, None], price, price, graphs.ptr)

    def substitution(self, source: Tensor, target: Tensor) -> Tensor:
        """Prices [..., n, m] of turning nodes with vectors [..., n, 1] into nodes with vectors [..., m, 1]."""
        return self.edge / 2 * (source - target.transpose(-1, -2)).abs()

    # Needed only to save the cost, or an augmentation that uses it.
    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        return {}, {"edge": self.edge}

    @classmethod
    def from_state(cls, tensors: dict[str, Tensor], header: dict[str, Any]) -> "DegreeCost":
        return cls(edge=header["edge"])


# %%
# Distances follow: of two graphs, of all pairs, and to the nearest.
cost = DegreeCost()
small, large = lollipop_graph(4, 3, label=0), lollipop_graph(6, 3, label=1)
own, unit = cost.distance(small, large), UnitCost().distance(small, large)
print(f"from a head of 4 to a head of 6: {own:g}, and {unit:g} by unit cost, which sees degrees and no edges")
graphs = lollipop(24, seed=0)
print(f"mean distance of {len(graphs)} graphs: {cost.distances(graphs, progress=False).mean():.2f}")
nearest = cost.nearest(graphs, k=1, progress=False)
print(f"the nearest of graph 0 is graph {int(nearest.index[0, 0])}, at {float(nearest.distance[0, 0]):g}")

# %%
# So does a path: the cheapest edits, and every graph on the way.
path = edit_path(small, large, cost=cost, seed=0)
print(path)
strip = path.plot(steps=5)

# %%
# And augmentation: EPIC with this cost in place of a learned one.
augment = EPIC(cost=cost, ratio=0.5).fit(graphs)
batch = augment(Batch.from_data_list(graphs))
print(f"a batch of {len(graphs)} graphs becomes one of {batch.num_graphs}")

# %%
# It is saved and loaded like any other cost. The class must have been imported by then.
with TemporaryDirectory() as folder:
    cost.save(Path(folder) / "cost.safetensors")
    loaded = Cost.load(Path(folder) / "cost.safetensors").distance(small, large)
print(f"loaded again, it gives {loaded:g}")
