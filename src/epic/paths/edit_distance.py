"""The edit distance of two graphs by any method, at unit cost unless said otherwise."""

from __future__ import annotations

from epic.costs.base import Cost, check_cost
from epic.costs.edge import EdgeCost
from epic.costs.unit import UnitCost
from epic.distance.ged import EditDistance, find_distance
from epic.graphs.networkx import is_networkx
from epic.graphs.packed import Graphs


def edit_distance(
    source: Graphs,
    target: Graphs,
    cost: Cost | None = None,
    *,
    method: str = "nodes",
    edge_cost: EdgeCost | float | None = None,
    time_limit: float | None = None,
) -> EditDistance:
    """Compute the edit distance of two graphs.

    By default it is the paper's: the cheapest node operations, each of which subsumes the edges that depend on it. All
    other methods price edges too.

    Args:
        source: one graph, of PyG or networkx.
        target: another one.
        cost: what node operations cost (default: :class:`epic.UnitCost`).
        method: ``nodes``; ``bipartite`` (Riesen and Bunke 2009: an assignment with local edge costs); ``edges`` (a low
            cost found by local search); ``exact`` (the least cost, by branch and bound); or ``hausdorff`` (Fischer et
            al. 2015: a lower bound in quadratic time, without a path).
        edge_cost: what edge operations cost, or one price for all of them (default: :class:`epic.EdgeCost`, unit cost;
            of directed networkx graphs, for each direction).
        time_limit: seconds after which ``exact`` gives the bounds reached so far (default: no limit).

    Returns:
        The distance: a number that also knows its bounds, whether they meet, the assignment, and the time it took.

    Raises:
        InputError: the graphs cannot be compared.

    >>> import networkx
    >>> found = edit_distance(networkx.path_graph(4), networkx.cycle_graph(4), method="exact")
    >>> float(found), found.exact, found.lower
    (1.0, True, 1.0)
    """
    if edge_cost is None:
        edge_cost = EdgeCost(directed=any(is_networkx(g) and g.is_directed() for g in (source, target)))
    cost, prices = check_cost(cost) or UnitCost(), EdgeCost.of(edge_cost)
    return find_distance(source, target, cost, edge_cost=prices, method=method, time_limit=time_limit)
