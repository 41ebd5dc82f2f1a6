"""Peak memory of long work at growing sizes: what should stay flat, and what grows with its result alone.

    python benchmarks/memory.py                   # all jobs; appends to results/memory.jsonl
    python benchmarks/memory.py --jobs distances  # one of them
    python benchmarks/memory.py --part 0.01       # a hundredth of every size, to try it

Each job runs in a process of its own. Memory is the largest sum, over that process and its children, of what they have
in RAM (USS, memory that no other process shares), looked at ten times a second, minus what the process has before the
work, with the library and the input. "result" is what the call returns; "input" is what it was given.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import torch
from torch_geometric.data import Data
from tqdm import tqdm

from epic import EPIC, LearnedCost, UnitCost, pack
from epic.cli import main as command_line
from epic.data import lollipop
from epic.data.files import write_graphs
from epic.graphs.packed import PackedGraphs
from timing import RESULTS, record

MB = 1 << 20


class Peak:
    """Watches this process and its children from a thread."""

    def __init__(self) -> None:
        self.process, self.most, self.over = psutil.Process(), 0, threading.Event()
        self.before = self.now()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def now(self) -> int:
        total = 0
        for process in (self.process, *self.process.children(recursive=True)):
            try:
                total += process.memory_full_info().uss
            except psutil.Error:  # it ended meanwhile
                continue
        return total

    def watch(self) -> None:
        while not self.over.is_set():
            self.most = max(self.most, self.now())
            self.over.wait(0.1)

    def stop(self) -> float:
        self.over.set()
        self.thread.join()
        return (self.most - self.before) / MB


def graphs_of(count: int, seed: int = 0) -> PackedGraphs:
    """Return ``count`` small graphs: a few thousand lollipops, again and again."""
    some = pack(lollipop(min(count, 4000), seed=seed))
    return some.select(torch.arange(count) % len(some))


def size_of(graphs: PackedGraphs) -> float:
    tensors = (graphs.ptr, graphs.edge_index, *graphs.node.values(), *graphs.edge.values(), graphs.y)
    return sum(t.numel() * t.element_size() for t in tensors if t is not None) / MB


def distances(count: int) -> dict[str, float]:
    graphs = graphs_of(count)
    peak = Peak()
    found = UnitCost().distances(graphs)
    return {"peak": peak.stop(), "result": found.numel() * found.element_size() / MB, "input": size_of(graphs)}


def large_graph(nodes: int) -> dict[str, float]:
    """One large graph in a batch of 64 small ones: a random tree."""
    parent = (torch.rand(nodes - 1, generator=torch.Generator().manual_seed(0)) * torch.arange(1, nodes)).long()
    ends = torch.stack([parent, torch.arange(1, nodes)])
    small = graphs_of(64)
    one = Data(num_nodes=nodes, edge_index=torch.cat([ends, ends.flip(0)], 1), y=small[0].y)
    batch = pack([*small, one])
    cost = LearnedCost().fit(small, epochs=1, progress=False)
    augment = EPIC(cost=cost, ratio=1.0).fit(small)
    inputs, peak = batch.to_batch(), Peak()
    for _ in tqdm(range(3), desc="augmenting", unit="batch"):
        augment(inputs)
    return {"peak": peak.stop(), "input": size_of(batch)}


def fit(count: int) -> dict[str, float]:
    graphs = graphs_of(count)
    peak = Peak()
    LearnedCost().fit(graphs, epochs=1)
    return {"peak": peak.stop(), "input": size_of(graphs)}


def augment(count: int) -> dict[str, float]:
    import sys

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "graphs.safetensors"
        write_graphs(source, pack(lollipop(1000, seed=0)))
        sys.argv = ["epic", "augment", str(source), "--method", "epic_unit", "--count", str(count)]
        sys.argv += ["--workers", "2", "--out", str(Path(folder) / "made")]
        peak = Peak()
        try:
            command_line()
        except SystemExit as end:
            if end.code:
                raise
        made = sum(p.stat().st_size for p in Path(folder, "made").glob("shard-*")) / MB
        return {"peak": peak.stop(), "on disk": made}


JOBS: dict[str, tuple[Callable[[int], dict[str, float]], tuple[int, ...], str]] = {
    "distances": (distances, (500, 1000, 2000), "graphs, all pairs"),
    "large_graph": (large_graph, (1000, 3000), "nodes of one graph in a batch of 64 small ones"),
    "fit": (fit, (50_000, 200_000), "small graphs, one epoch"),
    "augment": (augment, (100_000, 1_000_000), "graphs to shards by two workers"),
}


def measured(job: str, size: int, answer) -> None:
    start = time.perf_counter()
    found = JOBS[job][0](size)
    answer.send((found, time.perf_counter() - start))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default=",".join(JOBS), help="some of: " + ", ".join(JOBS))
    parser.add_argument("--part", type=float, default=1.0, help="share of every size")
    parser.add_argument("--out", type=Path, default=RESULTS / "memory.jsonl")
    options = parser.parse_args()
    jobs = options.jobs.split(",")
    if unknown := [job for job in jobs if job not in JOBS]:
        parser.error(f"unknown jobs {', '.join(unknown)}: some of {', '.join(JOBS)}")
    for job in jobs:
        _, sizes, words = JOBS[job]
        print(f"{job}: {words}")
        for size in sizes:
            size = max(50, int(size * options.part))
            ours, theirs = multiprocessing.Pipe(duplex=False)
            process = multiprocessing.get_context("spawn").Process(target=measured, args=(job, size, theirs))
            process.start()
            theirs.close()
            try:
                found, seconds = ours.recv()
            except EOFError:  # the system ended it, as it does where memory is short
                process.join()
                raise SystemExit(f"{job} at {size} ended without an answer (exit code {process.exitcode})") from None
            process.join()
            print(
                f"  {size:>9}  " + "  ".join(f"{name} {value:,.0f}" for name, value in found.items()),
                f"(MB), {seconds:.0f} s",
            )
            record(options.out, benchmark="memory", job=job, size=size, megabytes=found, seconds=seconds, words=words)


if __name__ == "__main__":
    main()
