"""What labels are, decided in one place: the kinds of labels, how to tell them apart, and the loss of each."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from epic.errors import InputError, choose

TASKS = ("classes", "binary", "values")
"""The kinds of labels: class indices or rows of class shares; 0/1 tasks, NaN where missing; real values, NaN where
missing."""

MOST_CLASSES = 50
"""More integers than this are not taken for classes: they may be measurements. Nor are more different texts."""

TOLERANCE = 0.01
"""How far from 1 the shares of a row may sum: enough for three decimals and twenty classes, or two and two."""


def matrix(value: Tensor) -> Tensor:
    """Flatten rows of any shape; unlike ``reshape(n, -1)``, this works for no rows too.

    >>> matrix(torch.zeros(0, 3)).shape, matrix(torch.zeros(4)).shape
    (torch.Size([0, 3]), torch.Size([4, 1]))
    """
    return value[:, None] if value.dim() == 1 else value.flatten(1)


def infer_task(y: Tensor) -> str:
    """Return the kind of labels, one of :data:`TASKS`.

    Integers in one column are class indices, in several columns 0/1 tasks. Float rows of several columns, none
    negative, that sum to 1 within :data:`TOLERANCE` are class shares. Other floats are 0/1 tasks if all known ones are
    0 or 1, else values.

    Args:
        y: One row for each graph.

    Raises:
        InputError: A class index is negative.

    >>> infer_task(torch.tensor([0, 1])), infer_task(torch.tensor([[0.0], [1.0]])), infer_task(torch.eye(2))
    ('classes', 'binary', 'classes')
    """
    rows = matrix(y)
    if not rows.is_floating_point():
        _check_indices(rows)
        return "classes" if rows.shape[1] == 1 else "binary"
    if rows.shape[1] > 1 and bool((rows >= 0).all() & ((rows.sum(1) - 1).abs() <= TOLERANCE).all()):
        return "classes"
    known = rows[~torch.isnan(rows)]
    return "binary" if bool(((known == 0) | (known == 1)).all()) else "values"


def known_task(y: Tensor, task: str | None = None) -> str:
    """Return the kind of the labels of a whole dataset: ``task``, or as :func:`infer_task` has it.

    Args:
        y: One row for each graph.
        task: One of :data:`TASKS`; None infers it.

    Raises:
        InputError: Integers may be classes or measurements: they reach :data:`MOST_CLASSES`, or are more than ten and
            more than a tenth of the graphs.

    >>> known_task(torch.tensor([0, 1])), known_task(torch.arange(60), "values")
    ('classes', 'values')
    """
    if task is not None:
        return choose(task, TASKS, "task")
    task = infer_task(y)
    if task == "classes" and not y.is_floating_point() and y.numel():
        found = y.unique().numel()
        if int(y.max()) >= MOST_CLASSES or found > max(10, y.numel() / 10):
            raise InputError(
                f"y holds {found} different integers up to {int(y.max())} in {y.numel()} graphs: say task='values' (on "
                "the command line --task values) if they are measurements or counts, task='classes' if they are classes"
            )
    return task


def typed(y: Tensor, task: str | None) -> Tensor:
    """Return labels with the type of their kind: values are floats."""
    return y.float() if task == "values" and not y.is_floating_point() else y


def class_columns(y: Tensor, task: str) -> Tensor:
    """Return classes as integers ``[graphs, tasks]``, -1 where missing.

    Rows of class shares give one column: the class with the largest share.

    Args:
        y: One row for each graph.
        task: ``classes`` or ``binary``.

    Raises:
        InputError: A class index is negative.

    >>> class_columns(torch.tensor([[0.2, 0.8], [0.9, 0.1]]), "classes").tolist()
    [[1], [0]]
    """
    rows = matrix(y)
    if task == "classes" and rows.shape[1] > 1:
        return rows.argmax(1, keepdim=True)
    _check_indices(rows)
    return torch.where(torch.isnan(rows), -1, rows).long()


def count_classes(y: Tensor) -> int | None:
    """Return the number of classes (at least two) if labels are class indices, else None.

    Raises:
        InputError: A class index is negative.
    """
    rows = matrix(y)
    if rows.is_floating_point() or rows.shape[1] != 1 or not rows.numel():
        return None
    _check_indices(rows)
    return max(2, int(rows.max()) + 1)


def soft_labels(y: Tensor, num_classes: int | None = None) -> Tensor:
    """Return labels of any kind as float rows ``[B, C]``.

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
    _check_indices(rows)
    if num_classes is None:
        raise InputError("the number of classes is not known: call fit(dataset) first, or pass num_classes=")
    highest = int(rows.max()) if rows.numel() else -1
    if highest >= num_classes:
        raise InputError(f"class index {highest} but only {num_classes} classes: pass num_classes={highest + 1}")
    return F.one_hot(rows[:, 0].long(), num_classes).float()


def loss(output: Tensor, y: Tensor, task: str) -> Tensor:
    """Return the loss of outputs against float labels.

    Soft cross-entropy for classes, binary cross-entropy for 0/1 tasks, squared error for values. Missing (NaN) labels
    are left out.
    """
    choose(task, TASKS, "task")
    if task == "classes":
        return F.cross_entropy(output, y)
    if output.numel() != y.numel():
        raise InputError(f"outputs of shape {list(output.shape)} do not fit labels of shape {list(y.shape)}")
    y = y.reshape(output.shape)  # [B] and [B, 1] would be broadcast to [B, B]
    known = ~torch.isnan(y)
    if not bool(known.any()):
        return output.sum() * 0.0  # nothing to learn from this batch
    measure = F.binary_cross_entropy_with_logits if task == "binary" else F.mse_loss
    return measure(output[known], y[known].to(output.dtype))


def mix(source: Tensor, *, target: Tensor, share: Tensor) -> Tensor:
    """Return ``(1 - share) * source + share * target`` by row; the ends are exact even where the other is NaN."""
    w = share.to(source.dtype)[:, None]
    return torch.where(w == 0, source, torch.where(w == 1, target, (1 - w) * source + w * target))


def _check_indices(rows: Tensor) -> None:
    """Refuse class indices below 0; labels of other kinds pass."""
    if not rows.is_floating_point() and rows.shape[1] == 1 and rows.numel() and int(rows.min()) < 0:
        raise InputError(f"class index {int(rows.min())} is negative: number the classes from 0")
