"""Whether a learned cost is any good, said at the end of learning."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from epic.graphs.packed import PackedGraphs
from epic.labels import class_columns, infer_task

if TYPE_CHECKING:
    from epic.costs.base import Cost
    from epic.costs.learning import Epoch

log = logging.getLogger(__name__)
MOST_HELD, MOST_PAIRS = 300, 50_000
"""Nearest neighbours are searched for so many held-out graphs at most, and among so many pairs: a few seconds."""


def tell(
    cost: Cost,
    history: list[Epoch],
    *,
    train: PackedGraphs,
    validation_graphs: PackedGraphs | None,
    anchors: Tensor | None,
    task: str | None,
) -> None:
    """Log how well held-out graphs are told apart: a warning if that is no better than chance.

    ``anchors`` are the graphs that held-out triplets start from.
    """
    best = min(history, key=lambda e: e.judged)
    chosen = f"epoch {best.epoch + 1} of {len(history)}"
    if best.ordered is None or anchors is None:
        log.warning(
            f"learned a cost without held-out graphs: the training loss chose {chosen}, and nothing says how good it "
            "is. Give more graphs of each class, or graphs as validation="
        )
        return
    graphs = anchors.unique().numel()
    low, high = interval(best.ordered, graphs)
    advice = ""
    if low <= 0.5:
        tells = "unit cost will serve you better" if high < 0.5 else "these graphs cannot tell it from chance"
        advice = f". Chance is 50%: {tells}"
    level = logging.WARNING if advice else logging.INFO
    if log.isEnabledFor(level):
        near = _neighbours(cost, train, validation_graphs, task) if log.isEnabledFor(logging.INFO) else ""
        log.log(
            level,
            f"learned a cost: {chosen} ordered {best.ordered:.0%} of the triplets of {graphs} held-out graphs (95% "
            f"interval {low:.0%} to {high:.0%}){near}{advice}",
        )


def interval(share: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share.

    Triplets of one graph are alike, so graphs are counted and not triplets.

    >>> [round(end, 3) for end in interval(0.8, 100)]
    [0.711, 0.867]
    """
    z = 1.959964
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    reach = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _neighbours(cost: Cost, train: PackedGraphs, unseen: PackedGraphs | None, task: str | None) -> str:
    """Return the accuracy of the nearest neighbour next to that of the largest class, where both are cheap."""
    if unseen is None or len(unseen) > MOST_HELD or len(unseen) * len(train) > MOST_PAIRS:
        return ""
    task = task or infer_task(train.labels)
    if task == "values":
        return ""
    label, truth = (class_columns(g.labels.cpu(), task) for g in (train, unseen))
    if label.shape[1] > 1 or bool((label < 0).any()) or bool((truth < 0).any()):
        return ""
    with torch.no_grad():
        found = cost.nearest(unseen, train, k=1, progress=False).index[:, 0].cpu()
    right = (label[found, 0] == truth[:, 0]).double().mean()
    common = (truth[:, 0] == label[:, 0].mode().values).double().mean()
    return f"; nearest neighbours classify {right:.0%} of these graphs rightly, the largest class {common:.0%}"
