"""How near plain training comes to the paper's vanilla rows: GIN and GCN, both poolings, five seeds, other splits.

    python benchmarks/vanilla.py BZR COX2 --backbones gin,gcn

One JSON line a run is appended to results/vanilla.jsonl; a run that is there is not done again.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import torch

from epic.data import load
from epic.data.splits import split_of
from epic.train import Training, train
from epic.train.backbones import backbone_for
from epic.train.loop import with_features

SETS = ("BZR", "COX2", "ENZYMES", "IMDB-BINARY", "IMDB-MULTI", "PROTEINS", "NCI1", "Mutagenicity")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=SETS)
    parser.add_argument("--backbones", default="gin,gcn")
    parser.add_argument("--pools", default="sum,mean")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--splits", type=int, default=1, help="split seeds 0 .. N-1")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results" / "vanilla.jsonl")
    options = parser.parse_args()
    torch.set_num_threads(1)
    done = set()
    if options.out.exists():
        for line in map(json.loads, options.out.read_text().splitlines()):
            done.add(tuple(line[k] for k in ("dataset", "backbone", "pool", "split", "seed", "epochs")))
    for name in options.datasets:
        dataset = load(name)
        for split_seed in range(options.splits):
            split = split_of(dataset.y, dataset.split, split_seed)
            graphs = with_features(dataset.graphs, split.train)
            for backbone in options.backbones.split(","):
                for pool in options.pools.split(","):
                    for seed in range(options.seeds):
                        key = (name, backbone, pool, split_seed, seed, options.epochs)
                        if key in done:
                            continue
                        model = backbone_for(graphs, dataset.outputs, backbone, seed, pool=pool)
                        batch = 32 if dataset.split is not None else 128
                        recipe = Training(epochs=options.epochs, batch=batch, seed=seed)
                        result = asdict(train(dataset, split, model=model, options=recipe, progress=False))
                        history = result.pop("history")
                        line = {"dataset": name, "backbone": backbone, "pool": pool, "split": split_seed, "seed": seed}
                        line |= {**result, "epochs": options.epochs, "last_test": history[-1]["test"]}
                        with options.out.open("a") as file:
                            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
