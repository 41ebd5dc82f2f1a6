"""Train and evaluate one classifier, with any method."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torch_geometric.data import Batch

from epic._checkpoint import identity
from epic.augment.base import Augmentation
from epic.augment.training import training_steps
from epic.augment.vanilla import Vanilla
from epic.data.catalog import degree_features
from epic.data.dataset import Dataset
from epic.data.splits import Split
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs
from epic.nn.backbones import backbone_for
from epic.nn.fit_loop import FitLoop, FitOptions, Line
from epic.random import derived, digest
from epic.train.metrics import score

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, kw_only=True)
class Training(FitOptions):
    """How a classifier is trained: see :class:`epic.nn.fit_loop.FitOptions`. Patience looks at the validation score."""


@dataclass(frozen=True)
class Result:
    """Scores of a run at the epoch with the best validation score (the first of equals), and what it took.

    Args:
        validation: Validation score.
        test: Test score.
        best_epoch: The epoch that they were measured at.
        epochs: Epochs trained.
        steps: Gradient updates made.
        seconds: Time that training and evaluation took.
        made: Augmented graphs made.
        making_seconds: Time spent waiting for batches; without loader workers, the time to make them.
        history: One line for each epoch.
    """

    validation: float
    test: float
    best_epoch: int
    epochs: int
    steps: int
    seconds: float
    made: int
    making_seconds: float
    history: list[dict[str, Any]]


class Steps(torch.utils.data.Dataset):
    """The augmented batches of a whole training.

    Each is a pure function of the seed and its number, so loader workers may make them in any order.
    """

    def __init__(self, graphs: PackedGraphs, method: Augmentation, options: Training) -> None:
        self.graphs, self.method, self.options = graphs, method, options
        count = len(graphs)
        # A last batch of one graph has nothing for BatchNorm to normalise against: it is left out.
        self.per_epoch = max(1, count // options.batch_size + (count % options.batch_size > 1))

    def __len__(self) -> int:
        return self.per_epoch * self.options.epochs

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
        checkpoint: File written after every epoch. A killed run goes on from it, to the same result; it is removed at
            the end.
        history: File that gets one JSON line for each epoch.
        progress: Whether to show a progress bar.
        on_epoch_end: Called with the line of each epoch.

    Returns:
        Scores at the epoch with the best validation score. The model is left with the weights of that epoch.

    Raises:
        InputError: A part of the split is empty, the checkpoint is of another run, or the loss is not finite.
    """
    options = options or Training()
    graphs = with_features(dataset.graphs, split.train)
    method = method or Vanilla(seed=options.seed)
    method.set_label_type(dataset.task, dataset.num_classes)
    parts = {name: graphs.select(getattr(split, name)) for name in PARTS}
    for name, part in parts.items():
        if len(part) == 0:
            raise InputError(
                f"the split leaves no {name} graphs: there are too few of each class, or an official split does so "
                "(then take split stratified)"
            )
    if model is None:
        sample = pack(method.eval_batch(parts["train"]), check=False)
        model = backbone_for(sample, outputs=dataset.outputs, conv=backbone, seed=options.seed)
    acting = training_steps(method)
    model = acting.wrap_model(model).to(device)
    content = graphs.digest() + digest(*(getattr(split, p) for p in PARTS))
    loop = FitLoop(
        model,
        options,
        judge=lambda line: -line["validation"],
        identity=identity([asdict(options), repr(model), method.fingerprint()], content),
        checkpoint=checkpoint,
    )
    steps, done = Steps(parts["train"], method, options), len(loop.history)
    if num_workers == 0 and done < options.epochs:
        steps[done * steps.per_epoch]  # made again below: what is compiled at the first call is not to be timed
    stream = steps.batches(done * steps.per_epoch, num_workers)
    begin, before = time.perf_counter(), sum(line["seconds"] for line in loop.history)
    start, made, making = begin, 0, 0.0

    def batches(epoch: int) -> Iterator[Batch]:
        nonlocal start, made, making
        start, made, making = time.perf_counter(), 0, 0.0
        acting.on_epoch_start(model, epoch)
        for _ in range(steps.per_epoch):
            asked = time.perf_counter()
            batch = next(stream)
            making += time.perf_counter() - asked
            made += int(batch.augmented.sum())
            yield batch.to(device)

    def evaluate_parts(epoch: int) -> Line:
        scores = {p: evaluate(model, parts[p], dataset.task, method.eval_batch, device) for p in PARTS[1:]}
        spent = time.perf_counter() - start
        return {**scores, "seconds": round(spent, 3), "made": made, "making_seconds": round(making, 4)}

    def note(line: Line) -> None:
        if history is not None:
            with Path(history).open("a") as file:
                file.write(json.dumps(line) + "\n")
        if on_epoch_end is not None:
            on_epoch_end(line)

    if history is not None:
        Path(history).write_text("".join(json.dumps(line) + "\n" for line in loop.history))
    loop.run(
        batches=batches,
        loss=lambda batch: acting.loss(model, batch),
        evaluate=evaluate_parts,
        on_epoch_end=note,
        progress=progress,
    )
    acting.on_train_end(model)
    lines, best = loop.history, loop.history[loop.best_epoch]
    return Result(
        best["validation"],
        best["test"],
        best["epoch"],
        len(lines),
        len(lines) * steps.per_epoch,
        round(before + time.perf_counter() - begin, 3),
        sum(line["made"] for line in lines),
        round(sum(line["making_seconds"] for line in lines), 3),
        lines,
    )


def with_features(graphs: PackedGraphs, train: Tensor) -> PackedGraphs:
    """Give graphs without ``x`` one-hot degrees, clamped at the largest degree among the training graphs."""
    return graphs if graphs.x is not None else degree_features(graphs, int(graphs.select(train).degree().max()))


@torch.no_grad()
def evaluate(
    model: nn.Module,
    graphs: PackedGraphs,
    task: str,
    to_batch: Callable[[PackedGraphs], Batch] = PackedGraphs.to_batch,
    device: torch.device | str = "cpu",
) -> float:
    """Return the score of a model on graphs, in evaluation mode."""
    model.eval()
    parts = (graphs.select(index) for index in torch.arange(len(graphs)).split(512))
    outputs = [model(to_batch(part).to(device)).cpu() for part in parts]
    assert graphs.y is not None
    return score(torch.cat(outputs), graphs.y, task)
