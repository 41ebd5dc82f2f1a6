"""A cost of your own: say what an edit costs in two functions, and use it for distances, paths and augmentation.

You learn: the two functions that state a price, what they enable, and how to save a cost of your own. Run it:
python examples/your_own_cost.py
"""

import argparse
import json
from pathlib import Path
from typing import Any

from torch import Tensor
from torch_geometric.data import Batch

from epic import EPIC, Cost, PackedGraphs, UnitCost, edit_path
from epic.costs import NodeCosts
from epic.data import lollipop, lollipop_graph


class EdgeCost(Cost):
    """Count edits of nodes and, through the degrees, edits of edges.

    A deleted node takes its edges with it, and a substituted node keeps as many as its new degree allows. An edge has
    two ends, and each of them is charged half of its price. The sum is never more than the classical edit distance,
    which looks at the edges themselves and is hard to compute.

    Args:
        edge: Price of deleting or inserting an edge; a node costs 1.
    """

    kind = "edge"  # the name in saved files
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
    def from_state(cls, tensors: dict[str, Tensor], header: dict[str, Any]) -> "EdgeCost":
        return cls(edge=header["edge"])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "your_own_cost")
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    # Distances: of two graphs, of all pairs, and to the nearest.
    cost = EdgeCost()
    small, large = lollipop_graph(4, 3, label=0), lollipop_graph(6, 3, label=1)
    result: dict[str, Any] = {"own": cost.distance(small, large), "unit": UnitCost().distance(small, large)}
    print(f"from a head of 4 to a head of 6: {result['own']:g}, and {result['unit']:g} if edges are free")
    graphs = lollipop(24, seed=0)
    print(f"mean distance of {len(graphs)} graphs: {cost.distances(graphs, progress=False).mean():.2f}")
    nearest = cost.nearest(graphs, k=1, progress=False)
    print(f"the nearest of graph 0 is graph {int(nearest.index[0, 0])}, at {float(nearest.distance[0, 0]):g}")

    # A path: the cheapest edits, and every graph on the way.
    path = edit_path(small, large, cost=cost, seed=0)
    print(path)
    path.save(args.out / "path.html", title="Edges have a price")

    # Augmentation: EPIC with this cost in place of a learned one.
    augment = EPIC(cost=cost, ratio=0.5).fit(graphs)
    batch = augment(Batch.from_data_list(graphs))
    result["graphs"] = batch.num_graphs
    print(f"a batch of {len(graphs)} graphs becomes one of {batch.num_graphs}")

    # Saved and loaded, like any other cost. The class must have been imported by then.
    cost.save(args.out / "cost.safetensors")
    result["loaded"] = Cost.load(args.out / "cost.safetensors").distance(small, large)
    (args.out / "result.json").write_text(json.dumps(result))
    print(f"wrote {args.out / 'path.html'} and cost.safetensors")


if __name__ == "__main__":
    main()
