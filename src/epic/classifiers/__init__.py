"""Classifiers by edit distance: nearest neighbours, a kernel machine, and mixtures of either with a network."""

from epic.classifiers.blend import EditBlend
from epic.classifiers.kernel import EditKernelClassifier
from epic.classifiers.neighbors import EditNeighbors, Neighbor

__all__ = ["EditBlend", "EditKernelClassifier", "EditNeighbors", "Neighbor"]
