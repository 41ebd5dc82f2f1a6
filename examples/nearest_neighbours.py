"""Learned distance and nearest neighbours: classify a graph by those like it, and see why they are alike.

You learn: how to measure distances as your labels see them, to classify with ``EditNeighbors``, and to read the edit
path to a neighbour as the reason for an answer. Run it: python examples/nearest_neighbours.py
"""

import argparse
import json
from pathlib import Path

import torch
import torch.nn.functional as F
from torch_geometric.data import Data

from epic import EditNeighbors, UnitCost
from epic.data import lollipop


def coloured(count: int, seed: int) -> list[Data]:
    """Cliques with a chain: the class is the clique's size. Nodes have one of three colours, which mean nothing."""
    generator = torch.Generator().manual_seed(seed)
    graphs = lollipop(count, seed=seed)
    for graph in graphs:
        graph.x = F.one_hot(torch.randint(3, (graph.num_nodes,), generator=generator), 3).float()
    return graphs


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "nearest_neighbours")
    options.add_argument("--graphs", type=int, default=160, help="graphs to learn from")
    options.add_argument("--epochs", type=int, default=10, help="epochs of learning costs")
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    train, test = coloured(args.graphs, seed=0), coloured(60, seed=1)

    # One model counts edits, the other learns from the classes what they cost.
    counted = EditNeighbors(cost=UnitCost(), n_neighbors=1, progress=False).fit(train)
    learned = EditNeighbors(n_neighbors=1, seed=0, progress=False).fit(train, epochs=args.epochs)
    scores = {"counted": counted.score(test), "learned": learned.score(test)}
    for name, score in scores.items():
        print(f"one nearest neighbour, edits {name}: {score:.0%} of {len(test)} test graphs right")

    # Distances between any graphs, as a matrix. How far is the nearest training graph of each class?
    classes, known = (torch.tensor([int(g.y) for g in graphs]) for graphs in (test, train))
    for name, model in (("counted", counted), ("learned", learned)):
        distances = model.cost_.distances(test, train, progress=False)
        nearest_of = torch.stack([distances[:, known == c].amin(1) for c in range(4)], 1)
        table = torch.stack([nearest_of[classes == c].mean(0) for c in range(4)])
        own = int((table.argmin(1) == torch.arange(4)).sum())
        print(f"\nedits {name}: test graphs by class (rows), and their mean distance to the nearest of each class;")
        print(f"{own} of 4 classes are nearest to themselves:")
        for row in table.tolist():
            print("  " + " ".join(f"{d:7.2f}" for d in row))

    # Why does the model say so? The edit path to the neighbour tells what would have to change, and how dear it is.
    query = test[0]
    print(f"\na test graph of class {int(query.y)} with {query.num_nodes} nodes, and its neighbours:")
    for near in learned.neighbors(query, n_neighbors=3):
        print(f"  graph {near.index} of class {near.label}, {near.graph.num_nodes} nodes, distance {near.distance:.3f}")
    nearest = learned.neighbors(query, n_neighbors=1)[0]
    print(f"the way to the nearest: {nearest.path}")
    dear = sorted(nearest.path.operations, key=lambda op: -op.cost)[:3]
    print("  its dearest operations: " + ", ".join(map(str, dear)))
    far = int(distances[0].argmax())
    print(f"the farthest of all, of class {int(train[far].y)}, is {distances[0, far]:.1f} away")

    nearest.path.save(args.out / "why.html", title="Why this class", ends=("test graph", f"training {nearest.index}"))
    (args.out / "scores.json").write_text(json.dumps(scores) + "\n")
    print(f"wrote {args.out / 'why.html'} and scores.json")


if __name__ == "__main__":
    main()
