"""FLAG: adversarial perturbations of node features, several times in each training step."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from epic.augment import checks
from epic.augment.base import MethodInfo
from epic.augment.params import param
from epic.augment.training import TrainingMethod, need_parts
from epic.errors import InputError


class FLAG(TrainingMethod):
    """Train on node features moved against the model: ``passes`` times in a step, by ``step`` each time.

    Kong et al., Robust Optimization as Data Augmentation for Large-scale Graphs, CVPR 2022. A perturbation starts
    uniform between ``-step`` and ``step``; each pass adds its share of the weight gradients, then every entry of the
    perturbation goes ``step`` further in the direction that raises the loss. It is not projected back. The optimiser
    steps once, on the mean over the passes.

    Float features are perturbed as they are. Integer features cannot be, so the output of the model's encoder is
    perturbed instead, as the paper does on molecules. Graphs, edge attributes and labels stay as they are. BatchNorm
    sees every pass.

    :meth:`loss` calls ``backward`` for all passes but the last by itself: clear gradients before it, not after.
    """

    info = MethodInfo(
        paper="Kong et al., Robust Optimization as Data Augmentation for Large-scale Graphs, CVPR 2022",
        changes="node features, against the gradient of the loss",
        needs="for integer features a model with encode, embed, head",
        cost="one forward and backward for each pass",
    )

    step: float = param(
        default=1e-3,
        grid=(5e-3, 8e-3, 1e-2),
        check=checks.not_negative,
        kw_only=False,
        help="how far to move in a pass",
    )
    passes: int = param(default=3, check=checks.count, help="forward and backward passes in a training step")

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return the mean loss over the passes; ``backward`` on it adds the gradients of the last pass."""
        batch = self.ensure_augmented(batch)
        if batch.x is None:
            raise InputError("FLAG needs node features x to perturb, but the batch has none: add one-hot degrees")
        floats = batch.x.is_floating_point()
        inner: Any = model if floats else need_parts(model, ("encode", "embed", "head"), "FLAG with integer x")
        generator = self.step_generator(batch)

        def output(vectors: Tensor) -> Tensor:
            if not floats:
                return inner.head(inner.embed(batch, vectors))
            moved = copy.copy(batch)
            moved.x = vectors
            return model(moved)

        delta: Tensor | None = None
        done = torch.zeros((), device=batch.x.device)
        for left in reversed(range(self.passes)):
            start = batch.x if floats else inner.encode(batch)
            if delta is None:
                delta = self.step * (2 * torch.rand(start.shape, generator=generator) - 1).to(start)
            delta.requires_grad_()
            value = self.criterion(output(start + delta), batch.y) / self.passes
            if left == 0:
                break
            value.backward()
            done += value.detach()
            if delta.grad is not None:  # None in a model that does not look at x
                delta = delta.detach() + self.step * delta.grad.sign()
        return value + done
