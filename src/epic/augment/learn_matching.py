"""Train the matching network of S-Mixup: graphs of one class should be nearer to each other than to the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from epic._checkpoint import identity
from epic._io import read_tensors, write_tensors
from epic.costs.learning import Epoch
from epic.costs.triplets import Triplets, fixed_triplets, judge_triplets, split_graphs
from epic.graphs.packed import PackedGraphs
from epic.nn.fit_loop import FitLoop, FitOptions
from epic.nn.layers import feature_schemas
from epic.nn.matching_network import MatchingNetwork
from epic.random import derived, seeded

FORM = "epic-matching/1"
STEP = 1 << 14
"""Nodes to compute gradients through at a time: some 100 MB a layer."""
SETTLE = 128
"""Triplets to take the averages of BatchNorm from after each epoch."""


@dataclass(frozen=True, kw_only=True)
class Matching(FitOptions):
    """How a matching network is trained; further options are those of :class:`epic.nn.fit_loop.FitOptions`.

    Args:
        triplets: Triplets in an epoch, at most.
        margin: By how much the negative should be farther than the positive.
        validation: Share of the graphs held out to choose the epoch by.
    """

    positive = (*FitOptions.positive, "triplets", "margin", "patience")

    epochs: int = 20
    batch_size: int = 32
    patience: int = 8
    triplets: int = 1000
    margin: float = 1.0
    validation: float = 0.1


def train_matching(
    graphs: PackedGraphs,
    options: Matching,
    *,
    hidden_channels: int,
    num_layers: int,
    task: str | None = None,
    folder: str | Path | None = None,
    progress: bool = True,
) -> tuple[MatchingNetwork, list[Epoch]]:
    """Train a network under which graphs of one class are nearer than those of two, and return it with its history.

    With a ``folder``, a network that was learned before from the same graphs with the same options is read from there.
    """
    device = graphs.ptr.device
    what = identity([asdict(options), hidden_channels, num_layers, task], graphs.digest())
    file = None if folder is None else Path(folder) / f"matching-{what[:16]}.safetensors"
    with seeded(options.seed):
        network = MatchingNetwork(*feature_schemas(graphs), hidden_channels=hidden_channels, num_layers=num_layers)
    network.to(device)
    if file is not None and file.exists():
        tensors, header = read_tensors(file, FORM)
        network.load_state_dict(tensors)
        return network.requires_grad_(False).eval(), [Epoch.of(line) for line in header["history"]]
    train, validation = split_graphs(graphs, share=options.validation, seed=options.seed)
    triplets = Triplets(train.labels.cpu(), task)
    fixed = None if validation is None else fixed_triplets(validation, task, options.seed)
    last: Tensor = torch.empty(0, dtype=torch.long)  # triplets to take the averages of BatchNorm from

    def batches(epoch: int) -> Iterator[tuple[Tensor, ...]]:
        nonlocal last
        generator = derived(options.seed, "matching", epoch)
        anchors = triplets.anchors[torch.randperm(triplets.anchors.numel(), generator=generator)][: options.triplets]
        drawn = torch.stack([anchors, *triplets.draw(anchors, generator)])
        last = drawn[:, -SETTLE:]
        yield from (tuple(part) for part in drawn.split(options.batch_size, dim=1))

    def loss(triplet: tuple[Tensor, ...]) -> Tensor:
        total = torch.zeros((), device=device)
        *parts, end = _parts(train, *triplet)
        for part in parts:  # gradients of large batches part by part
            value = F.relu(_gaps(network, train, *part) + options.margin).sum() / triplet[0].numel()
            value.backward()
            total += value.detach()
        return total + F.relu(_gaps(network, train, *end) + options.margin).sum() / triplet[0].numel()

    @torch.no_grad()
    def evaluate(_: nn.Module) -> dict[str, Any]:
        _settle(network, train, *last)
        if validation is None or fixed is None:
            return {"validation": None, "ordered": None}
        parts = _parts(validation, *fixed)
        return judge_triplets((_gaps(network, validation, *part) for part in parts), options.margin)

    loop = FitLoop(network, options, judge=lambda line: Epoch.of(line).judged)
    loop.run(batches=batches, loss=loss, evaluate=evaluate, progress=progress, description="learning to match")
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_tensors(file, network.state_dict(), {"format": FORM, "history": loop.history})
    return network.requires_grad_(False), [Epoch.of(line) for line in loop.history]


@torch.no_grad()
def _settle(network: MatchingNetwork, graphs: PackedGraphs, *triplets: Tensor) -> None:
    """Set the averages that BatchNorm uses in evaluation to those of the current weights.

    After few updates, the running averages are still those of the beginning, and distances come out far too small.
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
    """Return the distance to the positive less the distance to the negative."""
    to = graphs.ptr.device
    one, two = torch.cat([anchor, anchor]).to(to), torch.cat([positive, negative]).to(to)
    near, far = network.distances(graphs, one, two).chunk(2)
    return near - far


def _parts(graphs: PackedGraphs, *triplets: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Yield triplets in parts of about ``STEP`` nodes."""
    size = graphs.sizes.cpu()
    a, p, n = (size[t] for t in triplets)
    part = (2 * a + p + n).cumsum(0) // STEP
    for at in part.unique():
        yield tuple(t[part == at] for t in triplets)
