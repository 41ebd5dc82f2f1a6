"""Graphs to learn from."""

from epic.data.lollipop import lollipop, lollipop_graph
from epic.data.splits import stratified_split
from epic.data.tudataset import read_tu

__all__ = ["lollipop", "lollipop_graph", "read_tu", "stratified_split"]
