"""Large graphs: nodes matched in parts against the exact assignment, edges by regions, and EPIC next to a GIN step.

    python benchmarks/large.py                # all parts; appends to results/large.jsonl
    python benchmarks/large.py parts          # (a) time, memory and cost of an assignment in parts and of the exact one
    python benchmarks/large.py edges          # (b) the same of assignments that count edges, and of the dense method
    python benchmarks/large.py train          # (c) augmentation, learning and training on graphs of 500 to 4,000 nodes

Two kinds of graphs are generated: discussion threads (a few hubs and many leaves, as REDDIT-BINARY has) and proteins
(residues of 20 kinds on a folded chain, joined where they are near, as D&D has). Real sets give their largest graphs,
which are matched in parts here whatever their size. Times are milliseconds of processor time on one thread for a pair,
embedding not included, the least of some rounds.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
import torch.nn.functional as F
from scipy.spatial import cKDTree
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GIN, global_add_pool

from epic import EPIC, Cost, EdgeCost, FeatureCost, LearnedCost, UnitCost, pack
from epic.data import load
from epic.distance.edges import PricedGraphs
from epic.distance.pairs import Pairs, assignment_of, embed_all, operation_costs, reduced_costs
from epic.graphs import PackedGraphs
from epic.matching.edges import ROUNDS as EDGE_ROUNDS
from epic.matching.large import LARGE, ROUNDS, assign_large
from epic.matching.types import NodeCosts
from epic.paths.interpolation import LARGE_ROUNDS
from epic.paths.interpolation import ROUNDS as AUGMENTATION
from timing import RESULTS, keep_memory, race, record

OUT = RESULTS / "large.jsonl"
KINDS = 20


def thread(rng: np.random.Generator, nodes: int, label: int) -> Data:
    """A discussion: answers to one question, or to a handful of speakers who also answer each other."""
    hubs = int(rng.integers(4, 9)) if label else 1
    parent = (rng.random(nodes) * np.arange(nodes)).astype(np.int64)
    to_hub = rng.random(nodes) < (0.5 if label else 0.65)
    parent = np.where(to_hub & (np.arange(nodes) > hubs), rng.integers(0, hubs, nodes), parent)
    edges = np.stack([np.arange(1, nodes), parent[1:]])
    return Data(
        edge_index=torch.from_numpy(np.concatenate([edges, edges[::-1]], 1)), num_nodes=nodes, y=torch.tensor([label])
    )


def protein(rng: np.random.Generator, nodes: int, label: int) -> Data:
    """A chain folded into a ball, tight or loose."""
    place, radius = np.zeros((nodes, 3)), nodes ** (1 / 3) * (4.8 if label else 5.6)
    steps = rng.normal(size=(nodes, 3))
    steps *= 3.8 / np.linalg.norm(steps, axis=1, keepdims=True)
    for k in range(1, nodes):
        there = place[k - 1] + steps[k]
        if (far := np.linalg.norm(there)) > radius:  # back from the surface
            there = place[k - 1] + steps[k] - 2 * (steps[k] @ there) / far**2 * there
        place[k] = there
    edges = cKDTree(place).query_pairs(4.0, output_type="ndarray").T.astype(np.int64)
    kinds = torch.from_numpy(rng.choice(KINDS, nodes, p=rng.dirichlet(np.full(KINDS, 20.0))))
    return Data(
        x=F.one_hot(kinds, KINDS).float(),
        edge_index=torch.from_numpy(np.concatenate([edges, edges[::-1]], 1)),
        num_nodes=nodes,
        y=torch.tensor([label]),
    )


GENERATED = {"threads": thread, "proteins": protein}


def clock(work: Callable[[], object], rounds: int) -> float:
    """Milliseconds of processor time, the least of some rounds."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append((time.process_time() - begin) * 1e3)
    return min(times)


def peak(work: Callable[[], object]) -> float:
    """Megabytes of arrays at the same time; those of compiled loops count where they make the process larger."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the largest size so far
    before = resident("VmRSS")
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return max(most, resident("VmHWM") - before)


def resident(name: str) -> float:
    """Megabytes of memory of this process, now (VmRSS) or at most (VmHWM); Linux only."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[name].split()[0]) / 2**10


