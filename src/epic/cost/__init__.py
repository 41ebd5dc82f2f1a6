"""What an edit costs: counted, by features, or learned from labels."""

from epic.cost.base import Cost
from epic.cost.distances import Neighbors
from epic.cost.feature import FeatureCost
from epic.cost.learned import LearnedCost
from epic.cost.learning import Epoch, Learning
from epic.cost.records import Matches, NodeCosts, PairCosts, Prices
from epic.cost.unit import UnitCost

__all__ = [
    "Cost",
    "Epoch",
    "FeatureCost",
    "LearnedCost",
    "Learning",
    "Matches",
    "Neighbors",
    "NodeCosts",
    "PairCosts",
    "Prices",
    "UnitCost",
]
