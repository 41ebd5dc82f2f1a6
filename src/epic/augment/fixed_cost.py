"""What the controls of EPIC share whose costs are not learned."""

from __future__ import annotations

from typing import ClassVar

from epic.augment.base import MethodInfo
from epic.augment.epic import EPIC
from epic.costs.base import Cost
from epic.random import Seed


class FixedCost(EPIC):
    """EPIC at a cost that needs no learning: ``fixed`` makes it."""

    fixed: ClassVar[type[Cost]]

    about = MethodInfo(
        paper="control; Heo et al., EPIC, IJCAI 2024, table of cost functions",
        changes="nodes, edges, features: a graph on the edit path of two",
        needs="nothing",
        label="mixed by the share of cost spent",
        edge_attr="kept",
        cost="one assignment a graph",
    )

    def __init__(
        self,
        ratio: float = 0.5,
        order: str = "random",
        indicator: bool = False,
        pairs: str = "random",
        seed: Seed = None,
        *,
        num_classes: int | None = None,
        degree_features: bool | None = None,
        task: str | None = None,
    ) -> None:
        super().__init__(
            self.fixed(),
            ratio,
            order,
            indicator,
            pairs,
            seed,
            num_classes=num_classes,
            degree_features=degree_features,
            task=task,
        )
