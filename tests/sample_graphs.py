"""Random graphs of every awkward kind."""

from epic.testing import random_graph, random_graphs

__all__ = ["random_graph", "random_graphs"]
