"""Molecules that stay molecules: valid and connected graphs on edit paths, and the time of an augmented molecule.

    python benchmarks/molecules.py                  # both parts
    python benchmarks/molecules.py paths            # (a) graphs between the ends of paths, by order and matching
    python benchmarks/molecules.py augment          # (b) molecules from EPIC(order="valid")

Node costs are unit costs. A graph is valid if RDKit can sanitise it, and connected if it is in one piece. Both ends of
a path are left out. Times are milliseconds of processor time on one thread.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from rdkit.Chem import GetMolFrags

from epic import EPIC, EditPath, UnitCost, edit_path
from epic.compare.quality import components, valid
from epic.data import load
from epic.distance.edges import MATCHINGS
from epic.graphs import PackedGraphs
from timing import RESULTS, record

OUT = RESULTS / "valid.jsonl"
SETS = ("ogbg-molbace", "ogbg-molbbbp")
ORDERS = ("random", "connected", "valid")
BATCH = 64


def draw(graphs: PackedGraphs, pairs: int) -> np.ndarray:
    """Random pairs of different graphs."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, len(graphs), pairs)
    return np.stack([first, (first + rng.integers(1, len(graphs), pairs)) % len(graphs)], 1)


def steps(path: EditPath) -> np.ndarray:
    """Whether each graph between the ends is valid, is connected, and is another molecule than the one before."""
    smiles, good = [path.smiles(k) for k in range(len(path))], path.valid
    rows = [
        (good[k], len(GetMolFrags(path.molecule(k))) == 1, not smiles[k] or smiles[k] != smiles[k - 1])
        for k in range(1, len(path))
    ]
    return np.array(rows, bool).reshape(-1, 3)


def paths(args: argparse.Namespace) -> None:
    """Count valid and connected graphs on paths between random molecules."""
    print(f"\n| molecules | matching | order | valid | connected | both | both, changes only |  ({args.pairs} pairs)")
    print("|---|---|---|---:|---:|---:|---:|")
    for name in SETS:
        dataset = load(name, data=args.data)
        pairs = draw(dataset.graphs, args.pairs)
        for matching in MATCHINGS:
            for order in ORDERS:
                found, exact, spent = [], 0, 0.0
                for i, j in pairs.tolist():
                    ends = dataset[i], dataset[j]
                    begin = time.process_time()
                    path = edit_path(*ends, UnitCost(), matching=matching, order=order, seed=0)
                    spent += time.process_time() - begin
                    found.append(steps(path))
                    exact += all(
                        torch.equal(got[key], end[key])
                        for got, end in zip((path[0], path[len(path)]), ends, strict=True)
                        for key in ("x", "edge_index", "edge_attr")
                    )
                good, whole, new = np.concatenate(found).T
                both = good & whole
                shares = {"valid": good, "connected": whole, "both": both, "both_of_changes": both[new]}
                line = {key: round(float(np.mean(value)), 4) for key, value in shares.items()}
                shown = " | ".join(f"{v:.1%}" for v in line.values())
                print(f"| {name} | {matching} | {order} | {shown} |", flush=True)
                record(
                    OUT, quiet=True, bench="paths", dataset=name, matching=matching, order=order, pairs=len(pairs),
                    steps=good.size, exact_ends=exact, ms=round(spent / len(pairs) * 1e3, 3), **line,
                )  # fmt: skip


def augment(args: argparse.Namespace) -> None:
    """Time augmented molecules, made in batches as in training, and look at them."""
    print(f"\n| molecules | matching | order | ms / molecule | valid | connected |  (batches of {BATCH})")
    print("|---|---|---|---:|---:|---:|")
    for name in SETS:
        graphs = load(name, data=args.data).graphs
        chosen = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))
        batches = [graphs.select(part) for part in chosen[: BATCH * (args.pairs // BATCH)].split(BATCH)]
        for matching in MATCHINGS:
            for order in ("random", "valid"):
                method = EPIC(UnitCost(), ratio=1.0, order=order, matching=matching, seed=0)
                method.fit(graphs)
                made, times = [], []
                for batch in batches:
                    for attempt in range(3):
                        begin = time.process_time()
                        out = method.make_graphs(batch, torch.arange(BATCH), torch.Generator().manual_seed(attempt))
                        times.append((time.process_time() - begin) / BATCH * 1e3)
                        made.append(out)
                good = float(np.mean([valid(out, like=batches[0]) for out in made]))
                whole = float(np.mean([components(out) == 1 for out in made]))
                ms = float(np.median(times))
                print(f"| {name} | {matching} | {order} | {ms:.2f} | {good:.1%} | {whole:.1%} |")
                record(
                    OUT, quiet=True, bench="augment", dataset=name, matching=matching, order=order,
                    molecules=BATCH * len(made), ms=round(ms, 3), valid=round(good, 4), connected=round(whole, 4),
                )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"paths": paths, "augment": augment}
    parser.add_argument("parts", nargs="*", default=list(parts), help="paths, augment (default: both)")
    parser.add_argument("--pairs", type=int, default=200, help="pairs of each dataset")
    parser.add_argument("--data", type=Path, default=os.environ.get("EPIC_DATA"), help="folder that holds ogb/")
    args = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # where no connected order exists, the order is random
    for part in args.parts:
        parts[part](args)
    print(f"\nappended to {OUT}")


if __name__ == "__main__":
    main()
