"""The one training loop: it learns edit costs, trains the matching network of S-Mixup, and trains classifiers."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn
from tqdm import tqdm

from epic._checkpoint import load_checkpoint, save_checkpoint
from epic._threads import few_threads
from epic.errors import InputError, choose, need_number
from epic.random import base_seed, derived

Line = dict[str, Any]
"""One epoch of a history: ``epoch``, ``loss`` (mean over its updates), and what ``evaluate`` gave."""

Batch = TypeVar("Batch")

SCHEDULES = ("step", "cosine")

Reporter = Callable[[str, int, int], None]
"""Called with what is trained, the epochs that are done, and their number."""
_reporter: ContextVar[Reporter | None] = ContextVar("reporter", default=None)


@contextmanager
def reporting(reporter: Reporter) -> Iterator[None]:
    """Tell ``reporter`` after every epoch of every training inside how far it is."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options that all trainings have.

    Args:
        epochs: Passes over the data, at most.
        batch_size: Items in a batch.
        lr: Adam's learning rate.
        weight_decay: Adam's weight decay.
        schedule: ``step`` multiplies the learning rate by ``decay`` every ``decay_every`` epochs; ``cosine`` lets it
            fall to nothing along a cosine.
        decay: See ``schedule``.
        decay_every: See ``schedule``; 0 leaves the learning rate as it is.
        patience: Epochs without a better one that end training; 0 never ends it early.
        average: What a moving average of the weights keeps at every update. The average is what is evaluated and kept;
            0 takes the weights themselves.
        seed: An int makes the result reproducible, a ``torch.Generator`` is drawn from once, None draws a fresh seed.
    """

    positive: ClassVar[tuple[str, ...]] = ("epochs", "batch_size", "lr", "decay")

    epochs: int = 100
    batch_size: int = 128
    lr: float = 1e-3
    weight_decay: float = 0.0
    schedule: str = "step"
    decay: float = 0.5
    decay_every: int = 0
    patience: int = 0
    average: float = 0.0
    seed: Any = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", base_seed(self.seed))
        choose(self.schedule, SCHEDULES, "schedule")
        for field in fields(self):
            if field.type in ("int", "float", "int | None") and getattr(self, field.name) is not None:
                value = need_number(getattr(self, field.name), field.name)
                if field.type != "float" and value != round(value):
                    raise InputError(f"{field.name} must be a whole number, got {value}")
        if not 0 <= self.average < 1:
            raise InputError(f"average must lie in [0, 1), got {self.average}")
        for name in self.positive:
            if getattr(self, name) is not None and getattr(self, name) <= 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)}")
        for name in ("weight_decay", "decay_every", "patience"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must not be negative, got {getattr(self, name)}")

    def lr_at(self, epoch: int, epochs: int | None = None) -> float:
        """Return the learning rate of an epoch; ``epochs`` is how many there are, if not as many as asked for."""
        if self.schedule == "cosine":
            return self.lr * (1 + math.cos(math.pi * epoch / (epochs or self.epochs))) / 2
        return self.lr * self.decay ** (epoch // self.decay_every) if self.decay_every else self.lr


class FitLoop:
    """Train a model epoch by epoch, keep the best epoch, and survive a kill.

    A run that is resumed from its checkpoint ends exactly as an uninterrupted one, if what its callbacks draw is a
    function of the seed and the epoch. Dropout is: the loop seeds torch at every epoch, and restores the global random
    state at the end.

    An epoch here is what lies between two evaluations. A caller that evaluates less often lets ``batches`` return
    several passes over the data.

    Args:
        model: The module to train, in place.
        options: How to train it.
        judge: Returns how good an epoch is, given its line; lower is better, and the first of equals is the best.
        epochs: Number of epochs (default: that of the options).
        identity: Name of the run (see :func:`epic._checkpoint.identity`).
        checkpoint: File to write after every epoch and to go on from; removed at the end.

    Attributes:
        history: One line for each epoch, those before a kill included.
        last: The module as it was judged last, after :meth:`run`.
    """

    last: nn.Module

    def __init__(
        self,
        model: nn.Module,
        options: FitOptions,
        *,
        judge: Callable[[Line], float],
        epochs: int | None = None,
        identity: str = "",
        checkpoint: str | Path | None = None,
    ) -> None:
        self.model, self.options, self.judge, self.identity = model, options, judge, identity
        self.epochs = epochs or options.epochs
        self.path = None if checkpoint is None else Path(checkpoint)
        # One call for all parameters: a step of a small network takes a sixth less time.
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=options.lr, weight_decay=options.weight_decay, fused=True
        )
        self.judged = copy.deepcopy(model).requires_grad_(False) if options.average else model
        self.history: list[Line] = []
        self._best: dict[str, Tensor] = {}
        if self.path is not None and self.path.exists():
            self._best, self.history = load_checkpoint(self.path, identity, self._modules, self.optimizer, judge)
        self.updates: int = self.history[-1]["updates"] if self.history else 0
        # The tensors of a state are those of the module: they follow it.
        self._pairs = list(zip(self.judged.state_dict().values(), model.state_dict().values(), strict=True))

    @property
    def _modules(self) -> dict[str, nn.Module]:
        """What a checkpoint holds."""
        return {"now": self.model, **({} if self.judged is self.model else {"average": self.judged})}

    @property
    def best_epoch(self) -> int:
        """Index of the best line of the history."""
        judged = [self.judge(line) for line in self.history]
        return judged.index(min(judged))

    def run(
        self,
        *,
        batches: Callable[[int], Iterable[Batch]],
        loss: Callable[[Batch], Tensor],
        evaluate: Callable[[nn.Module], Line],
        on_epoch_end: Callable[[Line], None] | None = None,
        progress: bool = True,
        description: str = "training",
        unit: str = "epoch",
    ) -> None:
        """Train to the end and leave the model with the weights of the best epoch, in evaluation mode.

        Args:
            batches: Returns the batches of an epoch.
            loss: Returns the loss of a batch. Gradients are zero when it is called, and it may call ``backward`` on
                parts of the loss that it then leaves out of the graph.
            evaluate: Returns what to note of an epoch, given the module to judge in evaluation mode: the model, or the
                moving average of its weights.
            on_epoch_end: Called with the line of each epoch.
            progress: Whether to show a progress bar.
            description: What the progress bar says.
            unit: What the progress bar counts.

        Raises:
            InputError: The loss is not finite.
        """
        model, options = self.model, self.options
        devices = sorted({p.device.index or 0 for p in model.parameters() if p.device.type == "cuda"})
        done = len(self.history)
        with (
            few_threads(model),
            torch.random.fork_rng(devices=devices),
            tqdm(total=self.epochs, initial=done, desc=description, unit=unit, disable=not progress) as bar,
        ):
            while not self._finished():
                epoch = len(self.history)
                torch.manual_seed(derived(options.seed, "dropout", epoch).initial_seed())
                self.optimizer.param_groups[0]["lr"] = options.lr_at(epoch, self.epochs)
                mean = self.train_epoch(batches(epoch), loss)
                if not math.isfinite(mean):
                    raise InputError(f"the loss became {mean} in epoch {epoch}: try a smaller lr than {options.lr}")
                line = {"epoch": epoch, "updates": self.updates, "loss": mean, **evaluate(self.judged.eval())}
                self._add(line)
                if on_epoch_end is not None:
                    on_epoch_end(line)
                shown = {k: v for k, v in line.items() if k in ("loss", "validation", "ordered") and v is not None}
                bar.set_postfix({k: f"{v:.3f}" for k, v in shown.items()}, refresh=False)
                bar.update()
                if (reporter := _reporter.get()) is not None:
                    reporter(description, len(self.history), self.epochs)
        self.last = copy.deepcopy(self.judged)
        model.load_state_dict(self._best)
        model.eval()
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def train_epoch(self, batches: Iterable[Batch], loss: Callable[[Batch], Tensor]) -> float:
        """Make one gradient update for each batch, in training mode, and return the mean loss."""
        self.model.train()
        total: Tensor | float = 0.0
        count = 0
        for batch in batches:
            self.optimizer.zero_grad()
            value = loss(batch)
            value.backward()
            self.optimizer.step()
            total, count = total + value.detach(), count + 1
            self.updates += 1
            if self.judged is not self.model:
                self._average()
        return float(total) / count

    @torch.no_grad()
    def _average(self) -> None:
        """Move the averaged weights towards the present ones, faster in the beginning: they start from chance."""
        keep = min(self.options.average, self.updates / (9 + self.updates))
        for average, now in self._pairs:
            if average.is_floating_point():
                average.lerp_(now, 1 - keep)
            else:
                average.copy_(now)

    def _finished(self) -> bool:
        """Return whether all epochs are done, patience has run out, or there is nothing left to learn."""
        if not self.history:
            return False
        last, options = self.history[-1], self.options
        waited = len(self.history) - 1 - self.best_epoch
        return (
            len(self.history) >= self.epochs
            or bool(options.patience and waited >= options.patience)
            or last["loss"] == self.judge(last) == 0
        )

    def _add(self, line: Line) -> None:
        """Append an epoch, keep its weights if it is the best so far, and write the checkpoint."""
        self.history.append(line)
        if self.best_epoch == len(self.history) - 1:
            self._best = {k: v.detach().clone() for k, v in self.judged.state_dict().items()}
        if self.path is not None:
            save_checkpoint(self.path, self.identity, self._modules, self.optimizer, self._best, self.history)
