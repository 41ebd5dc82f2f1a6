"""Edit paths: one to look at, or the graphs on many of them at once."""

from epic.paths.apply import Intermediate, apply_operations
from epic.paths.counterfactual import Counterfactual, counterfactual
from epic.paths.edit_distance import edit_distance
from epic.paths.edit_path import EditPath, edit_path
from epic.paths.operation import Operation
from epic.paths.operations import Operations

__all__ = [
    "Counterfactual",
    "EditPath",
    "Intermediate",
    "Operation",
    "Operations",
    "apply_operations",
    "counterfactual",
    "edit_distance",
    "edit_path",
]
