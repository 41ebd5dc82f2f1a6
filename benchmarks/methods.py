"""Milliseconds per augmented graph of every method on NCI1 and IMDB-BINARY, next to a GIN step per graph.

    python benchmarks/methods.py                  # data from EPIC_DATA; appends to results/methods.jsonl

One thread, batches of 128, medians of interleaved rounds. Methods that make graphs are timed by the batch they make
(one graph for each original) less the time of a plain batch; those that act in the loss by their training step less a
plain one. What `fit` takes is reported too.
"""

from __future__ import annotations

import argparse
import time
import warnings
from functools import partial
from pathlib import Path

import torch

from epic.augment import METHODS, TrainingMethod, find_method, training_steps
from epic.data import load
from epic.data.splits import split_of
from epic.random import derived
from epic.train import backbone_for
from epic.train.loop import with_features
from timing import RESULTS, keep_memory, race, record

BATCH = 128


def fitted(name: str, graphs, degrees: bool):
    preset = find_method(name)
    wanted = {"ratio": 1.0, "degree_features": True if degrees else None}
    method = preset.create(**{k: v for k, v in wanted.items() if k in preset.params})
    options = {"progress": False} if preset.cls.stores or "cost" in preset.params else {}
    options |= {"epochs": 5} if preset.cls.learns or "cost" in preset.params else {}
    begin = time.perf_counter()
    method.fit(graphs, **options)
    return method, time.perf_counter() - begin


def step(method, model, optimizer, batch):
    steps = training_steps(method)

    def work() -> None:
        optimizer.zero_grad()
        steps.loss(model, method.augment_batch(batch, derived(0))).backward()
        optimizer.step()

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="NCI1,IMDB-BINARY")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path, default=RESULTS / "methods.jsonl")
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_memory()
    warnings.simplefilter("ignore")
    for name in options.datasets.split(","):
        dataset = load(name)
        split = split_of(dataset.y, official=dataset.split, seed=0)
        graphs = with_features(dataset.graphs, split.train).select(split.train)
        batch = graphs.select(torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))[:BATCH])
        making, training, prepared = {}, {}, {}
        for method_name in dict.fromkeys(["vanilla", *options.methods.split(",")]):
            method, prepared[method_name] = fitted(method_name, graphs, dataset.graphs.x is None)
            model = training_steps(method).wrap_model(backbone_for(graphs, outputs=dataset.outputs))
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
            in_loss = isinstance(method, TrainingMethod)
            if not in_loss:
                making[method_name] = (partial(method.augment_batch, batch, derived(0)), BATCH)
            if in_loss or method_name == "vanilla":
                training[method_name] = (step(method, model, optimizer, batch), BATCH)
        made, trained = race(making, options.rounds), race(training, options.rounds)
        extra = {m: made[m] - made["vanilla"] for m in made if m != "vanilla"}
        extra |= {m: trained[m] - trained["vanilla"] for m in trained if m != "vanilla"}
        gin = trained["vanilla"]
        print(f"\n{name}: a GIN step takes {gin:.3f} ms per graph")
        for m in sorted(extra, key=lambda m: extra[m]):
            print(f"  {m:<20}{extra[m]:8.3f} ms {extra[m] / gin:7.2f} of a step   prepared in {prepared[m]:6.1f} s")
        record(
            options.out,
            benchmark="methods",
            dataset=name,
            gin_step=gin,
            milliseconds=extra,
            prepared_seconds=prepared,
            rounds=options.rounds,
        )


if __name__ == "__main__":
    main()
