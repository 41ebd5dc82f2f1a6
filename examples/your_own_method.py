"""Write a new method: subclass ``Augmentation``, check it, and train with it.

You learn: the one function to write, what comes for free (parameters, seeds, workers, offline generation), and how the
checks that every method of this library passes are run on yours. Run it: python examples/your_own_method.py
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.transforms import OneHotDegree

from epic import PackedGraphs, pack
from epic.augment import Augmentation, MethodInfo, checks, param
from epic.data import Dataset, lollipop, stratified_split
from epic.testing import AugmentationTester, run_checks
from epic.train import Training, backbone_for, train


class MaskNodes(Augmentation):
    """Hide the features of each node with probability ``p``: its row of ``x`` becomes zero."""

    info = MethodInfo(
        paper="none: an example",
        changes="features: some rows zero",
        needs="float features",
        label="unchanged",
        edge_attr="kept",
        cost="one random number a node",
    )
    follows_degrees = False  # where x holds degrees, the hidden ones must stay hidden

    # An argument of the constructor, with the values that tuning tries; ratio, replace and seed are inherited.
    p: float = param(default=0.2, grid=(0.1, 0.4), check=checks.share, kw_only=False, help="chance of a node to hide")

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        """Make one changed graph for each picked one. All graphs lie in a few long tensors: no loop is needed."""
        checks.need_float(graphs, "MaskNodes", "sets features to zero")
        chosen = graphs.select(picked)
        if chosen.x is None:
            return chosen
        shown = torch.rand(chosen.num_nodes, generator=generator) >= self.p  # nothing random from elsewhere
        return replace(chosen, node={**chosen.node, "x": chosen.x * shown[:, None]})


class TestMaskNodes(AugmentationTester):
    """Say how the method is made and what it cannot take; pytest finds the checks, and so does ``run_checks``."""

    refuses = ("integer categories",)
    keeps_features = False  # hidden rows are zero

    def method(self) -> Augmentation:
        return MaskNodes(0.5)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "your_own_method")
    options.add_argument("--epochs", type=int, default=15)
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    found = run_checks(TestMaskNodes())
    passed = sum(result == "passed" for result in found.values())
    print(f"{passed} of {len(found)} checks passed")
    for check, result in found.items():
        if result != "passed":
            print(f"  {check}: {result}")

    graphs = lollipop(120, seed=0)
    most = max(int(torch.bincount(g.edge_index[0]).max()) for g in graphs)
    dataset = Dataset("lollipop", pack([OneHotDegree(most)(g) for g in graphs]), "classes")
    split = stratified_split(dataset.y, seed=0)
    training = dataset.graphs.select(split.train)
    method = MaskNodes(p=0.3).fit(training)
    print(method)

    # What Augmentation gives for free: graphs ahead of training, loaders with workers, and the one training loop.
    ahead = list(method.generate(training, count=100, seed=0))
    hidden = sum(int((g.x.sum(1) == 0).sum()) for g in ahead) / sum(g.num_nodes for g in ahead)
    print(f"{len(ahead)} graphs made ahead, {hidden:.0%} of their nodes hidden")
    model = backbone_for(training, outputs=dataset.outputs, seed=0, hidden_channels=32, num_layers=3)
    how = Training(epochs=args.epochs, batch_size=32, lr=5e-3)
    result = train(dataset, split=split, method=method, model=model, options=how, progress=False)
    print(f"trained for {result.epochs} epochs: test accuracy {result.test:.1%} on {len(split.test)} graphs")

    record = {"checks": found, "hidden": hidden, "test": result.test, "parameters": method.get_params()}
    (args.out / "result.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"wrote {args.out / 'result.json'}")


if __name__ == "__main__":
    main()
