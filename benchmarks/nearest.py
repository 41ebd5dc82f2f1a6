"""One-nearest-neighbour accuracy by exact edit distance on a fixed 70/10/20 split, for unit, feature and learned costs.

    python benchmarks/nearest.py NCI1 --costs sinkhorn,hungarian,unit --seeds 3 --out results/nearest.jsonl

Costs are learned on the training graphs; the validation graphs choose the epoch. Runs that the file already holds are
not done again.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import torch

from epic import InputError, __version__
from epic.classifiers.voting import GRID
from epic.paper.experiments.distance import distance_run


def run(folder: Path, dataset: str, cost_name: str, seed: int, threads: int, neighbours: bool = False) -> dict:
    record = distance_run(dataset, cost_name, seed, data=folder, grid=GRID if neighbours else (), progress=True)
    return {**record, "threads": threads, "epic": __version__, "torch": torch.__version__}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", help="TUDataset name")
    parser.add_argument("--costs", default="sinkhorn,hungarian,unit,feature")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--k", action="store_true", help="k nearest neighbours too, k chosen on the validation graphs")
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
    # A line without k nearest neighbours does not answer for them.
    done = {(r["dataset"], r["cost"], r["seed"]) for r in map(json.loads, lines) if "k" in r or not args.k}
    for seed in range(args.seeds):
        for name in args.costs.split(","):
            if (args.dataset, name, seed) in done or (seed and name in ("unit", "feature")):
                continue
            result = run(Path(args.data), args.dataset, name, seed, args.threads, args.k)
            with args.out.open("a") as file:
                file.write(json.dumps(result) + "\n")
            print(json.dumps(result))


if __name__ == "__main__":
    main()
