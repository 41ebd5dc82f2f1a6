"""Many graphs in a few long tensors, and what is done to them as a whole."""

from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs, join

__all__ = ["PackedGraphs", "join", "pack"]
