"""
09 A method of your own
=======================

You learn: the one function to write, what comes for free (parameters, seeds, workers, offline generation), and how the
checks that every method of this library passes are run on yours. Run it: ``python examples/your_own_method.py``
"""

from dataclasses import replace

import torch
from matplotlib.figure import Figure
from torch import Tensor
from torch_geometric.transforms import OneHotDegree

from epic import PackedGraphs, pack
from epic.augment import Augmentation, MethodInfo, Vanilla, checks, param
from epic.data import Dataset, lollipop, stratified_split
from epic.testing import AugmentationTester, run_checks
from epic.train import Training, backbone_for, train

# %%
# A method is a subclass with one function. This one hides the features of some nodes. What the class says of itself is
# what ``epic methods`` lists.


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


# %%
# The shared tester makes graphs of every awkward kind and checks what must hold of every method: seeds, labels,
# attributes that travel, originals that stay as they are. Say how the method is made and what it cannot take.


class TestMaskNodes(AugmentationTester):
    """Say how the method is made and what it cannot take; pytest finds the checks, and so does ``run_checks``."""

    refuses = ("integer categories",)
    keeps_features = False  # hidden rows are zero

    def method(self) -> Augmentation:
        return MaskNodes(0.5)


checked = run_checks(TestMaskNodes())
passed = sum(result == "passed" for result in checked.values())
print(f"{passed} of {len(checked)} checks passed")
for check, result in checked.items():
    if result != "passed":
        print(f"{check}: {result}")

# %%
# Parameters are declared once: the constructor, ``get_params``, tuning and the command line read them there.
graphs = lollipop(120, seed=0)
most = max(int(torch.bincount(g.edge_index[0]).max()) for g in graphs)
dataset = Dataset("lollipop", pack([OneHotDegree(most)(g) for g in graphs]), "classes")
split = stratified_split(dataset.y, seed=0)
training = dataset.graphs.select(split.train)
method = MaskNodes(p=0.3).fit(training)
print(method)

# %%
# Graphs ahead of training come for free:
ahead = list(method.generate(training, count=100, seed=0))
hidden = sum(int((g.x.sum(1) == 0).sum()) for g in ahead) / sum(g.num_nodes for g in ahead)
print(f"{len(ahead)} graphs made ahead, {hidden:.0%} of their nodes hidden")

# %%
# Features of a graph, a row for each node, before and after:
one = training[:1]
after = method.make_graphs(one, torch.zeros(1, dtype=torch.long), torch.Generator().manual_seed(1))
assert after is not None
picture = Figure(figsize=(7, 2.6), layout="constrained")
for axes, (name, shown) in zip(picture.subplots(1, 2), {"as it is": one, "hidden nodes": after}.items(), strict=True):
    axes.imshow(shown.x, cmap="Greys", aspect="auto", vmin=0, vmax=1)
    axes.set(title=name, xlabel="feature (degree)", ylabel="node")

# %%
# So does training. Plain training on the same split stands next to it; one split is no evidence, see
# ``compare_methods.py`` for that.
scores = {}
for name, each in (("plain", Vanilla().fit(training)), ("hidden nodes", method)):
    model = backbone_for(training, outputs=dataset.outputs, seed=0, hidden_channels=32, num_layers=3)
    how = Training(epochs=15, batch_size=32, lr=5e-3)
    result = train(dataset, split=split, method=each, model=model, options=how, progress=False)
    scores[name] = result.test
    print(f"{name}: test accuracy {result.test:.1%} on {len(split.test)} graphs after {result.epochs} epochs")
