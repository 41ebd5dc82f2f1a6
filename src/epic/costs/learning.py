"""Learn costs from labels: graphs of one class should be nearer to each other than to the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from epic._checkpoint import identity
from epic.costs.triplets import Triplets, fixed_triplets, judge_triplets
from epic.costs.verdict import tell
from epic.distance.pairs import Pairs, node_distances, soft_distances
from epic.errors import choose
from epic.graphs.packed import PackedGraphs
from epic.nn.fit_loop import FitLoop, FitOptions, Line
from epic.random import derived

if TYPE_CHECKING:
    from epic.costs.learned import LearnedCost

ASSIGNMENTS = ("sinkhorn", "hungarian")
MOST = 3
"""Triplets of one graph in an epoch, at most."""


@dataclass(frozen=True, kw_only=True)
class Learning(FitOptions):
    """How costs are learned; further options are those of :class:`epic.nn.fit_loop.FitOptions`.

    Args:
        assignment: ``sinkhorn``, or ``hungarian``: the exact assignment, held fixed for the gradient.
        margin: By how much, per node, the negative should be farther than the positive.
        iterations: Sinkhorn iterations.
        delta: Sinkhorn's blur, as a share of each pair's mean substitution cost.
        triplets: An epoch takes one triplet for each graph; if that makes fewer than this, two or three.
    """

    positive = (*FitOptions.positive, "decay_every", "margin", "iterations", "delta", "patience", "triplets")

    assignment: str = "sinkhorn"
    epochs: int = 40
    batch_size: int = 64
    decay: float = 0.1
    decay_every: int = 25
    patience: int = 20
    margin: float = 1.0
    iterations: int = 10
    delta: float = 0.1
    triplets: int = 2000

    def __post_init__(self) -> None:
        choose(self.assignment, ASSIGNMENTS, "assignment")
        super().__post_init__()


@dataclass(frozen=True)
class Epoch:
    """One epoch of learning from triplets.

    Args:
        epoch: Its number.
        loss: Mean training loss.
        validation: Mean loss of validation triplets; None if no graphs are held out.
        ordered: Share of validation triplets whose positive is nearer than the negative; None as above.
    """

    epoch: int
    loss: float
    validation: float | None
    ordered: float | None

    @classmethod
    def of(cls, line: Line) -> Epoch:
        """Read a line of a history.

        Args:
            line: A line, as the fit loop writes it.

        Returns:
            The epoch.
        """
        return cls(line["epoch"], line["loss"], line["validation"], line["ordered"])

    @property
    def judged(self) -> float:
        """The loss that the best epoch is chosen by."""
        return self.loss if self.validation is None else self.validation

    def __str__(self) -> str:
        text = f"loss {self.loss:.3f}"
        return text if self.ordered is None else f"{text}, validation {self.validation:.3f}, ordered {self.ordered:.0%}"


def learn(
    cost: LearnedCost,
    *,
    train: PackedGraphs,
    validation: PackedGraphs | None,
    options: Learning,
    task: str | None = None,
    checkpoint: str | Path | None = None,
    progress: bool = True,
) -> list[Epoch]:
    """Fit the network of ``cost`` in place, log how good it is, and return the history.

    See :meth:`epic.LearnedCost.fit`. Without validation graphs the training loss chooses the epoch.
    """
    triplets = Triplets(train.labels.cpu(), task)
    fixed = None if validation is None else fixed_triplets(validation, task, options.seed)
    used = [train] if validation is None else [train, validation]
    loop = FitLoop(
        cost.network_,
        options,
        judge=lambda line: Epoch.of(line).judged,
        identity=identity([asdict(options), cost.config()], *(g.digest() for g in used)),
        checkpoint=checkpoint,
    )
    train, *validation_graphs = (g.to(cost.network_.device) for g in used)

    def batches(epoch: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        generator = derived(options.seed, "epoch", epoch)
        graphs = triplets.anchors.numel()
        # Of few graphs an epoch takes several triplets each: there would be too few updates to learn much.
        rounds = min(MOST, max(1, round(options.triplets / graphs)))
        anchors = triplets.anchors[torch.cat([torch.randperm(graphs, generator=generator) for _ in range(rounds)])]
        for anchor in anchors.split(options.batch_size):
            if anchor.numel() > 1 or anchors.numel() == 1:  # BatchNorm needs more than one tiny triplet
                yield anchor, *triplets.draw(anchor, generator)

    def loss(triplet: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        return F.relu(_gaps(cost, train, options, *triplet) + options.margin).mean()

    @torch.no_grad()
    def evaluate(_: nn.Module) -> dict[str, Any]:
        if fixed is None:
            return {"validation": None, "ordered": None}
        parts = zip(*(t.split(256) for t in fixed), strict=True)
        return judge_triplets((_gaps(cost, validation_graphs[0], options, *part) for part in parts), options.margin)

    loop.run(batches=batches, loss=loss, evaluate=evaluate, progress=progress, description="learning costs")
    history = [Epoch.of(line) for line in loop.history]
    anchors = None if fixed is None else fixed[0]
    tell(cost, history, train=train, validation_graphs=validation, anchors=anchors, task=task)
    return history


def _gaps(
    cost: LearnedCost, graphs: PackedGraphs, options: Learning, anchor: Tensor, positive: Tensor, negative: Tensor
) -> Tensor:
    """Return distances to the positive less those to the negative, per node of a pair: the margin fits every size."""
    device = graphs.ptr.device
    used, where = torch.cat([anchor, positive, negative]).unique(return_inverse=True)
    nodes = cost.embed(graphs.select(used.to(device)))
    a, p, n = where.to(device).chunk(3)
    pairs = Pairs(cost, source=nodes, target=nodes, i=torch.cat([a, a]), j=torch.cat([p, n]))
    if options.assignment == "hungarian":
        distance = node_distances(pairs)
    else:
        distance = soft_distances(pairs, delta=options.delta, iterations=options.iterations)
    size = nodes.ptr.diff()
    near, far = (distance / (size[pairs.i] + size[pairs.j]).clamp_min(1)).chunk(2)
    return near - far
