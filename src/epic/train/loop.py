"""Train and evaluate one classifier, with any method."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torch_geometric.data import Batch

from epic._checkpoint import identity
from epic._io import write_text
from epic.augment.base import Augmentation
from epic.augment.training import training_steps
from epic.augment.vanilla import Vanilla
from epic.data.catalog import degree_features
from epic.data.dataset import Dataset
from epic.data.splits import Split, need_parts
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs
from epic.labels import loss, soft_labels
from epic.nn.backbones import backbone_for
from epic.nn.fit_loop import FitLoop, FitOptions, Line
from epic.parallel import need_workers
from epic.random import derived, digest
from epic.train.config import RunConfig
from epic.train.metrics import roc_auc, score

PARTS = ("train", "validation", "test")
_DEFAULTS = {name: field.default for name, field in RunConfig.model_fields.items()}

EVALUATE_EVERY = 100
"""Updates between two evaluations, as nearly as whole epochs allow; where epochs are asked for, each is evaluated."""


@dataclass(frozen=True, kw_only=True)
class Training(FitOptions):
    """How a classifier is trained; further options are those of :class:`epic.nn.fit_loop.FitOptions`.

    The defaults, stated in :class:`epic.train.config.RunConfig`, are those that plain training does best with
    (docs/research.md). Every method gets the same.

    Args:
        updates: Gradient updates, as nearly as whole epochs allow.
        epochs: Passes over the training graphs, instead of ``updates``.
        patience: Updates without a better validation score that end training; 0 never ends it early.
    """

    positive = ("updates", *FitOptions.positive)

    updates: int = _DEFAULTS["updates"]
    epochs: int | None = None  # type: ignore[assignment]
    batch_size: int = _DEFAULTS["batch_size"]
    lr: float = _DEFAULTS["lr"]
    schedule: str = _DEFAULTS["schedule"]
    average: float = _DEFAULTS["average"]


@dataclass(frozen=True)
class Result:
    """Scores of a run with the weights of the best validation score (the first of equals), and what it took.

    Args:
        validation: Validation score.
        test: Test score.
        test_end: Test score with the weights at the end of training instead; nothing is chosen by it.
        best_epoch: Epochs after which the validation score was best.
        epochs: Epochs trained.
        updates: Gradient updates made.
        seconds: Time that training and evaluation took.
        made: Augmented graphs made.
        making_seconds: Time spent waiting for batches; without loader workers, the time to make them.
        history: One line for each evaluation: ``epoch``, ``updates``, mean training ``loss``, ``validation_loss`` and
            ``validation`` score.
        outputs: Outputs of the model for the validation and the test graphs.
    """

    validation: float
    test: float
    test_end: float
    best_epoch: int
    epochs: int
    updates: int
    seconds: float
    made: int
    making_seconds: float
    history: list[dict[str, Any]]
    outputs: dict[str, Tensor]


class Steps(torch.utils.data.Dataset):
    """The augmented batches of a whole training, one for each gradient update.

    Each is a pure function of the seed and its number, so loader workers may make them in any order.

    Attributes:
        per_epoch: Batches of an epoch.
        epochs: Epochs in all.
        per_round: Epochs between two evaluations.
    """

    def __init__(self, graphs: PackedGraphs, method: Augmentation, options: Training) -> None:
        self.graphs, self.method, self.options = method.before_training(graphs), method, options
        count = len(graphs)
        # A last batch of one graph has nothing for BatchNorm to normalise against: it is left out.
        self.per_epoch = max(1, count // options.batch_size + (count % options.batch_size > 1))
        self.epochs = options.epochs or max(1, round(options.updates / self.per_epoch))
        rare = 1 if options.epochs else max(1, round(EVALUATE_EVERY / self.per_epoch))
        self.per_round = min(self.epochs, rare)

    def __len__(self) -> int:
        return self.per_epoch * self.epochs

    @property
    def rounds(self) -> int:
        """Number of evaluations."""
        return -(-self.epochs // self.per_round)

    def epochs_of(self, round: int) -> range:
        """Return the epochs before one evaluation and after the last."""
        return range(round * self.per_round, min(self.epochs, (round + 1) * self.per_round))

    def __getitem__(self, step: int) -> Batch:
        epoch, place = divmod(step, self.per_epoch)
        order = torch.randperm(len(self.graphs), generator=derived(self.options.seed, "order", epoch))
        size = self.options.batch_size
        picked = self.graphs.select(order[place * size : (place + 1) * size])
        return self.method.augment_batch(picked, derived(self.options.seed, "augment", step))

    def batches(self, first: int, num_workers: int) -> Iterator[Batch]:
        """Return the batches from number ``first`` on."""
        if num_workers == 0:
            return (self[s] for s in range(first, len(self)))
        loader = DataLoader(
            self,
            batch_size=None,
            sampler=range(first, len(self)),
            num_workers=num_workers,
            prefetch_factor=4,
            generator=derived(self.options.seed, "workers"),  # else torch would draw from the global random state
        )
        return iter(loader)


def train(
    dataset: Dataset,
    *,
    split: Split,
    method: Augmentation | None = None,
    model: nn.Module | None = None,
    options: Training | None = None,
    backbone: str = "gin",
    num_workers: int = 0,
    device: torch.device | str = "cpu",
    checkpoint: str | Path | None = None,
    history: str | Path | None = None,
    progress: bool = True,
    on_epoch_end: Callable[[Line], None] | None = None,
) -> Result:
    """Train and evaluate one model.

    Args:
        dataset: Labelled graphs. Those without ``x`` get one-hot degrees.
        split: Which of them train, validate and test.
        method: Any method of :mod:`epic.augment`, fitted on the training graphs if it learns from them; None trains
            without augmentation.
        model: Any module that takes a ``Batch``; None makes a ``backbone``.
        options: How to train.
        backbone: ``gin`` or ``gcn``, if no model is given.
        num_workers: Processes that make batches; results do not depend on their number.
        device: Where to train.
        checkpoint: File written after every evaluation. A killed run goes on from it, to the same result; it is
            removed at the end.
        history: File that gets one JSON line for each evaluation.
        progress: Whether to show a progress bar.
        on_epoch_end: Called with the line of each evaluation.

    Returns:
        Scores with the weights of the best validation score, which the model is left with.

    Raises:
        InputError: A part of the split is empty or of one class, the checkpoint is of another run, or the loss is not
            finite.
    """
    need_parts(split)
    if dataset.task == "binary":
        for y in dataset.y[split.validation], dataset.y[split.test]:
            roc_auc(y, y)  # refuses labels of one class, which it would refuse after the first evaluation
    options = options or Training()
    graphs = with_features(dataset.graphs, split.train)
    method = method or Vanilla(seed=options.seed)
    method.set_label_type(dataset.task, dataset.num_classes)
    parts = {name: graphs.select(getattr(split, name)) for name in PARTS}
    need_workers(num_workers, "num_workers")
    if model is None:
        sample = pack(method.eval_batch(parts["train"]), check=False)
        model = backbone_for(sample, outputs=dataset.outputs, conv=backbone, seed=options.seed)
    acting = training_steps(method)
    model = acting.wrap_model(model).to(device)
    content = graphs.digest() + digest(*(getattr(split, p) for p in PARTS))
    steps = Steps(parts["train"], method, options)
    patience = -(-options.patience // (steps.per_round * steps.per_epoch))  # in evaluations
    loop = FitLoop(
        model,
        replace(options, patience=patience),
        judge=lambda line: -line["validation"],
        epochs=steps.rounds,
        identity=identity([asdict(options), repr(model), method.fingerprint()], content),
        checkpoint=checkpoint,
    )
    if num_workers == 0 and loop.updates < len(steps):
        steps[loop.updates]  # made again below: what is compiled at the first call is not to be timed
    stream = steps.batches(loop.updates, num_workers)
    begin, before = time.perf_counter(), sum(line["seconds"] for line in loop.history)
    start, made, making, epoch = begin, 0, 0.0, 0

    def batches(round: int) -> Iterator[Batch]:
        nonlocal start, made, making, epoch
        start, made, making = time.perf_counter(), 0, 0.0
        for epoch in steps.epochs_of(round):
            acting.on_epoch_start(model, epoch)
            for _ in range(steps.per_epoch):
                asked = time.perf_counter()
                batch = next(stream)
                making += time.perf_counter() - asked
                made += int(batch.augmented.sum())
                yield batch.to(device)

    @torch.no_grad()
    def outputs(judged: nn.Module, part: str) -> Tensor:
        judged.eval()
        some = (parts[part].select(index) for index in torch.arange(len(parts[part])).split(512))
        return torch.cat([judged(method.eval_batch(graphs).to(device)).cpu() for graphs in some])

    def evaluate(judged: nn.Module) -> Line:
        found, y = outputs(judged, "validation"), parts["validation"].labels
        spent = time.perf_counter() - start
        return {
            "epoch": epoch,
            "validation": score(found, y, dataset.task),
            "validation_loss": float(loss(found, soft_labels(y, found.shape[1]), dataset.task)),
            "seconds": round(spent, 3),
            "made": made,
            "making_seconds": round(making, 4),
        }

    def note(line: Line) -> None:
        if history is not None:
            with Path(history).open("a") as file:
                file.write(json.dumps(line) + "\n")
        if on_epoch_end is not None:
            on_epoch_end(line)

    if history is not None:
        write_text(history, "".join(json.dumps(line) + "\n" for line in loop.history))
    loop.run(
        batches=batches,
        loss=lambda batch: acting.loss(model, batch),
        evaluate=evaluate,
        on_epoch_end=note,
        progress=progress,
        unit="epoch" if steps.per_round == 1 else "evaluation",
    )
    acting.on_train_end(model)
    lines, best = loop.history, loop.history[loop.best_epoch]
    found = {part: outputs(model, part) for part in PARTS[1:]}
    test = parts["test"].labels
    return Result(
        best["validation"],
        score(found["test"], test, dataset.task),
        score(outputs(loop.last, "test"), test, dataset.task),
        best["updates"] // steps.per_epoch,
        loop.updates // steps.per_epoch,
        loop.updates,
        round(before + time.perf_counter() - begin, 3),
        sum(line["made"] for line in lines),
        round(sum(line["making_seconds"] for line in lines), 3),
        lines,
        found,
    )


def with_features(graphs: PackedGraphs, train: Tensor) -> PackedGraphs:
    """Give graphs without ``x`` one-hot degrees, clamped at the largest degree among the training graphs."""
    if graphs.x is not None:
        return graphs
    degree = graphs.select(train).degree()
    if degree.numel() == 0:
        raise InputError(f"none of the {train.numel()} training graphs has a node: give more graphs, or other ones")
    return degree_features(graphs, int(degree.max()))
