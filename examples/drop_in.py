"""Drop-in augmentation: an ordinary PyTorch Geometric training loop with EPIC in one line of it.

You learn: how to fit EPIC on the training graphs, what it makes of a batch, and that nothing else of the loop changes
except that labels are now rows of shares. Run it: python examples/drop_in.py
"""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool
from torch_geometric.transforms import OneHotDegree

from epic import EPIC
from epic.data import lollipop

HIGHEST_DEGREE = 8


class Net(torch.nn.Module):
    """Any model that takes a batch will do."""

    def __init__(self, features: int, num_classes: int, width: int = 32) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(
            GINConv(torch.nn.Sequential(torch.nn.Linear(size, width), torch.nn.ReLU(), torch.nn.Linear(width, width)))
            for size in (features, width)
        )
        self.out = torch.nn.Linear(width, num_classes)

    def forward(self, batch: Batch) -> torch.Tensor:
        x = batch.x
        for layer in self.layers:
            x = layer(x, batch.edge_index).relu()
        return self.out(global_add_pool(x, batch.batch))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "drop_in")
    options.add_argument("--graphs", type=int, default=120, help="graphs to train on")
    options.add_argument("--epochs", type=int, default=10)
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)

    # Graphs whose class is the size of their clique. Node degrees serve as features.
    degrees = OneHotDegree(HIGHEST_DEGREE, cat=False)
    train = [degrees(g) for g in lollipop(args.graphs, seed=0)]
    test = [degrees(g) for g in lollipop(100, seed=1)]
    loader = DataLoader(train, batch_size=32, shuffle=True)

    # Learns what edits cost. x holds degrees, so they have to follow the edits.
    augment = EPIC(ratio=0.5, degree_features=True, seed=0).fit(train, epochs=10, progress=False)

    model = Net(HIGHEST_DEGREE + 1, num_classes=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for batch in loader:
            batch = augment(batch)  # the one new line: 32 graphs come in, 48 go out
            optimizer.zero_grad()
            loss = F.cross_entropy(model(batch), batch.y)  # batch.y holds shares of classes [48, 4]
            loss.backward()
            optimizer.step()
            total += loss.item() / len(loader)
        print(f"epoch {epoch}: loss {total:.3f}")

    model.eval()
    with torch.no_grad():
        right = sum(int((model(b).argmax(1) == b.y).sum()) for b in DataLoader(test, batch_size=100))
    print(f"{right} of {len(test)} test graphs are classified right")

    batch = augment(next(iter(loader)))
    new = [g for g, made in zip(batch.to_data_list(), batch.augmented.tolist(), strict=True) if made]
    print(f"of {batch.num_graphs} graphs in a batch, {len(new)} are new; the first has {new[0].num_nodes} nodes")
    print("and the label", [round(v, 2) for v in new[0].y[0].tolist()])

    augment.save(args.out / "epic.safetensors")
    print(f"wrote {args.out / 'epic.safetensors'}: EPIC.load reads it, cost and settings together")


if __name__ == "__main__":
    main()
