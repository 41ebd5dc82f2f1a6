"""Learning a cost and augmenting batches on an idle and on a busy machine, against torch's default number of threads.

    python benchmarks/threads.py                  # data from EPIC_DATA; appends to results/threads.jsonl

The rival is the same code with the choice of threads switched off. Busy means one more process that computes on every
core. Times are wall times, the least of the rounds.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from unittest import mock

import torch

from epic import EPIC
from epic.data import load
from timing import RESULTS, record


def spin() -> None:
    while True:
        sum(range(10_000))


@contextmanager
def busy(processes: int):
    others = [multiprocessing.get_context("spawn").Process(target=spin, daemon=True) for _ in range(processes)]
    for other in others:
        other.start()
    time.sleep(1.0)
    try:
        yield
    finally:
        for other in others:
            other.kill()


@contextmanager
def all_threads():
    with ExitStack() as stack:
        for place in ("epic.nn.fit_loop", "epic.augment.base", "epic.distance.pairs"):
            stack.enter_context(mock.patch(f"{place}.few_threads", nullcontext))
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS / "threads.jsonl")
    options = parser.parse_args()
    graphs = load("NCI1").graphs.select(torch.arange(0, 4110, 14))
    batch = graphs.select(torch.arange(128)).to_batch()

    def work() -> tuple[float, float]:
        start = time.perf_counter()
        augment = EPIC(seed=0).fit(graphs, epochs=1, progress=False)
        learned = time.perf_counter()
        for _ in range(10):
            augment(batch)
        return learned - start, (time.perf_counter() - learned) / 10

    work()
    found = {}
    for load_name, around in (("idle", nullcontext()), ("busy", busy(os.cpu_count() or 2))):
        with around:
            for name, how in (("ours", nullcontext), ("all threads", all_threads)):
                with how():
                    times = [work() for _ in range(options.rounds)]
                found[f"{load_name}, {name}"] = [min(column) for column in zip(*times, strict=True)]
    print(f"300 NCI1 graphs, {torch.get_num_threads()} threads by default")
    for name, (fit, call) in found.items():
        print(f"  {name:<20} {fit:8.2f} s an epoch of learning {1e3 * call:10.1f} ms a batch of 128")
    record(options.out, benchmark="threads", seconds=found, threads=torch.get_num_threads(), rounds=options.rounds)


if __name__ == "__main__":
    main()
