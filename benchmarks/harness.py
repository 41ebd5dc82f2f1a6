"""What the harness (plan, pool, store, page) adds to the time of the runs themselves.

    python benchmarks/harness.py                 # data from EPIC_DATA; appends to results/harness.jsonl

One worker carries out vanilla and DropEdge on BZR, five seeds each with 100 epochs, and the page is written: what is
longer than the sum of the runs is overhead. A worker's start (the import of torch and PyG) comes once however many runs
there are, so it is told apart.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from epic.compare.runner import carry_out
from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.compare.task import Performer, Task
from epic.errors import InputError
from epic.paper.plans import load_plan
from epic.paper.report import report
from epic.parallel import execute
from timing import RESULTS, record


def nothing(task: Task) -> dict:
    return {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", default=os.environ.get("EPIC_DATA"), help="folder that holds tu/ (default: EPIC_DATA)"
    )
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--out", type=Path, default=RESULTS / "harness.jsonl")
    args = parser.parse_args()
    if not args.data:
        raise InputError("no data folder: pass --data or set EPIC_DATA")
    plan = load_plan(
        "main", datasets=("BZR",), methods=["vanilla", "drop_edge"], backbones=("gin",), tune=0, epochs=args.epochs
    )
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "runs.jsonl")
        runs = Runs(plan, store)
        for _ in range(2):  # the second time files are in the system's cache, as they are for the worker below
            begin = time.perf_counter()
            list(execute(nothing, list(runs)[:1], workers=1))
            start = time.perf_counter() - begin
        begin = time.perf_counter()
        carry_out(runs, Performer(Path(folder) / "costs", args.data), workers=1)
        carried = time.perf_counter() - begin
        (Path(folder) / "page.html").write_text(report([runs]), encoding="utf-8")
        page = time.perf_counter() - begin - carried
        spent = [r["seconds_in_all"] for r in store]
    busy = sum(spent)
    rest = carried - busy - start
    print(f"{len(spent)} runs of {busy / len(spent):.1f} s: {busy:.1f} s")
    print(f"start of a worker {start:.1f} s, plan, pool and store {rest:.2f} s, page {page:.2f} s")
    share = (rest + page) / busy
    print(f"overhead {share:.2%} of the runs, {(rest + page + start) / busy:.2%} with the start of the worker")
    record(
        args.out,
        runs=len(spent),
        runs_seconds=round(busy, 2),
        start_seconds=round(start, 2),
        plan_pool_store_seconds=round(rest, 3),
        page_seconds=round(page, 3),
        overhead=round(share, 5),
    )


if __name__ == "__main__":
    main()
