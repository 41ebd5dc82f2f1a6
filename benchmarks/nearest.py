"""One-nearest-neighbour accuracy by exact edit distance on a fixed 70/10/20 split, for unit, feature and learned costs.

    python benchmarks/nearest.py NCI1 --costs sinkhorn,hungarian,unit --seeds 3 --out results/nearest.jsonl

Costs are learned on the training graphs; the validation graphs choose the epoch. Runs that the file already holds are
not done again.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import torch

from epic import FeatureCost, InputError, LearnedCost, UnitCost, __version__
from epic.cost.learning import ASSIGNMENTS
from epic.data import read_tu, stratified_split


def run(folder: Path, dataset: str, cost_name: str, seed: int, threads: int) -> dict:
    graphs = read_tu(folder, dataset)
    assert graphs.y is not None
    split = stratified_split(graphs.y)
    train, validation, test = (graphs.select(part) for part in (split.train, split.validation, split.test))
    begin = time.perf_counter()
    details: dict = {}
    if cost_name in ASSIGNMENTS:
        cost = LearnedCost().fit(train, validation=validation, assignment=cost_name, seed=seed)
        best = min(cost.history, key=lambda e: e.judged)
        details = {"epochs": len(cost.history), "best_epoch": best.epoch, "validation_ordered": round(best.ordered, 4)}
    else:
        cost = UnitCost() if cost_name == "unit" else FeatureCost()
    fitted = time.perf_counter()
    found = cost.nearest(test, train)
    done = time.perf_counter()
    correct = int((train.y[found.index[:, 0]] == test.y).sum())
    return {
        "dataset": dataset,
        "cost": cost_name,
        "seed": seed,
        "test_graphs": len(test),
        "correct": correct,
        "accuracy": round(100 * correct / len(test), 2),
        "fit_seconds": round(fitted - begin, 1),
        "nearest_seconds": round(done - fitted, 1),
        "assignments_solved_share": round(found.solved / (len(test) * len(train)), 4),
        **details,
        "threads": threads,
        "epic": __version__,
        "torch": torch.__version__,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", help="TUDataset name")
    parser.add_argument("--costs", default="sinkhorn,hungarian,unit,feature")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--data", default=os.environ.get("EPIC_DATA"), help="folder that holds tu/ (default: EPIC_DATA)"
    )
    parser.add_argument("--out", type=Path, default=Path("results/nearest.jsonl"))
    args = parser.parse_args()
    if not args.data:
        raise InputError("no data folder: pass --data or set EPIC_DATA")
    torch.set_num_threads(args.threads)
    args.out.parent.mkdir(exist_ok=True)
    lines = args.out.read_text().splitlines() if args.out.exists() else []
    done = {(r["dataset"], r["cost"], r["seed"]) for r in map(json.loads, lines)}
    for seed in range(args.seeds):
        for name in args.costs.split(","):
            if (args.dataset, name, seed) in done or (seed and name not in ASSIGNMENTS):
                continue
            result = run(Path(args.data) / "tu", args.dataset, name, seed, args.threads)
            with args.out.open("a") as file:
                file.write(json.dumps(result) + "\n")
            print(json.dumps(result))


if __name__ == "__main__":
    main()
