"""Algorithm 1 of the paper, operation by operation, on dictionaries. Slow, and written from the paper alone."""

from __future__ import annotations

from torch_geometric.data import Data

from epic.paths import Operation


def edges_of(graph: Data) -> dict[tuple[int, int], object]:
    attr = graph.get("edge_attr")
    return {
        (u, v): None if attr is None else tuple(attr[e].reshape(-1).tolist())
        for e, (u, v) in enumerate(graph.edge_index.T.tolist())
    }


class Slow:
    """A graph on the way. Nodes are named ("s", u) until their operation is done and ("t", v) after it."""

    def __init__(self, source: Data, target: Data) -> None:
        self.source_edges, self.target_edges = edges_of(source), edges_of(target)
        self.nodes = {("s", u) for u in range(source.num_nodes)}
        self.edges = {(("s", u), ("s", v)): a for (u, v), a in self.source_edges.items()}

    def apply(self, op: Operation) -> None:
        if op.kind == "insert":
            v = ("t", op.target)
            self.nodes.add(v)
        elif op.kind == "delete":
            u = ("s", op.source)
            self.nodes.remove(u)
            self.edges = {e: a for e, a in self.edges.items() if u not in e}
            return
        else:
            u, v = ("s", op.source), ("t", op.target)
            self.nodes.remove(u)
            self.nodes.add(v)
            rename = {u: v}
            self.edges = {(rename.get(a, a), rename.get(b, b)): w for (a, b), w in self.edges.items()}
        # Every edge between v and a node that is already of the target becomes what the target says, in both
        # directions.
        for w in [n for n in self.nodes if n[0] == "t"]:
            for a, b in ((v, w), (w, v)):
                if (a[1], b[1]) in self.target_edges:
                    self.edges[a, b] = self.target_edges[a[1], b[1]]
                else:
                    self.edges.pop((a, b), None)


def named(graph: Data) -> tuple[set, dict]:
    """A graph of an EditPath in the names used above."""
    names = [
        ("t", t) if t >= 0 else ("s", s)
        for s, t in zip(graph.source_node.tolist(), graph.target_node.tolist(), strict=True)
    ]
    assert len(set(names)) == len(names)
    edges = edges_of(graph)
    assert len(edges) == graph.edge_index.shape[1]
    return set(names), {(names[a], names[b]): w for (a, b), w in edges.items()}
