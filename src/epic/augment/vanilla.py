"""No augmentation: what every method is compared with."""

from __future__ import annotations

from epic.augment.base import Augmentation, MethodInfo


class Vanilla(Augmentation):
    """Leave batches as they are."""

    info = MethodInfo(paper="-", changes="nothing", cost="none")
    makes_graphs = False
    ratio = 0.0
    replace = False
    degree_features = False
