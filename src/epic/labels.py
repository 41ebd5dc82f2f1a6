"""What a model is trained to make small, for every kind of label."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from epic.errors import InputError, choose
from epic.graphs.packed import matrix

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


def soft_labels(y: Tensor, num_classes: int | None = None) -> Tensor:
    """Float rows ``[B, C]`` from any kind of labels.

    Class indices become one-hot over ``num_classes``. Rows that are one-hot, soft, 0/1 tasks (NaN where missing) or
    real values stay what they are; single real values become one column.

    >>> soft_labels(torch.tensor([0, 2]), 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    >>> soft_labels(torch.tensor([0.5, -1.0])).tolist()
    [[0.5], [-1.0]]
    """
    rows = matrix(y)
    if rows.is_floating_point():
        return rows if rows.dtype == torch.double else rows.float()
    if rows.shape[1] > 1:
        odd = rows[(rows != 0) & (rows != 1)]
        if odd.numel():
            raise InputError(
                f"integer labels of several columns must be 0 or 1, got {int(odd[0])}: give classes as one-hot, and "
                "missing labels as NaN among float ones"
            )
        return rows.float()
    check_classes(rows)
    if num_classes is None:
        raise InputError("the number of classes is not known: call fit(dataset) first, or pass num_classes=")
    highest = int(rows.max()) if rows.numel() else -1
    if highest >= num_classes:
        raise InputError(f"class index {highest} but only {num_classes} classes: pass num_classes={highest + 1}")
    return F.one_hot(rows[:, 0].long(), num_classes).float()


def count_classes(y: Tensor) -> int | None:
    """Number of classes if labels are class indices (two at least), else None; an index below 0 is refused."""
    check_classes(y)
    single = y.numel() == y.shape[0]
    return None if y.is_floating_point() or not single or not y.numel() else max(2, int(y.max()) + 1)


def mix(source: Tensor, target: Tensor, share: Tensor) -> Tensor:
    """``(1 - share) * source + share * target`` by row; the ends are exact even where the other is NaN."""
    w = share.to(source.dtype)[:, None]
    return torch.where(w == 0, source, torch.where(w == 1, target, (1 - w) * source + w * target))
