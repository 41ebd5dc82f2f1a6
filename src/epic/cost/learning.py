"""Learn costs from labels: graphs of one class should be nearer to each other than to the rest."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from epic.cost.triplets import Triplets
from epic.errors import InputError, choose
from epic.files import read_tensors, write_tensors
from epic.pack import Pack
from epic.randomness import derived, digest

if TYPE_CHECKING:
    from epic.cost.learned import LearnedCost

ASSIGNMENTS = ("sinkhorn", "hungarian")


@dataclass(frozen=True)
class Learning:
    """How costs are learned.

    ``assignment``: ``sinkhorn`` (k = ``iterations``, blur ``delta`` times each pair's mean substitution cost) or
    ``hungarian`` (the exact assignment, held fixed for the gradient). ``decay_every`` multiplies the learning rate by
    ``decay``. ``patience`` epochs without a better validation loss end learning; the best epoch's weights are kept.
    """

    assignment: str = "sinkhorn"
    epochs: int = 40
    batch: int = 64
    learning_rate: float = 1e-3
    decay: float = 0.1
    decay_every: int = 25
    margin: float = 1.0
    iterations: int = 10
    delta: float = 0.1
    patience: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        choose(self.assignment, ASSIGNMENTS, "assignment")
        for name in ("epochs", "batch", "learning_rate", "decay_every", "margin", "iterations", "delta", "patience"):
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

    def __str__(self) -> str:
        text = f"loss {self.loss:.3f}"
        return text if self.ordered is None else f"{text}, validation {self.validation:.3f}, ordered {self.ordered:.0%}"


def learn(
    cost: LearnedCost, train: Pack, validation: Pack | None, options: Learning, checkpoint: Path | None, progress: bool
) -> list[Epoch]:
    """Fit the network of ``cost`` in place; returns the history."""
    if train.y is None:
        raise InputError("the graphs have no labels y: learning costs needs them")
    device = next(cost.network.parameters()).device
    triplets = Triplets(train.y.cpu())
    watch = None if validation is None else _watch(validation, options)
    train = train.to(device)
    optimizer = torch.optim.Adam(cost.network.parameters(), lr=options.learning_rate)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, options.decay_every, options.decay)
    state = _State(cost, optimizer, schedule, identity(train, options, cost.config()))
    if checkpoint is not None and checkpoint.exists():
        state.load(checkpoint)
    with tqdm(
        total=options.epochs, initial=len(state.history), desc="learning costs", unit="epoch", disable=not progress
    ) as bar:
        for epoch in range(len(state.history), options.epochs):
            if state.finished(options.patience):
                break
            loss = _epoch(cost, train, triplets, optimizer, options, epoch)
            schedule.step()
            seen = (None, None) if watch is None else _validate(cost, validation, watch, options)
            state.add(Epoch(epoch, loss, *seen))
            if checkpoint is not None:
                state.save(checkpoint)
            bar.set_postfix_str(str(state.history[-1]), refresh=False)
            bar.update()
    state.restore_best()
    return state.history


def _epoch(
    cost: LearnedCost, train: Pack, triplets: Triplets, optimizer: torch.optim.Optimizer, options: Learning, epoch: int
) -> float:
    # A generator of its own for each epoch: a resumed run draws what an uninterrupted one would.
    generator = derived(options.seed, "epoch", epoch)
    anchors = triplets.anchors[torch.randperm(triplets.anchors.numel(), generator=generator)]
    cost.network.train()
    total = 0.0
    for anchor in anchors.split(options.batch):
        if anchor.numel() == 1 and anchors.numel() > 1:
            continue  # BatchNorm has nothing to normalise against in a lone tiny triplet
        positive, negative = triplets.draw(anchor, generator)
        near, far = _distances(cost, train, anchor, positive, negative, options)
        loss = F.relu(near - far + options.margin).mean()
        if not bool(torch.isfinite(loss)):
            raise FloatingPointError(f"the loss became {float(loss)} in epoch {epoch}: try a smaller learning_rate")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * anchor.numel()
    cost.network.eval()
    return total / anchors.numel()


def _distances(
    cost: LearnedCost, graphs: Pack, anchor: Tensor, positive: Tensor, negative: Tensor, options: Learning
) -> tuple[Tensor, Tensor]:
    """Distances anchor-positive and anchor-negative, per node of the pair, so that the margin fits graphs of every
    size.
    """
    device = graphs.ptr.device
    used, where = torch.cat([anchor, positive, negative]).unique(return_inverse=True)
    nodes = cost.nodes(graphs.select(used.to(device)))
    a, p, n = where.to(device).chunk(3)
    i, j = torch.cat([a, a]), torch.cat([p, n])
    if options.assignment == "hungarian":
        distance = cost.exact(nodes, nodes, i, j)
    else:
        distance = cost.soft(nodes, nodes, i, j, options.delta, options.iterations)
    size = nodes.ptr.diff()
    near, far = (distance / (size[i] + size[j]).clamp_min(1)).chunk(2)
    return near, far


def _watch(validation: Pack, options: Learning) -> tuple[Tensor, Tensor, Tensor] | None:
    """Fixed validation triplets: several for each graph where graphs are few, so that the loss is not mostly noise."""
    if validation.y is None:
        raise InputError("the validation graphs have no labels y")
    try:
        triplets = Triplets(validation.y.cpu())
    except InputError:
        return None  # too few classes among the held-out graphs to form a triplet
    generator = derived(options.seed, "validation")
    anchor = triplets.anchors.repeat(math.ceil(512 / triplets.anchors.numel()))
    return anchor, *triplets.draw(anchor, generator)


@torch.no_grad()
def _validate(
    cost: LearnedCost, validation: Pack | None, watch: tuple[Tensor, Tensor, Tensor], options: Learning
) -> tuple[float, float]:
    assert validation is not None
    validation = validation.to(next(cost.network.parameters()).device)
    loss = ordered = 0.0
    for a, p, n in zip(*(t.split(256) for t in watch), strict=True):
        near, far = _distances(cost, validation, a, p, n, options)
        loss += float(F.relu(near - far + options.margin).sum())
        ordered += float((near < far).sum())
    return loss / watch[0].numel(), ordered / watch[0].numel()


def identity(train: Pack, options: Learning, config: dict) -> str:
    """Tells what is being learned from what, so that a checkpoint is never continued on something else."""
    settings = hashlib.blake2b(
        json.dumps([asdict(options), config], sort_keys=True).encode(), digest_size=16
    ).hexdigest()
    return settings + digest(train.ptr, train.edge_index, train.y, *train.node.values(), *train.edge.values())


class _State:
    """Everything needed to go on after a kill: weights, optimiser, history, and the best weights so far."""

    def __init__(
        self,
        cost: LearnedCost,
        optimizer: torch.optim.Optimizer,
        schedule: torch.optim.lr_scheduler.LRScheduler,
        identity: str,
    ) -> None:
        self.network, self.optimizer, self.schedule, self.identity = cost.network, optimizer, schedule, identity
        self.history: list[Epoch] = []
        self.best: dict[str, Tensor] = {}

    def add(self, epoch: Epoch) -> None:
        self.history.append(epoch)
        if self.since_best() == 0:
            self.best = {k: v.detach().clone() for k, v in self.network.state_dict().items()}

    def since_best(self) -> int:
        """Epochs since the lowest validation loss; the first of equals counts."""
        if not self.history:
            return 0
        losses = [e.judged for e in self.history]
        return len(losses) - 1 - losses.index(min(losses))

    def finished(self, patience: int) -> bool:
        """No better epoch for a long time, or none possible: every triplet, seen or not, is in order by the whole
        margin.
        """
        perfect = bool(self.history) and self.history[-1].loss == self.history[-1].judged == 0
        return perfect or self.since_best() >= patience

    def restore_best(self) -> None:
        if self.best:
            self.network.load_state_dict(self.best)

    def save(self, path: Path) -> None:
        tensors = {f"now.{k}": v for k, v in self.network.state_dict().items()}
        tensors |= {f"best.{k}": v for k, v in self.best.items()}
        for index, slots in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{k}": torch.as_tensor(v) for k, v in slots.items()}
        header = {"format": "epic-learning/1", "identity": self.identity, "history": [asdict(e) for e in self.history]}
        write_tensors(path, tensors, header)

    def load(self, path: Path) -> None:
        tensors, header = read_tensors(path, "epic-learning/1")
        if header["identity"] != self.identity:
            raise InputError(
                f"the checkpoint {path} belongs to other graphs or settings: delete it to start anew, "
                "or choose another path"
            )
        self.network.load_state_dict({k[4:]: v for k, v in tensors.items() if k.startswith("now.")})
        self.best = {k[5:]: v for k, v in tensors.items() if k.startswith("best.")}
        slots: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors.items():
            if key.startswith("adam."):
                _, index, name = key.split(".", 2)
                slots.setdefault(int(index), {})[name] = value
        self.optimizer.load_state_dict({"state": slots, "param_groups": self.optimizer.state_dict()["param_groups"]})
        self.history = [Epoch(**e) for e in header["history"]]
        # StepLR is a pure function of the number of epochs.
        state = self.schedule.state_dict()
        rate = self.optimizer.param_groups[0]["initial_lr"] * state["gamma"] ** (
            len(self.history) // state["step_size"]
        )
        self.schedule.load_state_dict({**state, "last_epoch": len(self.history), "_last_lr": [rate]})
        self.optimizer.param_groups[0]["lr"] = rate
