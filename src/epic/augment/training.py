"""Methods that act inside a training step, and what a training loop asks of every method."""

from __future__ import annotations

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


class TrainingSteps:
    """What a training loop asks of a method: by default, plain training on its batches.

    Args:
        augment: The method.
    """

    def __init__(self, augment: Augmentation) -> None:
        self.augment = augment

    def wrap_model(self, model: nn.Module) -> nn.Module:
        """Return the module to train in place of ``model``; a method that trains further networks wraps it."""
        return model

    def on_epoch_start(self, model: nn.Module, epoch: int) -> None:
        """Prepare an epoch.

        Args:
            model: The module that is trained.
            epoch: Number of the epoch.
        """
        self.augment.set_epoch(epoch)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return the value to call ``backward`` on; clear gradients before it, not after.

        Args:
            model: The module that :meth:`wrap_model` returned.
            batch: A batch; if the method was not called on it, it is now.
        """
        batch = self.ensure_augmented(batch)
        return self.criterion(model(batch), batch.y)

    def on_train_end(self, model: nn.Module) -> None:
        """Clean up after the last epoch."""

    def ensure_augmented(self, batch: Batch) -> Batch:
        """Return the batch after the method, whether the method was called on it or not."""
        return batch if "augmented" in batch else self.augment(batch)

    def criterion(self, output: Tensor, y: Tensor) -> Tensor:
        """Return the loss against labels, which are what the method knows them to be.

        Args:
            output: Outputs of the model.
            y: Labels of any kind.
        """
        task = self.augment.task_
        if task is None:  # mixed labels do not show what they are: 0.3 may be a probability or a value
            raise InputError("what the labels are is not known here: call fit(train), or pass task=")
        return loss(output, soft_labels(y, output.shape[1]), task)


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

    @property
    def augment(self) -> Augmentation:  # type: ignore[override]
        """The method itself."""
        return self

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

    def step_generator(self, batch: Batch) -> torch.Generator:
        """Return the generator (on the CPU) that the seed of a batch stands for."""
        if SEED not in batch:
            name = type(self).__name__
            raise InputError(f"the batch has no seed of {name}: call it on the batch first, {name}()(batch)")
        return torch.Generator().manual_seed(int(batch[SEED]))


def training_steps(augment: Augmentation) -> TrainingSteps:
    """Return the method itself if it acts in the loss, else plain training on its batches."""
    return augment if isinstance(augment, TrainingMethod) else TrainingSteps(augment)


def need_parts(model: nn.Module, parts: Sequence[str], method: str) -> Any:
    """Return the model if it can be run in pieces."""
    missing = [p for p in parts if not hasattr(model, p)]
    if missing:
        raise InputError(
            f"{method} needs a model with {', '.join(parts)}, but {type(model).__name__} has no {', '.join(missing)}: "
            "use epic.train.Backbone, or give your model these parts"
        )
    return model
