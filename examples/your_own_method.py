"""A method of your own: subclass ``Augmentation``, check it, and train with it beside the others.

You learn: the one function to write, what comes for free (labels, seeds, workers, offline generation), and how the
checks that every method of this library passes are run on yours. Run it: python examples/your_own_method.py
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Batch

from epic.augment import Augmentation, MethodInfo
from epic.augment.base import need_float, need_share
from epic.data import Dataset, lollipop, stratified_split
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs
from epic.train import Training, backbone_for, train
from epic.train.loop import with_features


class MaskNodes(Augmentation):
    """Hide the features of each node with probability ``p``: its row of ``x`` becomes zero."""

    about = MethodInfo(
        paper="none: an example",
        changes="features: some rows zero",
        needs="float features",
        label="unchanged",
        edge_attr="kept",
        cost="one random number a node",
    )
    grid = {"p": (0.2, 0.1, 0.4)}  # values to choose from on validation; the first is the default
    follows_degrees = False  # where x holds degrees, the hidden ones must stay hidden

    def __init__(self, p: float = 0.2, ratio: float = 0.5, replace: bool = False, seed: int | None = None) -> None:
        super().__init__(ratio, replace, seed)
        self.p = need_share(p, "p")

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        """One changed graph for each picked one. All graphs lie in a few long tensors, so no loop is needed."""
        need_float(graphs, "MaskNodes", "sets features to zero")
        chosen = graphs.select(picked)
        if chosen.x is None:
            return chosen
        shown = torch.rand(chosen.num_nodes, generator=generator) >= self.p  # nothing random from elsewhere
        return replace(chosen, node={**chosen.node, "x": chosen.x * shown[:, None]})


def check(method: Augmentation, batch: Batch) -> dict[str, bool]:
    """A few of the checks. `class TestMine(AugmentationTester)` of tests/augment/tester.py runs them all."""
    before = batch.clone()
    one, two = method(batch, seed=3), method(batch, seed=3)
    new = one.augmented
    return {
        "originals are not changed": torch.equal(batch.x, before.x),
        "labels are shares that sum to 1": torch.allclose(one.y.sum(1), torch.ones(one.num_graphs)),
        "the same seed gives the same graphs": torch.equal(one.x, two.x),
        "another seed gives others": not torch.equal(one.x, method(batch, seed=4).x),
        "half as many graphs are added": int(new.sum()) == round(method.ratio * batch.num_graphs),
        "nodes are hidden in new graphs only": bool((one.x.abs().sum(1) == 0)[new[one.batch]].any())
        and not bool((one.x.abs().sum(1) == 0)[~new[one.batch]].any()),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "your_own_method")
    options.add_argument("--epochs", type=int, default=15)
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    graphs = pack(lollipop(120, seed=0))
    split = stratified_split(graphs.y, seed=0)
    dataset = Dataset("lollipop", with_features(graphs, split.train), "classes")  # one-hot degrees
    training = dataset.graphs.select(split.train)
    method = MaskNodes(p=0.3, seed=0).fit(training)
    print(method)

    checks = check(method, training.to_batch())
    for what, passed in checks.items():
        print(f"  {'yes' if passed else 'NO '}  {what}")

    # What Augmentation gives for free: graphs ahead of training, loaders with workers, and the one training loop.
    ahead = list(method.generate(training, count=100, seed=0))
    hidden = sum(int((g.x.sum(1) == 0).sum()) for g in ahead) / sum(g.num_nodes for g in ahead)
    print(f"{len(ahead)} graphs made ahead, {hidden:.0%} of their nodes hidden")
    model = backbone_for(training, dataset.outputs, seed=0, hidden_channels=32, num_layers=3)
    result = train(dataset, split, method, model, Training(args.epochs, batch_size=32, lr=5e-3), progress=False)
    print(f"trained for {result.epochs} epochs: test accuracy {result.test:.1%} on {len(split.test)} graphs")

    record = {"checks": checks, "hidden": hidden, "test": result.test, "settings": method.settings()}
    (args.out / "result.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"wrote {args.out / 'result.json'}")


if __name__ == "__main__":
    main()
