"""Scores of a model, for every kind of label."""

from __future__ import annotations

import torch
from scipy.stats import rankdata
from torch import Tensor

from epic.errors import InputError
from epic.graphs.packed import matrix


def score(output: Tensor, y: Tensor, task: str) -> float:
    """Return a score, higher is better: accuracy of classes, ROC-AUC of 0/1 tasks, minus the mean error of values.

    Args:
        output: Outputs of a model ``[graphs, outputs]``.
        y: Labels; missing ones (NaN) are left out.
        task: What the labels are, one of :data:`epic.labels.TASKS`.
    """
    if task == "classes":
        return accuracy(output, y)
    if task == "binary":
        return roc_auc(output, y)
    known = ~torch.isnan(matrix(y))
    return -float((output - matrix(y))[known].abs().mean())


def probabilities(output: Tensor, task: str) -> Tensor:
    """Return outputs as probabilities: of each class, or of each task being 1; values stay what they are.

    Args:
        output: Outputs of a model ``[graphs, outputs]``.
        task: What the labels are, one of :data:`epic.labels.TASKS`.
    """
    return output.softmax(1) if task == "classes" else output.sigmoid() if task == "binary" else output


def accuracy(output: Tensor, y: Tensor) -> float:
    """Return the share of graphs whose largest output is their class, or the largest of their soft labels.

    Args:
        output: Outputs of a model ``[graphs, classes]``.
        y: Class indices, or rows of class shares.

    >>> accuracy(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([0, 0]))
    0.5
    """
    truth = y.argmax(1) if y.dim() == 2 and y.shape[1] > 1 else y.reshape(-1)
    return float((output.argmax(1) == truth).double().mean())


def roc_auc(output: Tensor, y: Tensor) -> float:
    """Return the area under the ROC curve, averaged over the tasks that have both classes.

    Args:
        output: Outputs of a model ``[graphs, tasks]``.
        y: 0/1 labels; missing ones (NaN) are left out.

    Raises:
        InputError: No task has both classes.

    >>> roc_auc(torch.tensor([[0.1], [0.4], [0.35], [0.8]]), torch.tensor([[0.0], [0.0], [1.0], [1.0]]))
    0.75
    """
    areas = []
    for scores, labels in zip(matrix(output).T, matrix(y).T, strict=True):
        known = ~torch.isnan(labels)
        truth, rank = labels[known] == 1, torch.from_numpy(rankdata(scores[known].double().cpu().numpy()))
        positive = int(truth.sum())
        negative = truth.numel() - positive
        if positive and negative:
            area = (float(rank[truth.cpu()].sum()) - positive * (positive + 1) / 2) / (positive * negative)
            areas.append(area)
    if not areas:
        raise InputError(
            f"ROC-AUC needs graphs of both classes, but the {len(matrix(y))} to judge by are of one: give more graphs, "
            "or take another split"
        )
    return sum(areas) / len(areas)
