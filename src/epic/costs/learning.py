"""Learn costs from labels: graphs of one class should be nearer to each other than to the rest."""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from epic._checkpoint import Checkpoint, identity
from epic.costs.triplets import Triplets
from epic.distance.pairs import exact_distances, soft_distances
from epic.errors import InputError, choose
from epic.graphs.packed import PackedGraphs
from epic.random import derived, digest

if TYPE_CHECKING:
    from epic.costs.learned import LearnedCost

ASSIGNMENTS = ("sinkhorn", "hungarian")


MOST = 3
"""Triplets of one graph in an epoch, at most."""


@dataclass(frozen=True)
class Learning:
    """How costs are learned.

    ``assignment``: ``sinkhorn`` (k = ``iterations``, blur ``delta`` times each pair's mean substitution cost) or
    ``hungarian`` (the exact assignment, held fixed for the gradient). ``decay_every`` multiplies the learning rate by
    ``decay``. ``patience`` epochs without a better validation loss end learning; the best epoch's weights are kept.
    An epoch takes one triplet for each graph; where that makes fewer than ``triplets``, two or three.
    """

    assignment: str = "sinkhorn"
    epochs: int = 40
    batch_size: int = 64
    lr: float = 1e-3
    decay: float = 0.1
    decay_every: int = 25
    margin: float = 1.0
    iterations: int = 10
    delta: float = 0.1
    patience: int = 20
    triplets: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        choose(self.assignment, ASSIGNMENTS, "assignment")
        for name in (
            "epochs",
            "batch_size",
            "lr",
            "decay_every",
            "margin",
            "iterations",
            "delta",
            "patience",
            "triplets",
        ):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)}")


@dataclass(frozen=True)
class Epoch:
    """One line of the loss history. ``ordered`` is the share of validation triplets whose positive is nearer than the
    negative.

    The last two are None where no graphs are held out.
    """

    epoch: int
    loss: float
    validation: float | None
    ordered: float | None

    @property
    def judged(self) -> float:
        """The loss that the best epoch is chosen by."""
        return self.loss if self.validation is None else self.validation

    @property
    def perfect(self) -> bool:
        """Every triplet, seen or not, is in order by the whole margin: there is nothing left to learn."""
        return self.loss == self.judged == 0

    def __str__(self) -> str:
        text = f"loss {self.loss:.3f}"
        return text if self.ordered is None else f"{text}, validation {self.validation:.3f}, ordered {self.ordered:.0%}"


