"""One loop of plain PyTorch for every method."""

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
from tqdm import tqdm

from epic._checkpoint import Checkpoint, identity
from epic.augment.base import Augmentation
from epic.augment.training import TrainingSteps, training_steps
from epic.augment.vanilla import Vanilla
from epic.data.catalog import degree_features
from epic.data.dataset import Dataset
from epic.data.splits import Split
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs
from epic.nn.backbones import backbone_for
from epic.random import derived, digest
from epic.train.metrics import score


@dataclass(frozen=True)
class Training:
    """How a model is trained. ``decay_every`` epochs (0: never) the learning rate is multiplied by ``decay``.

    ``patience`` epochs without a better validation score end it (0: never).
    """

    epochs: int = 100
    batch_size: int = 128
    lr: float = 1e-3
    weight_decay: float = 0.0
    decay: float = 0.5
    decay_every: int = 0
    patience: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "lr", "decay"):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)}")


@dataclass(frozen=True)
class Result:
    """Scores at the epoch with the best validation score (the first of equals), and what it took to get there.

    ``made`` counts augmented graphs, and ``making_seconds`` is the time spent waiting for batches: what making them
    takes, where no workers do it.
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
    """Batch number ``step`` of a whole training, a pure function of seed and number: workers may make them in any
    order.
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


def with_features(graphs: PackedGraphs, train: Tensor) -> PackedGraphs:
    """Graphs without ``x`` get one-hot degrees, clamped at the largest degree among the training graphs."""
    return graphs if graphs.x is not None else degree_features(graphs, int(graphs.select(train).degree().max()))


def train(
    dataset: Dataset,
    split: Split,
    method: Augmentation | None = None,
    model: nn.Module | None = None,
    options: Training | None = None,
    *,
    backbone: str = "gin",
    workers: int = 0,
    device: torch.device | str = "cpu",
    checkpoint: str | Path | None = None,
    history: str | Path | None = None,
    progress: bool = True,
    watch: Callable[[dict[str, Any]], None] | None = None,
) -> Result:
    """Train and evaluate one model.

    ``method`` is any of :mod:`epic.augment`, fitted on the training graphs if it learns from them (None trains
    plainly). ``model`` is any module that takes a ``Batch`` (default: ``backbone``). ``workers`` make batches beside
    the model; results do not depend on their number. ``checkpoint`` is written after every epoch and lets a killed run
    go on to the same result; ``history`` gets one JSON line an epoch, and ``watch`` is called with it.
    """
    options = options or Training()
    graphs = with_features(dataset.graphs, split.train)
    assert graphs.y is not None
    method = method or Vanilla(seed=options.seed)
    method.set_label_type(dataset.task, dataset.num_classes)
    parts = {name: graphs.select(getattr(split, name)) for name in ("train", "validation", "test")}
    for name, part in parts.items():
        if len(part) == 0:
            raise InputError(
                f"the split leaves no {name} graphs: there are too few of each class, or an official split does so "
                "(then take split stratified)"
            )
    if model is None:
        sample = pack(method.eval_batch(parts["train"]), check=False)
        model = backbone_for(sample, dataset.outputs, backbone, options.seed)
    acting = training_steps(method)
    model = acting.wrap_model(model).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.lr, weight_decay=options.weight_decay)
    content = digest(
        graphs.ptr, graphs.edge_index, graphs.x, graphs.edge_attr, graphs.y, split.train, split.validation, split.test
    )
    name = identity([asdict(options), repr(model), method.fingerprint()], content)
    state = Checkpoint(model, optimizer, name, lambda e: -e["validation"], checkpoint)
    steps = Steps(parts["train"], method, options)
    done = len(state.history)
    if workers == 0 and done < options.epochs:
        steps[done * steps.per_epoch]  # made again below: times should not hold what is compiled at the first call
    begin, before = time.perf_counter(), sum(e["seconds"] for e in state.history)
    if history is not None:
        Path(history).write_text("".join(json.dumps(e) + "\n" for e in state.history))
    batches = _batches(steps, done * steps.per_epoch, workers)
    with (
        torch.random.fork_rng(devices=[] if torch.device(device).type == "cpu" else None),
        tqdm(total=options.epochs, initial=done, desc="training", unit="epoch", disable=not progress) as bar,
    ):
        for epoch in range(done, options.epochs):
            if options.patience and state.since_best() >= options.patience:
                break
            start = time.perf_counter()
            torch.manual_seed(derived(options.seed, "dropout", epoch).initial_seed())
            if options.decay_every:
                optimizer.param_groups[0]["lr"] = options.lr * options.decay ** (epoch // options.decay_every)
            acting.on_epoch_start(model, epoch)
            mean, made, making = _epoch(model, optimizer, batches, steps.per_epoch, acting, device)
            scores = {
                p: evaluate(model, parts[p], dataset.task, method.eval_batch, device) for p in ("validation", "test")
            }
            line = {
                "epoch": epoch,
                "loss": mean,
                **scores,
                "seconds": round(time.perf_counter() - start, 3),
                "made": made,
                "making_seconds": round(making, 4),
            }
            state.add(line)
            if history is not None:
                with Path(history).open("a") as file:
                    file.write(json.dumps(line) + "\n")
            if watch is not None:
                watch(line)
            bar.set_postfix_str(f"loss {mean:.3f}, validation {scores['validation']:.3f}", refresh=False)
            bar.update()
    acting.on_train_end(model)
    best = state.best_epoch()
    lines = state.history
    state.finish()
    return Result(
        lines[best]["validation"],
        lines[best]["test"],
        best,
        len(lines),
        len(lines) * steps.per_epoch,
        round(before + time.perf_counter() - begin, 3),
        sum(e.get("made", 0) for e in lines),
        round(sum(e.get("making_seconds", 0.0) for e in lines), 3),
        lines,
    )


def _epoch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterator[Batch],
    count: int,
    acting: TrainingSteps,
    device: torch.device | str,
) -> tuple[float, int, float]:
    """One pass: mean loss, augmented graphs met, seconds spent waiting for batches."""
    model.train()
    total = torch.zeros((), device=device)
    made, making = 0, 0.0
    for _ in range(count):
        start = time.perf_counter()
        batch = next(batches)
        making += time.perf_counter() - start
        made += int(batch.augmented.sum())
        batch = batch.to(device)
        optimizer.zero_grad()  # before the loss: a method may call backward on parts of it by itself
        value = acting.loss(model, batch)
        value.backward()
        optimizer.step()
        total += value.detach()
    mean = float(total) / count
    if mean != mean:
        raise InputError("the training loss became NaN: try a smaller learning rate")
    return mean, made, making


@torch.no_grad()
def evaluate(
    model: nn.Module, graphs: PackedGraphs, task: str, plain: Callable | None = None, device: torch.device | str = "cpu"
) -> float:
    """Score of a model on graphs, in evaluation mode."""
    model.eval()
    outputs = []
    for index in torch.arange(len(graphs)).split(512):
        part = graphs.select(index)
        outputs.append(model((part.to_batch() if plain is None else plain(part)).to(device)).cpu())
    assert graphs.y is not None
    return score(torch.cat(outputs), graphs.y, task)


def _batches(steps: Steps, first: int, workers: int) -> Iterator[Batch]:
    if workers == 0:
        return (steps[s] for s in range(first, len(steps)))
    loader = DataLoader(
        steps,
        batch_size=None,
        sampler=range(first, len(steps)),
        num_workers=workers,
        prefetch_factor=4,
        generator=derived(steps.options.seed, "workers"),  # else the loader would draw from the global random state
    )
    return iter(loader)
