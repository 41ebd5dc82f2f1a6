"""Classifiers that need no network at prediction: nearest neighbours by edit distance."""

from epic.classifiers.neighbors import EditNeighbors, Neighbor

__all__ = ["EditNeighbors", "Neighbor"]
