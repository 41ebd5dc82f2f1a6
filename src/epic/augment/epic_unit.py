"""A control: EPIC without learning, at unit cost."""

from __future__ import annotations

from epic.augment.fixed_cost import FixedCost
from epic.costs.unit import UnitCost


class EPICUnit(FixedCost):
    """EPIC with ``UnitCost()``: what is left of its gain when every edit costs the same."""

    fixed = UnitCost
