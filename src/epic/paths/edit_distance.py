"""The edit distance of two graphs by any method, at unit cost unless said otherwise."""

from __future__ import annotations

from typing import Any

from torch_geometric.utils import is_undirected

from epic.costs.base import Cost, check_cost
from epic.costs.edge import EdgeCost
from epic.costs.unit import UnitCost
from epic.distance.ged import EditDistance, find_distance
from epic.errors import InputError
from epic.graphs.convert import pack_one
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
            where a graph is directed, for each direction). A PyG graph is directed if an edge lacks its way back.
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
    cost, prices = check_cost(cost) or UnitCost(), EdgeCost.of(edge_cost)
    if method == "nodes" and edge_cost is not None:
        raise InputError("method='nodes' gives edges no price: leave out edge_cost, or take another method")
    named = {"source": source, "target": target}
    one, other = (g if is_networkx(g) else pack_one(g, what) for what, g in named.items())
    if edge_cost is None:
        prices = EdgeCost(directed=_is_directed(one) or _is_directed(other))
    return find_distance(one, other, cost, edge_cost=prices, method=method, time_limit=time_limit)


def _is_directed(graph: Any) -> bool:
    """Return whether a networkx graph is directed, or an edge of a packed one lacks its way back."""
    return graph.is_directed() if is_networkx(graph) else not is_undirected(graph.edge_index)
