"""Which node becomes which: the exact assignment with deletion and insertion, and its soft, differentiable form.

This room knows matrices only, neither graphs nor costs models.
"""

from epic.assignment.exact import Assignment, assign, assign_batch
from epic.assignment.sinkhorn import SoftAssignment, sinkhorn

__all__ = ["Assignment", "SoftAssignment", "assign", "assign_batch", "sinkhorn"]
