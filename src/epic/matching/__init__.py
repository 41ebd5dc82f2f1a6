"""Which node becomes which: the exact assignment with deletion and insertion, and its soft, differentiable form.

This room knows matrices only, no models of cost.
"""

from epic.matching.exact import PaddedAssignment, assign, assign_batch
from epic.matching.sinkhorn import SoftAssignment, sinkhorn
from epic.matching.types import Assignment, NodeCosts, OperationCosts, PairCosts

__all__ = [
    "Assignment",
    "NodeCosts",
    "OperationCosts",
    "PaddedAssignment",
    "PairCosts",
    "SoftAssignment",
    "assign",
    "assign_batch",
    "sinkhorn",
]
