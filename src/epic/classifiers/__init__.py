"""Classifiers on edit distances."""

from epic.classifiers.neighbors import EditNeighbors

__all__ = ["EditNeighbors"]
