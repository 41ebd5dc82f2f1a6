"""Edit distances that count edges: cost and time of each method, next to networkx and to exact distances.

    python benchmarks/edges.py                      # all three parts
    python benchmarks/edges.py sets                 # (a) pairs of whole datasets: nodes, bipartite, edges
    python benchmarks/edges.py rivals --budget 1    # (b) small molecules: networkx with a time budget, bipartite + IPFP
    python benchmarks/edges.py rivals --budget 0    # the same pairs without networkx, in seconds
    python benchmarks/edges.py exact                # (c) graphs of at most 7 nodes against networkx's exact distance

Costs are unit costs: 1 for each node or edge inserted, deleted or changed. Times are milliseconds of processor time for
each pair, embedding included, on one thread. graphkit-learn and pygmtools take part where they are installed. Of
pygmtools these are the solvers of one pair that have no weights: SM, RRWM, IPFP and A* with a beam. PCA-GM, IPCA-GM,
CIE, NGM and GENN-A* need trained weights, which it downloads; CAO, MGM-Floyd and GAMGM match many graphs at once.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import networkx as nx
import numpy as np
import torch
from torch_geometric.data import Data

from epic import EdgeCost, UnitCost, edit_distance
from epic._kernels import edges as kernels
from epic.data import load
from epic.distance.edges import PricedGraphs
from epic.distance.pairs import Pairs, assign_pairs, embed_all, operation_costs
from epic.graphs import PackedGraphs
from epic.matching.edges import ROUNDS, edge_edits
from epic.testing import random_graph
from timing import RESULTS, record

OUT = RESULTS / "edges.jsonl"
EFFORTS = {"bipartite": -1, "bipartite + IPFP": None, "edges": ROUNDS}


def draw(graphs: PackedGraphs, pairs: int, most: int | None = None) -> torch.Tensor:
    """Random pairs of different graphs, of at most so many nodes."""
    fit = np.flatnonzero(graphs.sizes.numpy() <= (most or np.inf))
    rng = np.random.default_rng(0)
    first = rng.integers(0, fit.size, pairs)
    second = (first + rng.integers(1, fit.size, pairs)) % fit.size
    return torch.from_numpy(fit[np.stack([first, second])])


def clock(work: Callable[[], object], pairs: int, rounds: int = 3) -> float:
    """Milliseconds of processor time for each pair, the least of some rounds."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append((time.process_time() - begin) / pairs * 1e3)
    return min(times)


