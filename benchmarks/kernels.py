"""What compiled code is worth: every entry point of ``epic._kernels``, with numba and without, in the same run.

    python benchmarks/kernels.py                 # data from EPIC_DATA; appends to results/kernels.jsonl

Each is measured through the public function that it serves, so that a ratio is what a user gains. Times are the median
of interleaved rounds on one thread, or of one round where a call takes more than a second. Answers with and without
numba are compared: they must be the same.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
from torch_geometric.data import Data

from epic import EPIC, FeatureCost, UnitCost, edit_distance, edit_path
from epic.data import load
from epic.graphs import PackedGraphs
from epic.testing import random_graphs
from timing import RESULTS, keep_memory, race, record

OUT = RESULTS / "kernels.jsonl"


class Doubled(FeatureCost):
    """A price of its own, and so no metric: every pair has a matrix of prices."""

    def substitution(self, source, target):
        return 2 * super().substitution(source, target)


def interpreted(work: Callable[[], object]) -> Callable[[], object]:
    """The same work without numba."""

    def run() -> object:
        with patch.dict(os.environ, {"EPIC_NO_NUMBA": "1"}):
            return work()

    return run


def large(nodes: int, seed: int) -> Data:
    """A long chain with side branches and three kinds of nodes."""
    rng = np.random.default_rng(seed)
    to = np.arange(1, nodes)
    back = to - rng.integers(1, 4, nodes - 1).clip(max=to)
    edges = torch.from_numpy(np.concatenate([[to, back], [back, to]], axis=1))
    return Data(torch.eye(3)[torch.from_numpy(rng.integers(0, 3, nodes))], edges, num_nodes=nodes)


def cases(graphs: PackedGraphs, molecules: PackedGraphs) -> dict[str, tuple[Callable[[], object], int]]:
    """What is measured: the entry points, work that uses them, and how many items it does."""
    few, many = graphs[:32], graphs[:64]
    small = random_graphs(8, nodes=7, x="onehot", edge_width=None)
    big = large(800, 0), large(800, 1)
    valid = EPIC(UnitCost(), ratio=1.0, order="valid", seed=0, num_classes=2)
    drugs = molecules[:32]
    return {
        "assignment.solve: distances, a price of your own": (lambda: Doubled().distances(few, progress=False), 32 * 32),
        "assignment.solve_euclidean: distances, FeatureCost": (
            lambda: FeatureCost().distances(many, progress=False),
            64 * 63 // 2,
        ),
        "edges.solve_edges: distances, matching by edges": (
            lambda: UnitCost().distances(graphs[:8], matching="edges", progress=False),
            8 * 7 // 2,
        ),
        "regions.*: a path by edges, 800 nodes": (
            lambda: edit_path(*big, UnitCost(), matching="edges", seed=0).distance,
            1,
        ),
        "branch.search: exact distances of 7 nodes": (
            lambda: [float(edit_distance(a, b, UnitCost(), method="exact")) for a in small for b in small[:2]],
            16,
        ),
        "orders.*: augmented molecules, order='valid'": (
            lambda: np.concatenate([g.edge_index.numpy() for g in valid.generate(drugs, count=256, seed=0)], axis=1),
            256,
        ),
    }


def same(one: object, other: object) -> bool:
    """Whether answers are equal: integers to the last one, prices to a relative 1e-6."""
    a, b = (np.asarray(t) for t in (one, other))
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-6, atol=0) if a.dtype.kind == "f" else (a == b).all())


def once(work: Callable[[], object], items: int) -> tuple[object, float]:
    """The answer, and the milliseconds per item."""
    begin = time.perf_counter()
    found = work()
    return found, (time.perf_counter() - begin) / items * 1e3


def main() -> None:
    """Measure, print a table and keep a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EPIC_DATA"), help="folder of datasets")
    parser.add_argument("--rounds", type=int, default=7, help="rounds; one where a call without numba takes a second")
    parser.add_argument("--results", type=Path, default=OUT)
    args = parser.parse_args()
    torch.set_num_threads(1)
    keep_memory()
    sets = (load(name, data=args.data).graphs for name in ("NCI1", "ogbg-molbace"))
    found = {}
    for name, (work, items) in cases(*sets).items():
        plain = interpreted(work)
        work()  # compiles
        (one, fast), (other, slow) = once(work, items), once(plain, items)
        assert same(one, other), name
        if slow * items < 1000:
            fast, slow = race({"numba": (work, items), "without": (plain, items)}, args.rounds).values()
        found[name] = {"numba": round(fast, 4), "without": round(slow, 4)}
        print(f"{name:<54}{fast:10.3f} ms{slow:12.3f} ms without, {slow / fast:7.1f} x", flush=True)
    record(args.results, kernels_ms=found, threads=1)


if __name__ == "__main__":
    main()
