"""Labels that can be interpolated: always float, one row a graph."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from epic.errors import InputError
from epic.fast import compiled, constant, integers
from epic.losses import check_classes
from epic.pack import matrix


def soft_labels(y: Tensor, classes: int | None = None) -> Tensor:
    """Float rows ``[B, C]`` from any kind of labels.

    Class indices become one-hot over ``classes``. Rows that are one-hot, soft, 0/1 tasks (NaN where missing) or real
    values stay what they are; single real values become one column.

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
    fill, index = compiled("compiled", "one_hot"), integers(rows[:, 0])
    if fill is not None and index is not None and classes is not None and classes > 0:
        out = np.zeros((rows.shape[0], classes), np.float32)
        if fill(*index, out):
            return torch.from_numpy(out)
    check_classes(rows)
    if classes is None:
        raise InputError("the number of classes is not known: call fit(dataset) first, or pass classes=")
    highest = int(rows.max()) if rows.numel() else -1
    if highest >= classes:
        raise InputError(f"class index {highest} but only {classes} classes: pass classes={highest + 1}")
    return F.one_hot(rows[:, 0].long(), classes).float()


def count_classes(y: Tensor) -> int | None:
    """Number of classes if labels are class indices (two at least), else None; an index below 0 is refused."""
    check_classes(y)
    single = y.numel() == y.shape[0]
    return None if y.is_floating_point() or not single or not y.numel() else max(2, int(y.max()) + 1)


def mix(source: Tensor, target: Tensor, share: Tensor) -> Tensor:
    """``(1 - share) * source + share * target`` by row; the ends are exact even where the other is NaN."""
    w = share.to(source.dtype)
    quick = compiled("compiled", "mixed")
    if quick is not None and all(map(constant, (source, target, w))):
        return torch.from_numpy(quick(source.numpy(), target.numpy(), w.numpy()))
    w = w[:, None]
    return torch.where(w == 0, source, torch.where(w == 1, target, (1 - w) * source + w * target))
