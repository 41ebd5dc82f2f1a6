"""Edit distances of pairs, whole matrices, nearest neighbours, and what a cost says of each node.

These are the algorithms behind the methods of :class:`epic.Cost`. They take the cost as an argument and use its two
price statements only.
"""

from epic.distance.edges import EdgeMatching, PricedGraphs
from epic.distance.explain import Explanation
from epic.distance.ged import EditDistance
from epic.distance.matrices import distance_matrix
from epic.distance.nearest import Neighbors
from epic.distance.pairs import Pairs, assign_pairs, embed_all, node_distances, operation_costs, soft_distances

__all__ = [
    "EdgeMatching",
    "EditDistance",
    "Explanation",
    "Neighbors",
    "Pairs",
    "PricedGraphs",
    "assign_pairs",
    "distance_matrix",
    "embed_all",
    "node_distances",
    "operation_costs",
    "soft_distances",
]