def of_nodes(graphs: PackedGraphs, pairs: torch.Tensor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Node cost, edge cost and edge edits of the assignments that see nodes only."""
    cost = UnitCost()
    nodes = embed_all(cost, graphs)
    which = Pairs(cost, source=nodes, target=nodes, i=pairs[0], j=pairs[1])
    found = assign_pairs(which)
    shift = found.target_ptr[:-1].repeat(np.diff(found.source_ptr))
    column = np.where(found.partner >= 0, found.partner - shift, -1)
    priced, _ = PricedGraphs.of(cost, EdgeCost(), nodes, nodes, graphs, graphs).pairs(*pairs.numpy())
    edits = edge_edits(priced, column)
    return operation_costs(which, found).distance.numpy(), edits.distance, edits.edits


def of_edges(graphs: PackedGraphs, pairs: torch.Tensor, rounds: int | None) -> tuple[np.ndarray, ...]:
    """Node cost, edge cost, edge edits and lower bounds of assignments that count edges."""
    cost = UnitCost()
    nodes = embed_all(cost, graphs)
    priced = PricedGraphs.of(cost, EdgeCost(), nodes, nodes, graphs, graphs)
    if rounds is None:
        return ipfp(priced, *pairs.numpy())
    found = priced.match(*pairs, rounds=rounds)
    return found.nodes.distance.numpy(), found.edges.distance, found.edges.edits, found.lower


def ipfp(priced: PricedGraphs, i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same of the bipartite assignment improved by Frank-Wolfe alone: no growth, descent or rounds."""
    p, base = priced.pairs(i, j)
    column, bound = p.match(rounds=-1)
    value = np.zeros(i.size)
    for k, (top, n, m) in enumerate(zip(p.top, p.n, p.m, strict=True)):
        size = np.array([max(n, m)])
        a, b = (
            (p.source.ptr[p.u[k] : p.u[k] + n + 1], *p.source.arrays[1:]),
            (
                p.target.ptr[p.v[k] : p.v[k] + m + 1],
                *p.target.arrays[1:],
            ),
        )
        node, match = p.node[top : top + n, :m].copy(), column[top : top + n]
        work, origin = np.empty_like(node), np.empty(m, np.int64)
        kernels.frank_wolfe(node, work, match, origin, a, b, p.edge, *kernels.room(size, size))
        value[k] = kernels.linearise(node, work, match, origin, a, b, p.edge)
    edits = edge_edits(p, column)
    return base + value - edits.distance, edits.distance, edits.edits, base + bound


PYGM = {"SM": ("sm", {}), "RRWM": ("rrwm", {}), "IPFP": ("ipfp", {}), "A*, beam of 1": ("astar", {"beam_width": 1})}


def pygm_distances(graphs: PackedGraphs, pairs: torch.Tensor, solver: str, options: dict[str, int]) -> np.ndarray:
    """Costs of the assignments of a solver of pygmtools, whose affinities are what our reduced costs save."""
    import pygmtools

    pygmtools.set_backend("pytorch")
    cost = UnitCost()
    nodes = embed_all(cost, graphs)
    p, base = PricedGraphs.of(cost, EdgeCost(), nodes, nodes, graphs, graphs).pairs(*pairs.numpy())
    column = np.full(p.n.sum(), -1)
    for k, (top, n, m) in enumerate(zip(p.top, p.n, p.m, strict=True)):
        node, code = p.node[top : top + n, :m], []
        for side, first, size in ((p.source, p.u[k], n), (p.target, p.v[k], m)):
            ptr = side.ptr[first : first + size + 1]
            code.append(np.zeros((size, size), np.int64))
            code[-1][np.arange(size).repeat(np.diff(ptr)), side.to[ptr[0] : ptr[-1]]] = side.code[ptr[0] : ptr[-1]]
        turned = n > m  # the smaller graph comes first
        node, code, edge = (node.T, code[::-1], p.edge.T) if turned else (node, code, p.edge)
        few, many = node.shape
        saved = -edge[code[0][None, :, None, :], code[1][:, None, :, None]].reshape(few * many, few * many) / 2
        saved[np.diag_indices(few * many)] -= node.T.ravel()
        soft = getattr(pygmtools, solver)(torch.from_numpy(saved).float(), few, many, **options)
        found = pygmtools.hungarian(soft).numpy() > 0
        row, to = np.nonzero(found.T if turned else found)
        column[top + row] = to
    all_edges = p.source.per_graph(p.table[:, 0])[pairs[0]] + p.target.per_graph(p.table[0])[pairs[1]]
    saved = np.where(column >= 0, p.node[np.arange(column.size), np.maximum(column, 0)], 0.0)
    return base - all_edges + np.add.reduceat(saved, p.top) + edge_edits(p, column).distance


def sets(args: argparse.Namespace) -> None:
    """Compare methods on random pairs of whole datasets."""
    print("\n| dataset | method | ms / pair | node cost | edge edits | total cost | lower bound |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name, count in (("NCI1", args.pairs), ("MUTAG", args.pairs), ("PROTEINS", args.pairs), ("IMDB-BINARY", 100)):
        graphs = load(name, data=args.data).graphs
        used, at = draw(graphs, count).unique(return_inverse=True)
        graphs, pairs = graphs.select(used), at
        if graphs.x is None:  # structure only: nodes are alike
            graphs = replace(graphs, node={"x": torch.ones(graphs.num_nodes, 1)})
        cost = UnitCost()

        def nodes_alone(graphs=graphs, pairs=pairs, cost=cost) -> None:
            nodes = embed_all(cost, graphs)
            assign_pairs(Pairs(cost, source=nodes, target=nodes, i=pairs[0], j=pairs[1]))

        rows = {"nodes": (clock(nodes_alone, count), *of_nodes(graphs, pairs), None)}
        for method, rounds in EFFORTS.items():
            found = of_edges(graphs, pairs, rounds)
            rows[method] = (clock(lambda g=graphs, p=pairs, r=rounds: of_edges(g, p, r), count), *found)
        for method, (ms, node, edge, edits, lower) in rows.items():
            line = {"ms": ms, "nodes": node.mean(), "edits": edits.mean(), "total": (node + edge).mean()}
            line = {k: round(float(v), 3) for k, v in line.items()}
            line["lower"] = None if lower is None else round(float(lower.mean()), 3)
            bound = "" if lower is None else f"{line['lower']:.1f}"
            print(
                f"| {name} | {method} | {line['ms']:.2f} | {line['nodes']:.1f} | {line['edits']:.1f} | "
                f"{line['total']:.1f} | {bound} |"
            )
            record(OUT, quiet=True, bench="sets", dataset=name, method=method, pairs=count, **line)


def to_networkx(data: Data) -> nx.Graph:
    """The same graph with a label at every node and edge."""
    made = nx.Graph()
    labels = [tuple(row) for row in data.x.tolist()] if data.x is not None else [()] * data.num_nodes
    made.add_nodes_from((k, {"label": label}) for k, label in enumerate(labels))
    attributes = [()] * data.edge_index.shape[1] if data.edge_attr is None else data.edge_attr.tolist()
    for (a, b), value in zip(data.edge_index.T.tolist(), attributes, strict=True):
        made.add_edge(a, b, label=tuple(value))
    return made


MATCH = {
    "node_match": lambda a, b: a["label"] == b["label"],
    "edge_match": lambda a, b: a["label"] == b["label"],
}


def gklearn_bipartite(one: nx.Graph, other: nx.Graph) -> float:
    """Upper bound by the bipartite method of graphkit-learn, the one of GEDLIB's methods that it has in Python."""
    from gklearn.ged.env import GEDEnv

    env = GEDEnv()
    env.set_edit_cost("CONSTANT", edit_cost_constants=[1] * 6)
    for graph in (one, other):
        told = nx.Graph()  # labels must be strings
        told.add_nodes_from((k, {"label": str(v)}) for k, v in graph.nodes(data="label"))
        told.add_edges_from((a, b, {"label": str(v)}) for a, b, v in graph.edges(data="label"))
        env.add_nx_graph(told, "")
    first, second = env.get_all_graph_ids()
    env.init(init_type="LAZY_WITHOUT_SHUFFLED_COPIES")
    env.set_method("BIPARTITE", {})
    env.init_method()
    env.run_method(first, second)
    return env.get_upper_bound(first, second)


def rivals(args: argparse.Namespace) -> None:
    """Compare with networkx on a time budget, and with graphkit-learn, on molecules of at most 20 nodes."""
    print(f"\n| molecules | method | mean cost | best of all | ms / pair |  ({args.pairs} pairs of at most 20 nodes)")
    print("|---|---|---:|---:|---:|")
    for name, count in (("MUTAG", args.pairs // 2), ("NCI1", args.pairs - args.pairs // 2)):
        graphs = load(name, data=args.data).graphs
        used, pairs = draw(graphs, count, most=20).unique(return_inverse=True)
        graphs = graphs.select(used)
        nets = [[to_networkx(graphs.graph(int(k))) for k in side] for side in pairs]
        total, limit, proved = {}, np.full(count, np.inf), 0.0
        if args.budget:
            begin = time.process_time()
            with patch("time.perf_counter", time.process_time):  # a busy machine takes none of the budget
                limit = np.array(  # the best of optimize_graph_edit_distance when the time is over
                    [nx.graph_edit_distance(a, b, **MATCH, timeout=args.budget) for a, b in zip(*nets, strict=True)]
                )
            total[f"networkx, {args.budget:g} s"] = (limit, (time.process_time() - begin) / count * 1e3)
        if find_spec("gklearn"):
            begin = time.process_time()
            found = np.array([gklearn_bipartite(a, b) for a, b in zip(*nets, strict=True)])
            total["gklearn, bipartite"] = (found, (time.process_time() - begin) / count * 1e3)
        for method, (solver, options) in PYGM.items() if find_spec("pygmtools") else ():
            begin = time.process_time()
            found = pygm_distances(graphs, pairs, solver, options)
            total[f"pygmtools, {method}"] = (found, (time.process_time() - begin) / count * 1e3)
        for method, rounds in EFFORTS.items():
            node, edge, *_ = of_edges(graphs, pairs, rounds)
            total[method] = (node + edge, clock(lambda g=graphs, p=pairs, r=rounds: of_edges(g, p, r), count))
        if args.budget:
            searched = [
                edit_distance(graphs.graph(int(i)), graphs.graph(int(j)), method="exact", time_limit=args.budget)
                for i, j in pairs.T
            ]
            total[f"exact, {args.budget:g} s"] = (np.array(searched), 1e3 * np.mean([d.seconds for d in searched]))
            proved = float(np.mean([d.exact for d in searched]))
        best = np.min([cost for cost, _ in total.values()], axis=0)
        for method, (cost, ms) in total.items():
            share, more = float(np.mean(cost <= best + 1e-9)), {}
            if args.budget:
                more = {"worse_than_networkx": int((cost > limit + 1e-9).sum()), "proved": round(proved, 3)}
            print(f"| {name} | {method} | {cost.mean():.2f} | {share:.0%} | {ms:.2f} |")
            record(
                OUT, quiet=True, bench="rivals", dataset=name, method=method, pairs=count, budget=args.budget,
                total=round(float(cost.mean()), 3), best=round(share, 3), ms=round(float(ms), 3),
                **more,
            )  # fmt: skip
        if args.budget:
            print(f"| {name} | (proved to be the least within the budget) | | {proved:.0%} | |")


def exact(args: argparse.Namespace) -> None:
    """Compare with networkx's exact distance on random graphs of 3 to 7 nodes."""
    rng = np.random.default_rng(0)
    graphs = []
    for k in range(2 * args.pairs):
        made = random_graph(rng, int(rng.integers(3, 8)), density=(0.3, 0.5)[k % 2], x="onehot", edge_width=None)
        made.edge_attr = torch.zeros(made.edge_index.shape[1], 1)
        graphs.append(made)
    pairs = list(zip(graphs[::2], graphs[1::2], strict=True))
    begin = time.process_time()
    true = np.array([nx.graph_edit_distance(to_networkx(a), to_networkx(b), **MATCH) for a, b in pairs])
    print(f"\n| graphs of 3 to 7 nodes | mean | gap | exact | ms / pair |  ({args.pairs} pairs)")
    print("|---|---:|---:|---:|---:|")
    rows = {"networkx": (true, (time.process_time() - begin) / len(pairs) * 1e3)}
    for method in ("hausdorff", "bipartite", "edges", "exact"):
        [edit_distance(a, b, method=method) for a, b in pairs]  # compiled and loaded
        begin = time.process_time()
        found = [edit_distance(a, b, method=method) for a, b in pairs]
        rows[method] = (np.array(found), (time.process_time() - begin) / len(pairs) * 1e3)
    for method, (value, ms) in rows.items():
        gap = float(((value - true) / np.maximum(true, 1)).mean())
        same = float(np.mean(np.abs(value - true) < 1e-9))
        print(f"| {method} | {value.mean():.3f} | {gap:+.2%} | {same:.1%} | {ms:.2f} |")
        record(
            OUT, quiet=True, bench="exact", method=method, pairs=len(pairs), total=round(float(value.mean()), 4),
            gap=round(gap, 5), exact=round(float(same), 4), ms=round(ms, 3),
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"sets": sets, "rivals": rivals, "exact": exact}
    parser.add_argument("parts", nargs="*", default=list(parts), help="sets, rivals, exact (default: all)")
    parser.add_argument("--pairs", type=int, default=200, help="pairs of each dataset")
    parser.add_argument(
        "--budget",
        type=float,
        default=1.0,
        help="processor seconds that networkx and exact have for a pair; 0 leaves them out",
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("EPIC_DATA"), help="folder that holds tu/")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for part in args.parts:
        parts[part](args)
    print(f"\nappended to {OUT}")


if __name__ == "__main__":
    main()