def compare(cost: Cost, graphs: PackedGraphs, rounds: int) -> dict[str, float]:
    """Time, memory and cost of one pair of graphs, in parts and exactly."""
    nodes = embed_all(cost, graphs)
    nodes = NodeCosts(  # the precision of augmentation
        *(t.float() if t.is_floating_point() else t for t in (nodes.embedding, nodes.deletion, nodes.insertion)),
        nodes.ptr,
    )
    i, j = torch.tensor([0]), torch.tensor([1])
    reduced = reduced_costs(cost, source=nodes, target=nodes)
    n, m = graphs.sizes.tolist()
    where = {"u": np.array([0]), "n": np.array([n]), "v": np.array([n]), "m": np.array([m])}

    def in_parts(rounds: int = len(ROUNDS)) -> np.ndarray:
        return assign_large(reduced, u=0, n=n, v=n, m=m, rounds=rounds)

    def quickly() -> np.ndarray:
        return in_parts(LARGE_ROUNDS)  # as an augmentation does

    def exact() -> np.ndarray:
        return reduced.assign(**where)

    def distance(column: np.ndarray) -> float:
        found = assignment_of(column, **where)
        return float(operation_costs(Pairs(cost, source=nodes, target=nodes, i=i, j=j), found).distance)

    least = distance(exact())
    return {
        "ms": clock(in_parts, rounds),
        "exact_ms": clock(exact, 1 if n * m > 3 * LARGE else rounds),
        "mb": peak(in_parts),
        "exact_mb": peak(exact),
        "loss": distance(in_parts()) / max(least, 1e-12) - 1,
        "quick_ms": clock(quickly, rounds),
        "quick_loss": distance(quickly()) / max(least, 1e-12) - 1,
        "distance": least,
    }


def costs_for(train: PackedGraphs) -> dict[str, Cost]:
    """The costs to compare with; one is learned from these graphs."""
    learned = LearnedCost().fit(train, epochs=8, assignment="hungarian", progress=False)
    return {"learned": learned, "feature": FeatureCost(), "unit": UnitCost()}


