"""What an edit costs: counted, by features, or learned from labels."""

from epic.costs.base import Cost
from epic.costs.edge import EdgeCost
from epic.costs.feature import FeatureCost
from epic.costs.learned import LearnedCost
from epic.costs.learning import Epoch, Learning
from epic.costs.unit import UnitCost
from epic.distance.nearest import Neighbors
from epic.matching.types import Assignment, NodeCosts, OperationCosts, PairCosts

__all__ = [
    "Assignment",
    "Cost",
    "EdgeCost",
    "Epoch",
    "FeatureCost",
    "LearnedCost",
    "Learning",
    "Neighbors",
    "NodeCosts",
    "OperationCosts",
    "PairCosts",
    "UnitCost",
]
