"""A training epoch of GIN on NCI1 (5 x 64, batch 128), in our loop and in a minimal PyG loop, plain and with EPIC.

Also with dropout between layers, ours and torch's.

    python benchmarks/train.py                    # data from EPIC_DATA; appends to results/train.jsonl

Epochs are trained in turn, one thread each (loader workers are processes); times are medians. Evaluation is
left out on all sides.
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool

from epic import EPIC, LearnedCost, UnitCost
from epic.augment import Vanilla, training_steps
from epic.data import load
from epic.data.splits import split_of
from epic.nn.fit_loop import FitLoop
from epic.train import Training, backbone_for
from epic.train.loop import Steps
from timing import RESULTS, keep_memory, race, record


class Plain(nn.Module):
    """The same network from PyG's parts."""

    def __init__(self, features: int, width: int = 64, layers: int = 5) -> None:
        super().__init__()
        self.first = nn.Linear(features, width)
        self.convs = nn.ModuleList(
            GINConv(
                nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width)),
                train_eps=True,
            )
            for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.5), nn.Linear(width, 2))

    def forward(self, batch):
        h = self.first(batch.x)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            h = F.relu(norm(conv(h, batch.edge_index)))
        return self.head(global_add_pool(h, batch.batch))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="epochs of each kind")
    parser.add_argument("--out", type=Path, default=RESULTS / "train.jsonl")
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_memory()
    dataset = load("NCI1")
    split = split_of(dataset.y, seed=0)
    graphs = dataset.graphs.select(split.train)
    cost = LearnedCost().fit(graphs, validation=0, epochs=5, seed=0, progress=False)
    recipe = Training(batch_size=128, epochs=10_000)

    def ours(method, workers: int = 0, **changes):
        model = backbone_for(graphs, outputs=2, **changes)
        method.set_label_type("classes", 2)
        steps, acting = Steps(graphs, method, recipe), training_steps(method)
        loop = FitLoop(model, recipe, judge=lambda line: line["loss"])
        stream = steps.batches(0, workers)
        return lambda: loop.train_epoch(islice(stream, steps.per_epoch), lambda batch: acting.loss(model, batch))

    def minimal(augment=None):
        model = Plain(graphs.x.shape[1])
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        loader = DataLoader([graphs.graph(g) for g in range(len(graphs))], batch_size=128, shuffle=True)

        def epoch() -> None:
            model.train()
            for batch in loader:
                if augment is not None:
                    batch = augment(batch)
                optimizer.zero_grad()
                F.cross_entropy(model(batch), batch.y).backward()
                optimizer.step()

        return epoch

    def epic():
        return EPIC(cost, ratio=0.5, seed=0, degree_features=False)

    def torch_dropout():
        epoch = ours(Vanilla(seed=0), between=True)

        def work() -> None:
            with patch("epic.nn.backbones.dropout", F.dropout):
                epoch()

        return work

    count, edges = len(graphs), EPIC(UnitCost(), matching="edges", ratio=1.0, seed=0)
    entries = {
        "minimal PyG loop": (minimal(), count),
        "minimal PyG loop, epic at 0.5": (minimal(epic().fit(graphs)), count),
        "minimal PyG loop, epic_edges at 1": (minimal(edges.fit(graphs)), count),
        "ours, vanilla": (ours(Vanilla(seed=0)), count),
        "ours, dropout between layers": (ours(Vanilla(seed=0), between=True), count),
        "ours, torch's dropout between layers": (torch_dropout(), count),
        "ours, epic at 0.5": (ours(epic()), count),
        "ours, epic at 0.5, one loader worker": (ours(epic(), workers=1), count),
    }
    times = race(entries, options.rounds)
    print(f"NCI1, {count} training graphs, GIN 5 x 64, batch 128, {options.rounds} epochs of each in turn")
    for name, ms in times.items():
        plain = "ours, vanilla" if name.startswith("ours") else "minimal PyG loop"
        print(f"  {name:<40}{ms * count / 1e3:8.3f} s an epoch {ms / times[plain]:7.2f} x {plain}")
    record(options.out, benchmark="train", milliseconds_per_graph=times, rounds=options.rounds)


if __name__ == "__main__":
    main()