def parts(args: argparse.Namespace) -> None:
    """Compare assignments in parts with exact ones."""
    print("\n| graphs | nodes | cost | pairs | in parts, ms | exact, ms | in parts, MB | exact, MB | loss | largest | "
          f"{LARGE_ROUNDS} rounds, ms | loss |")  # fmt: skip
    print("|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in [name for name in args.graphs if name in GENERATED]:
        make, rng = GENERATED[name], np.random.default_rng(0)
        known = costs_for(pack([make(rng, int(rng.integers(50, 200)), k % 2) for k in range(200)]))
        for size in args.sizes:
            count = 2 if size > 2000 else args.pairs
            pairs = [pack([make(rng, size, k % 2), make(rng, size, k // 2 % 2)]) for k in range(count)]
            tell(name, str(size), known, pairs, args.rounds)
    for name in [name for name in args.graphs if name not in GENERATED]:
        graphs = load(name, data=args.data).graphs
        some = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))[:600]
        top = graphs.sizes.argsort(descending=True)[: 2 * args.pairs]
        pairs = [graphs.select(top[[k, k + 1]]) for k in range(0, len(top), 2)]
        sizes = graphs.sizes[top]
        tell(name, f"{int(sizes.min())} to {int(sizes.max())}", costs_for(graphs.select(some)), pairs, args.rounds)


def tell(name: str, nodes: str, known: dict[str, Cost], pairs: list[PackedGraphs], rounds: int) -> None:
    """Print and record the means over pairs, and the largest loss."""
    for kind, cost in known.items():
        found = [compare(cost, pair, rounds) for pair in pairs]
        line = {key: round(float(np.mean([f[key] for f in found])), 4) for key in found[0]}
        line["largest_loss"] = round(max(f["loss"] for f in found), 4)
        print(
            f"| {name} | {nodes} | {kind} | {len(pairs)} | {line['ms']:.1f} | {line['exact_ms']:.1f} | "
            f"{line['mb']:.1f} | {line['exact_mb']:.1f} | {line['loss']:.2%} | {line['largest_loss']:.2%} | "
            f"{line['quick_ms']:.1f} | {line['quick_loss']:.2%} |",
            flush=True,
        )
        record(OUT, quiet=True, bench="parts", graphs=name, nodes=nodes, cost=kind, pairs=len(pairs), **line)


def edges(args: argparse.Namespace) -> None:
    """Compare assignments that count edges: region by region, and on whole matrices up to 1,000 nodes."""
    print("\n| graphs | nodes | cost | method | ms | MB | start | total | against dense |")
    print("|---|---:|---|---|---:|---:|---:|---:|---:|")
    efforts = {"regions": (0, EDGE_ROUNDS), "regions, augmentation": (0, AUGMENTATION), "dense": (np.inf, EDGE_ROUNDS)}
    for name in [name for name in args.graphs if name in GENERATED]:
        make, rng = GENERATED[name], np.random.default_rng(0)
        known = costs_for(pack([make(rng, int(rng.integers(50, 200)), k % 2) for k in range(200)]))
        for size in args.sizes:
            pairs = [pack([make(rng, size, 0), make(rng, size, 1)]) for _ in range(2)]
            for kind in ("learned", "unit"):
                found = [edge_methods(known[kind], pair, efforts, dense=size <= 1000) for pair in pairs]
                for method in found[0]:
                    line = {key: round(float(np.mean([f[method][key] for f in found])), 4) for key in found[0][method]}
                    loss = f"{line['loss']:+.1%}" if "loss" in line else ""
                    print(
                        f"| {name} | {size} | {kind} | {method} | {line['ms']:.0f} | {line['mb']:.1f} | "
                        f"{line.get('start', np.nan):.0f} | {line['total']:.0f} | {loss} |",
                        flush=True,
                    )
                    record(
                        OUT, quiet=True, bench="edges", graphs=name, nodes=size, cost=kind, method=method,
                        pairs=len(pairs), **line,
                    )  # fmt: skip


def edge_methods(
    cost: Cost, graphs: PackedGraphs, efforts: dict[str, tuple[float, int]], *, dense: bool
) -> dict[str, dict[str, float]]:
    """Time, memory and cost of one pair by each method, and by how much it costs more than the dense one."""
    nodes = embed_all(cost, graphs)
    priced = PricedGraphs.of(cost, EdgeCost(scale="nodes"), nodes, nodes, graphs, graphs)
    i, j, out = torch.tensor([0]), torch.tensor([1]), {}
    for method, (limit, rounds) in efforts.items():
        if method == "dense" and not dense:
            continue
        with patch("epic.distance.pairs.LARGE", limit):
            begin = {} if limit else {"start": float(priced.match(i, j, rounds=0).distance)}
            times = time.process_time()
            total = float(priced.match(i, j, rounds=rounds).distance)
            times = time.process_time() - times
            most = peak(lambda rounds=rounds: priced.match(i, j, rounds=rounds))
        out[method] = {"ms": times * 1e3, "mb": most, **begin, "total": total}
    for line in out.values() if dense else ():
        line["loss"] = line["total"] / out["dense"]["total"] - 1
    return out


def train(args: argparse.Namespace) -> None:
    """Learn a cost, augment and train on graphs of 500 to 4,000 nodes."""
    print("\n| graphs | nodes of a batch | GIN step, s | augmentation, s | share | learning, s | peak, MB |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, make in GENERATED.items():
        rng = np.random.default_rng(1)
        graphs = [make(rng, int(np.exp(rng.uniform(np.log(500), np.log(4000)))), k % 2) for k in range(32)]
        begin = time.process_time()
        cost = LearnedCost().fit(graphs, epochs=1, assignment="hungarian", triplets=len(graphs), progress=False)
        learning = time.process_time() - begin
        batch = Batch.from_data_list(graphs)
        x = batch.x if batch.x is not None else torch.ones(batch.num_nodes, 1)
        augment = EPIC(cost, ratio=0.5, seed=0, degree_features=False).fit(graphs)
        model = torch.nn.ModuleDict({"gin": GIN(x.shape[1], 64, 5, norm="batch_norm"), "head": torch.nn.Linear(64, 2)})
        optimizer = torch.optim.Adam(model.parameters(), 1e-3)

        def step(model=model, optimizer=optimizer, batch=batch, x=x) -> None:
            optimizer.zero_grad()
            out = model["head"](global_add_pool(model["gin"](x, batch.edge_index), batch.batch))
            F.cross_entropy(out, batch.y).backward()
            optimizer.step()

        def grow(augment=augment, batch=batch) -> None:
            augment(batch)

        step(), grow()
        seconds = {"step": clock(step, args.rounds) / 1e3, "augmentation": clock(grow, args.rounds) / 1e3}
        turns = race({"step": (step, 1), "augmentation": (grow, 1)}, args.rounds)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        share = seconds["augmentation"] / seconds["step"]
        print(
            f"| {name} | {batch.num_nodes} | {seconds['step']:.2f} | {seconds['augmentation']:.2f} | {share:.2f} | "
            f"{learning:.1f} | {most:.0f} |",
            flush=True,
        )
        record(
            OUT, quiet=True, bench="train", graphs=name, batch=len(graphs), nodes=batch.num_nodes,
            edges=batch.num_edges, **{f"{key}_s": round(value, 3) for key, value in seconds.items()},
            share=round(share, 3), wall_share=round(turns["augmentation"] / turns["step"], 3),
            learning_s=round(learning, 2), peak_mb=round(most),
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = {"parts": parts, "edges": edges, "train": train}
    parser.add_argument("parts", nargs="*", default=list(known), help="parts, edges, train (default: all)")
    parser.add_argument("--pairs", type=int, default=8, help="pairs of each kind and size (2 above 2,000 nodes)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each measurement")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[500, 1000, 2000, 5000], help="nodes of generated graphs"
    )
    every = [*GENERATED, "PROTEINS", "Mutagenicity", "NCI1"]
    parser.add_argument("--graphs", nargs="+", default=every, choices=every, help="graphs of parts and edges")
    parser.add_argument("--data", type=Path, default=os.environ.get("EPIC_DATA"), help="folder that holds tu/")
    args = parser.parse_args()
    torch.set_num_threads(1)
    keep_memory()
    warnings.filterwarnings("ignore", "nodes of large graphs")
    for part in args.parts:
        known[part](args)
    print(f"\nappended to {OUT}")


if __name__ == "__main__":
    main()
