"""Edit paths: one to look at, or the graphs on many of them at once."""

from epic.path.closed_form import Intermediate, intermediate
from epic.path.edit_path import EditPath, Operation, edit_distance, edit_path
from epic.path.operations import Operations

__all__ = ["EditPath", "Intermediate", "Operation", "Operations", "edit_distance", "edit_path", "intermediate"]
