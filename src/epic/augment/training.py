"""Methods that act inside a training step, and what a training loop asks of every method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from epic.augment.base import Augmentation
from epic.errors import InputError
from epic.graphs.packed import Graphs, PackedGraphs
from epic.labels import loss, soft_labels

SEED = "augment_seed"


class TrainingSteps(ABC):
    """What a training loop asks of a method; :func:`training_steps` gives it for any augmentation."""

    def wrap_model(self, model: nn.Module) -> nn.Module:
        """Return the module to train in place of ``model``; a method that trains further networks wraps it."""
        return model

    @abstractmethod
    def on_epoch_start(self, model: nn.Module, epoch: int) -> None:
        """Prepare an epoch.

        Args:
            model: The module that is trained.
            epoch: Number of the epoch.
        """

    @abstractmethod
    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return the value to call ``backward`` on; clear gradients before it, not after.

        Args:
            model: The module that :meth:`wrap_model` returned.
            batch: A batch; if the method was not called on it, it is now.
        """

    def on_train_end(self, model: nn.Module) -> None:  # noqa: B027  most have nothing to do
        """Clean up after the last epoch."""


class TrainingMethod(Augmentation, TrainingSteps):
    """Base of methods that act in the loss.

    Called on a batch, such a method attaches the randomness of the training step to it; :meth:`loss` then does the
    work. A loop that trains with it calls :meth:`wrap_model` first, :meth:`on_epoch_start` before each epoch and
    :meth:`on_train_end` after the last.
    """

    makes_graphs = False
    ratio = 0.0
    replace = False
    degree_features: bool | None = False

    def on_epoch_start(self, model: nn.Module, epoch: int) -> None:
        self.set_epoch(epoch)

    def attach_randomness(self, batch: Batch, generator: torch.Generator) -> None:
        """Let a batch carry the randomness of its training step, from whatever process makes it.

        Args:
            batch: The batch, which is changed.
            generator: The source of randomness.
        """
        batch[SEED] = torch.randint(2**63 - 1, (), generator=generator)

    def _augment_batch(self, graphs: Graphs, packed: PackedGraphs, generator: torch.Generator) -> Batch:
        batch = super()._augment_batch(graphs, packed, generator)
        self.attach_randomness(batch, generator)
        return batch

    def ensure_augmented(self, batch: Batch) -> Batch:
        """Return the batch after this method, whether the method was called on it or not."""
        return batch if "augmented" in batch else self(batch)

    def step_generator(self, batch: Batch) -> torch.Generator:
        """Return the generator (on the CPU) that the seed of a batch stands for."""
        if SEED not in batch:
            name = type(self).__name__
            raise InputError(f"the batch has no seed of {name}: call it on the batch first, {name}()(batch)")
        return torch.Generator().manual_seed(int(batch[SEED]))

    def criterion(self, output: Tensor, y: Tensor) -> Tensor:
        """Return the loss.

        Args:
            output: Outputs of the model.
            y: Labels of any kind.
        """
        return label_loss(self, output, y)


class PlainSteps(TrainingSteps):
    """Training on the batches of a method that does not act in the loss."""

    def __init__(self, augment: Augmentation) -> None:
        self.augment = augment

    def on_epoch_start(self, model: nn.Module, epoch: int) -> None:
        self.augment.set_epoch(epoch)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        batch = batch if "augmented" in batch else self.augment(batch)
        return label_loss(self.augment, model(batch), batch.y)


def training_steps(augment: Augmentation) -> TrainingSteps:
    """Return the method itself if it acts in the loss, else plain training on its batches."""
    return augment if isinstance(augment, TrainingMethod) else PlainSteps(augment)


def label_loss(augment: Augmentation, output: Tensor, y: Tensor) -> Tensor:
    """Return the loss of outputs against labels, which are what the method knows them to be."""
    task = augment.task_
    if task is None:  # mixed labels do not show what they are: 0.3 may be a probability or a value
        raise InputError("what the labels are is not known here: call fit(train), or pass task=")
    return loss(output, soft_labels(y, output.shape[1]), task)


def need_parts(model: nn.Module, parts: Sequence[str], method: str) -> Any:
    """Return the model if it can be run in pieces."""
    missing = [p for p in parts if not hasattr(model, p)]
    if missing:
        raise InputError(
            f"{method} needs a model with {', '.join(parts)}, but {type(model).__name__} has no {', '.join(missing)}: "
            "use epic.train.Backbone, or give your model these parts"
        )
    return model
