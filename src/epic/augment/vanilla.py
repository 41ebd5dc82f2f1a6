"""No augmentation: what every method is compared with."""

from __future__ import annotations

from epic.augment.base import Augmentation, MethodInfo
from epic.random import Seed


class Vanilla(Augmentation):
    """Batches as they are, with float labels."""

    about = MethodInfo(paper="-", changes="nothing", needs="nothing", label="unchanged", edge_attr="kept", cost="none")
    makes_graphs = False

    def __init__(self, seed: Seed = None, *, num_classes: int | None = None, task: str | None = None) -> None:
        super().__init__(0.0, False, seed, num_classes=num_classes, degree_features=False, task=task)
