"""A control: EPIC without learning, at costs by feature distance."""

from __future__ import annotations

from epic.augment.fixed_cost import FixedCost
from epic.costs.feature import FeatureCost


class EPICFeature(FixedCost):
    """EPIC with ``FeatureCost()``: what is left of its gain when edits cost what features differ by."""

    fixed = FeatureCost
