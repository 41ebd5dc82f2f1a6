"""Look at an edit path: what turns one graph into another, step by step, and what each step costs.

You learn: how to get a path under a learned cost, to read its operations, to take the graph and the soft label at any
step, and to draw it as a strip of pictures and as a page with a slider. Run it: python examples/look_at_a_path.py
"""

import argparse
from pathlib import Path

from epic import EPIC, UnitCost, edit_path
from epic.data import lollipop, lollipop_graph


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "look_at_a_path")
    options.add_argument("--epochs", type=int, default=10, help="epochs of learning costs")
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    # The class of a lollipop is the size of its head, the clique; the tail does not matter.
    augment = EPIC(seed=0).fit(lollipop(160, seed=0), epochs=args.epochs, progress=False)
    source = lollipop_graph(4, 5, label=0)  # head of 4, tail of 5
    target = lollipop_graph(6, 3, label=2)  # head of 6, tail of 3
    path = augment.path(source, target, seed=0)
    print(path)

    print("\nThe dearest operations:")
    for op in sorted(path.operations, key=lambda op: -op.cost)[:5]:
        print(f"  {op}")  # kind, node of the source -> node of the target, cost; op.kind, op.source, ... hold the same

    # The graph after k operations is an ordinary Data, and knows where its nodes come from.
    k = len(path) // 2
    graph = path[k]
    print(f"\nAfter {k} of {len(path)} operations: {graph.num_nodes} nodes, {graph.num_edges // 2} edges,")
    label = [round(v, 2) for v in path.label(k).tolist()]
    print(f"  {path.fraction(k):.0%} of the cost is spent, so the label is {label}")
    print(f"  its nodes come from nodes {graph.source_node.tolist()} of the source (-1: from none)")

    # The same two graphs where every operation costs 1: what learning changed.
    counted = edit_path(source, target, UnitCost(), seed=0)
    for name, found in (("learned", path), ("counted", counted)):
        kinds = [op.kind for op in found.operations]
        print(f"{name}: " + ", ".join(f"{kinds.count(k)} {k}" for k in ("substitute", "delete", "insert")))

    path.save(args.out / "path.html", title="A lollipop turns into another", ends=("head of 4", "head of 6"))
    path.plot(steps=6, path=args.out / "path.png")
    print(f"\nwrote {args.out / 'path.html'} (open it in a browser: slider, arrow keys) and path.png")


if __name__ == "__main__":
    main()
