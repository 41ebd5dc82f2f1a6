"""Train a matching network: graphs of one class should be nearer to each other than to the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from epic._checkpoint import Checkpoint
from epic.costs.triplets import Triplets
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs
from epic.nn.layers import FeatureSchema
from epic.nn.matching_network import MatchingNetwork
from epic.random import derived

STEP = 1 << 14
"""Nodes to compute gradients through at a time: some 100 MB a layer."""
SETTLE = 128
"""Triplets to take the averages of BatchNorm from after each epoch."""


@dataclass(frozen=True)
class Matching:
    """How a matching network is trained: ``triplets`` at most in an epoch, ``held`` of the graphs set aside to choose
    the epoch by, at most ``patience`` epochs without a better one.
    """

    epochs: int = 20
    triplets: int = 1000
    batch_size: int = 32
    lr: float = 1e-3
    margin: float = 1.0
    held: float = 0.1
    patience: int = 8
    progress: bool = True

    def __post_init__(self) -> None:
        for name in ("epochs", "triplets", "batch_size", "lr", "margin", "patience"):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)}")
        if not 0 <= self.held < 1:
            raise InputError(f"held must be a share in [0, 1), got {self.held}")


def train_matching(
    graphs: PackedGraphs, hidden_channels: int, num_layers: int, seed: int, options: Matching
) -> tuple[MatchingNetwork, list[dict[str, float]]]:
    """A network under which graphs of one class are nearer than those of two, and the history of its training.

    ``ordered`` is the share of held out triplets (of the training triplets, where none are) in the right order.
    """
    assert graphs.y is not None
    nodes = (
        FeatureSchema("degree", (int(graphs.degree().max()) + 1,))
        if graphs.x is None
        else FeatureSchema.of(graphs.x, "x")
    )
    edges = None if graphs.edge_attr is None else FeatureSchema.of(graphs.edge_attr, "edge_attr")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        network = MatchingNetwork(nodes, edges, hidden_channels, num_layers).to(graphs.ptr.device)
    known, watched = _watched(graphs, options.held, seed)
    assert known.y is not None
    triplets = Triplets(known.y.cpu())
    optimizer = torch.optim.Adam(network.parameters(), lr=options.lr)
    state = Checkpoint(network, optimizer, "", lambda e: e["judged"], None)
    with tqdm(total=options.epochs, desc="learning to match", unit="epoch", disable=not options.progress) as bar:
        for epoch in range(options.epochs):
            done = bool(state.history) and state.history[-1]["loss"] == state.history[-1]["judged"] == 0
            if done or state.since_best() >= options.patience:
                break
            generator = derived(seed, "matching", epoch)
            anchors = triplets.anchors[torch.randperm(triplets.anchors.numel(), generator=generator)]
            line = {"loss": 0.0, "ordered": 0.0}
            anchors = anchors[: options.triplets]
            network.train()
            for anchor in anchors.split(options.batch_size):
                optimizer.zero_grad()
                for part in _parts(known, anchor, *triplets.draw(anchor, generator)):
                    gap = _gaps(network, known, *part)
                    loss = F.relu(gap + options.margin).sum()
                    (loss / anchor.numel()).backward()
                    line["loss"] += float(loss.detach()) / anchors.numel()
                    line["ordered"] += float((gap < 0).sum()) / anchors.numel()
                optimizer.step()
            if line["loss"] != line["loss"]:
                raise FloatingPointError("the loss of the matching network became NaN: try a smaller lr")
            line["judged"] = line["loss"]
            anchor = anchors[-SETTLE:]
            _settle(network, known, anchor, *triplets.draw(anchor, generator))
            if watched is not None:
                with torch.no_grad():
                    gap = torch.cat([_gaps(network, graphs, *part) for part in _parts(graphs, *watched)])
                line["judged"] = float(F.relu(gap + options.margin).mean())
                line["ordered"] = float((gap < 0).double().mean())
            state.add(line)
            bar.set_postfix_str(f"loss {line['loss']:.3f}, ordered {line['ordered']:.0%}", refresh=False)
            bar.update()
    state.finish()
    return network.eval().requires_grad_(False), state.history


@torch.no_grad()
def _settle(network: MatchingNetwork, graphs: PackedGraphs, *triplets: Tensor) -> None:
    """Set the averages that BatchNorm uses in evaluation to those of the weights as they are.

    Where steps are few, the running ones are still those of the beginning, and distances come out far too small.
    """
    norms = [m for m in network.modules() if isinstance(m, nn.BatchNorm1d)]
    before = [m.momentum for m in norms]
    network.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a plain average over the batches
    for part in _parts(graphs, *triplets):
        _gaps(network, graphs, *part)
    for norm, momentum in zip(norms, before, strict=True):
        norm.momentum = momentum
    network.eval()


def _gaps(network: MatchingNetwork, graphs: PackedGraphs, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """Distance to the positive less distance to the negative."""
    to = graphs.ptr.device
    one, two = torch.cat([anchor, anchor]).to(to), torch.cat([positive, negative]).to(to)
    near, far = network.distances(graphs, one, two).chunk(2)
    return near - far


def _parts(graphs: PackedGraphs, *triplets: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Triplets in parts of about ``STEP`` nodes."""
    size = graphs.sizes.cpu()
    a, p, n = (size[t] for t in triplets)
    part = (2 * a + p + n).cumsum(0) // STEP
    for at in part.unique():
        yield tuple(t[part == at] for t in triplets)


def _watched(graphs: PackedGraphs, held: float, seed: int) -> tuple[PackedGraphs, tuple[Tensor, ...] | None]:
    """Graphs to learn from, and fixed triplets of the others, where both have two classes."""
    assert graphs.y is not None
    shuffled = torch.randperm(len(graphs), generator=derived(seed, "held out"))
    count = round(held * len(graphs))
    if count == 0:
        return graphs, None
    out, rest = shuffled[:count], shuffled[count:]
    y = graphs.y.cpu()
    try:
        Triplets(y[rest])
        triplets = Triplets(y[out])
    except InputError:
        return graphs, None
    anchor = triplets.anchors.repeat(-(-256 // triplets.anchors.numel()))[:512]
    drawn = (anchor, *triplets.draw(anchor, derived(seed, "watched")))
    return graphs.select(rest.to(graphs.ptr.device)), tuple(out[t] for t in drawn)
