"""What a model is trained to make small, for every kind of label."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from epic.errors import InputError, choose
from epic.pack import matrix

TASKS = ("classes", "binary", "values")
"""Class indices or soft classes; 0/1 tasks, NaN where missing; real values, NaN where missing."""


def loss(output: Tensor, y: Tensor, task: str) -> Tensor:
    """Loss against float labels: soft cross-entropy, BCE that skips missing (NaN) labels, or squared error."""
    choose(task, TASKS, "task")
    if task == "classes":
        return F.cross_entropy(output, y)
    known = ~torch.isnan(y)
    if not bool(known.any()):
        return output.sum() * 0.0  # nothing to learn from this batch
    if task == "binary":
        return F.binary_cross_entropy_with_logits(output[known], y[known].to(output.dtype))
    return F.mse_loss(output[known], y[known].to(output.dtype))


def task_by_look(y: Tensor) -> str:
    """What labels are, by their look: rows that are not negative and sum to 1 are (soft) classes.

    >>> task_by_look(torch.tensor([0, 1])), task_by_look(torch.tensor([[0.0], [1.0]])), task_by_look(torch.eye(2))
    ('classes', 'binary', 'classes')
    """
    rows = matrix(y)
    if not rows.is_floating_point():
        return "classes" if rows.shape[1] == 1 else "binary"
    if rows.shape[1] > 1 and bool((rows >= 0).all()) and torch.allclose(rows.sum(1), rows.new_ones(len(rows))):
        return "classes"
    known = rows[~torch.isnan(rows)]
    return "binary" if bool(((known == 0) | (known == 1)).all()) else "values"


def check_classes(y: Tensor) -> None:
    """Refuse class indices below 0; labels of other kinds pass."""
    if not y.is_floating_point() and matrix(y).shape[1] == 1 and y.numel() and int(y.min()) < 0:
        raise InputError(f"class index {int(y.min())} is negative: number the classes from 0")
