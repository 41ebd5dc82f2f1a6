"""Compare methods fairly: the same splits and initial weights for all, paired differences, and no more than is known.

You learn: how to ask ``epic.compare`` whether augmentation helps on your own file, with your own network, and to read
the answer: a difference to plain training, its interval over splits, a p-value corrected for the number of methods, and
often "no evidence". ``epic compare`` asks the same on the command line. It needs RDKit (pip install 'epic-graph[mol]').
Run it: python examples/compare_methods.py (in the time you have: --budget 5m)
"""

import argparse
import json
from pathlib import Path

import torch
from torch_geometric.nn import GINConv, global_add_pool

import epic

MOLECULES = Path(__file__).parent / "molecules.csv"


class Net(torch.nn.Module):
    """Your network: it is built with the number of columns of x and the number of outputs."""

    def __init__(self, features: int, outputs: int, width: int = 32) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(
            GINConv(torch.nn.Sequential(torch.nn.Linear(size, width), torch.nn.ReLU(), torch.nn.Linear(width, width)))
            for size in (features, width)
        )
        self.out = torch.nn.Linear(width, outputs)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        x = x.float().log1p()  # atoms come as categories; a real network would embed them
        for layer in self.layers:
            x = layer(x, edge_index).relu()
        return self.out(global_add_pool(x, batch))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "compare_methods")
    options.add_argument("--methods", default="drop_edge,submix,epic", help="plain training is always there")
    options.add_argument("--splits", type=int, default=6)
    options.add_argument("--updates", type=int, default=200, help="gradient updates of each run")
    options.add_argument("--budget", help="a time such as 5m: the plan is cut to fit")
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    found = epic.compare(
        MOLECULES,
        args.methods.split(","),
        model=Net,
        splits=args.splits,
        seeds=1,
        tune=0,
        updates=args.updates,
        cost={"epochs": 10},
        budget=args.budget,
        results=args.out / "runs.jsonl",
        progress=False,
    )
    print(found)
    print("\nShort training, one seed and untuned settings: it shows how to compare, not which method is good.")

    numbers = {
        row.method: {"difference": row.difference.difference, "low": row.difference.low, "high": row.difference.high}
        for row in found.rows
        if row.difference is not None
    }
    (args.out / "differences.json").write_text(json.dumps(numbers, indent=1) + "\n")
    (args.out / "page.html").write_text(found.page(), encoding="utf-8")
    print(f"wrote {args.out / 'page.html'} (verdicts and a forest plot) and differences.json")


if __name__ == "__main__":
    main()
