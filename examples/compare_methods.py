"""Compare methods fairly: the same splits and seeds for all, paired differences, and no more said than is known.

You learn: how to train several methods on the same splits, to compare each with plain training by pairs, and to read
the verdict: an interval, a p-value corrected for the number of methods, and often "no evidence". ``epic compare`` does
this on your own data, tuning included. Run it: python examples/compare_methods.py (more splits: --splits 10)
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from epic.augment import find_method
from epic.compare.statistics import holm, paired
from epic.compare.verdict import verdict
from epic.data import Dataset, corrupt, lollipop, stratified_split
from epic.graphs.convert import pack
from epic.train import Training, backbone_for, train
from epic.train.loop import with_features

WRONG = 0.3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "compare_methods")
    options.add_argument("--methods", default="vanilla,drop_edge,submix,epic", help="the first is what others meet")
    options.add_argument("--splits", type=int, default=3)
    options.add_argument("--seeds", type=int, default=2)
    options.add_argument("--epochs", type=int, default=12)
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    methods = args.methods.split(",")
    clean = pack(lollipop(160, seed=0))

    scores = {name: np.zeros((args.splits, args.seeds)) for name in methods}
    for number in range(args.splits):
        split = stratified_split(clean.y, train=0.4, validation=0.2, seed=number)
        # Wrong labels make the task hard enough to tell methods apart. Those of test graphs stay right.
        seen = torch.cat([split.train, split.validation])
        noisy = replace(clean, y=corrupt(clean.y, share=WRONG, index=seen, seed=number))
        dataset = Dataset("noisy lollipops", with_features(noisy, split.train), "classes")
        training = dataset.graphs.select(split.train)
        for seed in range(args.seeds):
            for name in methods:
                settings = {} if name == "vanilla" else {"degree_features": True}
                method = find_method(name).create(seed=seed, **settings)
                method.fit(training, **({"epochs": 10, "progress": False} if name == "epic" else {}))
                model = backbone_for(training, outputs=dataset.outputs, seed=seed, hidden_channels=32, num_layers=3)
                how = Training(epochs=args.epochs, batch_size=32, lr=5e-3, seed=seed)
                result = train(dataset, split=split, method=method, model=model, options=how, progress=False)
                scores[name][number, seed] = result.test  # at the epoch with the best validation score
        print(f"split {number}: " + ", ".join(f"{n} {scores[n][number].mean():.1%}" for n in methods))

    # Seeds of one split share their test graphs, so they are averaged; the test knows that splits overlap.
    plain, *others = methods
    found = [paired(scores[name], scores[plain], len(split.train), len(split.test)) for name in others]
    corrected = holm([f.p for f in found])
    print(f"\n{plain}: {scores[plain].mean():.1%} of {len(split.test)} test graphs right on average")
    for name, comparison, p in zip(others, found, corrected, strict=True):
        print(f"{name}: {verdict(comparison, p)}")
    print(
        f"\nThis is {args.splits} splits of a toy with {WRONG:.0%} wrong labels, short training and untuned settings:"
    )
    print("it shows how to compare, not which method is good.")
    record = {
        "scores": {n: s.tolist() for n, s in scores.items()},
        "corrected_p": dict(zip(others, corrected, strict=True)),
    }
    (args.out / "scores.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"wrote {args.out / 'scores.json'}")


if __name__ == "__main__":
    main()
