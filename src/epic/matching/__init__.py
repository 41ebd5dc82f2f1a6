"""Which node becomes which: the exact assignment with deletion and insertion, and its soft, differentiable form.

This room knows matrices only, neither graphs nor costs models.
"""

from epic.matching.exact import PaddedAssignment, assign, assign_batch
from epic.matching.sinkhorn import SoftAssignment, sinkhorn

__all__ = ["PaddedAssignment", "SoftAssignment", "assign", "assign_batch", "sinkhorn"]
