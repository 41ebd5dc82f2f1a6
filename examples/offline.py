"""Offline augmentation: make graphs ahead of training, keep them on disk, and train on them.

You learn: how to write shards that can be gone on with after a stop, to open them as a PyG dataset, and to train on
originals and made graphs together. ``epic augment`` does the writing on the command line, with workers or on a cluster.
Run it: python examples/offline.py
"""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, global_add_pool
from torch_geometric.transforms import OneHotDegree

from epic import EPIC
from epic.augment.generation import ShardMaker, write_shards
from epic.data import Shards, lollipop
from epic.data.shards import begin
from epic.graphs.convert import pack

CLASSES, HIGHEST_DEGREE = 4, 8


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "offline")
    options.add_argument("--count", type=int, default=600, help="graphs to make")
    options.add_argument("--epochs", type=int, default=5)
    args = options.parse_args()
    torch.manual_seed(0)

    degrees = OneHotDegree(HIGHEST_DEGREE, cat=False)
    train = [degrees(g) for g in lollipop(100, seed=0)]
    test = [degrees(g) for g in lollipop(100, seed=1)]
    augment = EPIC(degree_features=True, seed=0).fit(train, epochs=10, progress=False)

    # The manifest says what the folder holds; begin() tells which shards are missing, so a second run goes on.
    folder = args.out / "shards"
    folder.mkdir(parents=True, exist_ok=True)
    maker = ShardMaker(augment, pack(train), seed=0, count=args.count, shard=256)
    missing = begin(folder, {"count": args.count, "shard": 256, "made from": "100 lollipops, seed 0"})
    for written in write_shards(maker, folder, [name for name, _ in missing]):
        print(f"wrote a shard of {written} graphs")

    # What is lost is made again, to the byte.
    first = next(folder.glob("shard-00000*"))
    before = first.read_bytes()
    first.unlink()
    list(write_shards(maker, folder, [first.name]))
    print(f"{first.name} deleted and made again: {'the same' if first.read_bytes() == before else 'different'} bytes")

    # A folder of shards is a PyG dataset: length, index, slices, any loader. Only a few shards are in memory at a time.
    made = Shards(folder)
    print(f"{len(made)} graphs on disk; the last has {made[-1].num_nodes} nodes, label {made[-1].y[0].tolist()}")

    # Labels of made graphs are shares; those of originals become so too, and both go into one loader.
    for graph in train:
        graph.y = F.one_hot(graph.y, CLASSES).float()
    keys = ("x", "edge_index", "y")
    both = [type(g)(**{k: g[k] for k in keys}) for part in (train, made) for g in part]
    encoder = GIN(HIGHEST_DEGREE + 1, hidden_channels=32, num_layers=3)
    head = torch.nn.Linear(32, CLASSES)
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=0.01)
    for epoch in range(args.epochs):
        total = 0.0
        loader = DataLoader(both, batch_size=64, shuffle=True)
        for batch in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(head(global_add_pool(encoder(batch.x, batch.edge_index), batch.batch)), batch.y)
            loss.backward()
            optimizer.step()
            total += loss.item() / len(loader)
        print(f"epoch {epoch}: loss {total:.3f}")
    with torch.no_grad():
        batch = next(iter(DataLoader(test, batch_size=len(test))))
        found = head(global_add_pool(encoder(batch.x, batch.edge_index), batch.batch)).argmax(1)
    print(f"trained on {len(both)} graphs; {int((found == batch.y).sum())} of {len(test)} test graphs right")


if __name__ == "__main__":
    main()