def learn(
    cost: LearnedCost,
    train: PackedGraphs,
    validation: PackedGraphs | None,
    options: Learning,
    checkpoint: Path | None,
    progress: bool,
) -> list[Epoch]:
    """Fit the network of ``cost`` in place; returns the history."""
    if train.y is None:
        raise InputError("the graphs have no labels y: learning costs needs them")
    device = next(cost.network.parameters()).device
    triplets = Triplets(train.y.cpu())
    watch = None if validation is None else _watch(validation, options)
    content = digest(train.ptr, train.edge_index, train.y, *train.node.values(), *train.edge.values())
    train = train.to(device)
    held = None if validation is None else validation.to(device)
    optimizer = torch.optim.Adam(cost.network.parameters(), lr=options.lr)
    state = Checkpoint(
        cost.network,
        optimizer,
        identity([asdict(options), cost.config()], content),
        lambda e: Epoch(**e).judged,
        checkpoint,
    )
    with tqdm(
        total=options.epochs, initial=len(state.history), desc="learning costs", unit="epoch", disable=not progress
    ) as bar:
        for epoch in range(len(state.history), options.epochs):
            if state.since_best() >= options.patience or (state.history and Epoch(**state.history[-1]).perfect):
                break
            optimizer.param_groups[0]["lr"] = options.lr * options.decay ** (epoch // options.decay_every)
            loss = _epoch(cost, train, triplets, optimizer, options, epoch)
            seen = (None, None) if held is None or watch is None else _validate(cost, held, watch, options)
            line = Epoch(epoch, loss, *seen)
            state.add(asdict(line))
            bar.set_postfix_str(str(line), refresh=False)
            bar.update()
    state.finish()
    return [Epoch(**e) for e in state.history]


def _epoch(
    cost: LearnedCost,
    train: PackedGraphs,
    triplets: Triplets,
    optimizer: torch.optim.Optimizer,
    options: Learning,
    epoch: int,
) -> float:
    # A generator of its own for each epoch: a resumed run draws what an uninterrupted one would.
    generator = derived(options.seed, "epoch", epoch)
    graphs = triplets.anchors.numel()
    # Of few graphs an epoch takes several triplets each: there would be too few steps to learn much.
    rounds = min(MOST, max(1, round(options.triplets / graphs)))
    anchors = triplets.anchors[torch.cat([torch.randperm(graphs, generator=generator) for _ in range(rounds)])]
    cost.network.train()
    total = 0.0
    for anchor in anchors.split(options.batch_size):
        if anchor.numel() == 1 and anchors.numel() > 1:
            continue  # BatchNorm has nothing to normalise against in a lone tiny triplet
        positive, negative = triplets.draw(anchor, generator)
        near, far = _distances(cost, train, anchor, positive, negative, options)
        loss = F.relu(near - far + options.margin).mean()
        if not bool(torch.isfinite(loss)):
            raise FloatingPointError(f"the loss became {float(loss)} in epoch {epoch}: try a smaller lr")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * anchor.numel()
    cost.network.eval()
    return total / anchors.numel()


def _distances(
    cost: LearnedCost, graphs: PackedGraphs, anchor: Tensor, positive: Tensor, negative: Tensor, options: Learning
) -> tuple[Tensor, Tensor]:
    """Distances anchor-positive and anchor-negative, per node of the pair, so that the margin fits graphs of every
    size.
    """
    device = graphs.ptr.device
    used, where = torch.cat([anchor, positive, negative]).unique(return_inverse=True)
    nodes = cost.embed(graphs.select(used.to(device)))
    a, p, n = where.to(device).chunk(3)
    i, j = torch.cat([a, a]), torch.cat([p, n])
    if options.assignment == "hungarian":
        distance = exact_distances(cost, nodes, nodes, i, j)
    else:
        distance = soft_distances(cost, nodes, nodes, i, j, delta=options.delta, iterations=options.iterations)
    size = nodes.ptr.diff()
    near, far = (distance / (size[i] + size[j]).clamp_min(1)).chunk(2)
    return near, far


def _watch(validation: PackedGraphs, options: Learning) -> tuple[Tensor, Tensor, Tensor] | None:
    """Fixed validation triplets: several for each graph where graphs are few, so that the loss is not mostly noise."""
    if validation.y is None:
        raise InputError("the validation graphs have no labels y")
    try:
        triplets = Triplets(validation.y.cpu())
    except InputError as error:
        warnings.warn(
            f"the validation graphs are not used, and the training loss chooses the epoch: {error}", stacklevel=5
        )
        return None
    generator = derived(options.seed, "validation")
    anchor = triplets.anchors.repeat(math.ceil(512 / triplets.anchors.numel()))
    return anchor, *triplets.draw(anchor, generator)


@torch.no_grad()
def _validate(
    cost: LearnedCost, validation: PackedGraphs, watch: tuple[Tensor, Tensor, Tensor], options: Learning
) -> tuple[float, float]:
    loss = ordered = 0.0
    for a, p, n in zip(*(t.split(256) for t in watch), strict=True):
        near, far = _distances(cost, validation, a, p, n, options)
        loss += float(F.relu(near - far + options.margin).sum())
        ordered += float((near < far).sum())
    return loss / watch[0].numel(), ordered / watch[0].numel()
