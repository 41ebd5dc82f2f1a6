"""A control: EPIC whose models are not told which graphs are augmented."""

from __future__ import annotations

from epic.augment.base import MethodInfo
from epic.augment.epic import EPIC
from epic.costs.base import Cost
from epic.random import Seed


class EPICNoIndicator(EPIC):
    """EPIC that never appends the paper's "is augmented" feature, in comparisons where EPIC itself does."""

    about = MethodInfo(
        paper="control; Heo et al., EPIC, IJCAI 2024",
        changes="nodes, edges, features: a graph on the edit path of two",
        needs="fit: learns what edits cost",
        label="mixed by the share of cost spent",
        edge_attr="kept",
        cost="embedding of the graphs used, one assignment a graph",
    )

    def __init__(
        self,
        cost: Cost | None = None,
        ratio: float = 0.5,
        order: str = "random",
        pairs: str = "random",
        seed: Seed = None,
        *,
        num_classes: int | None = None,
        degree_features: bool | None = None,
        task: str | None = None,
    ) -> None:
        super().__init__(
            cost, ratio, order, False, pairs, seed, num_classes=num_classes, degree_features=degree_features, task=task
        )
