"""networkx's graph edit distance by our search: the same arguments, the same answer.

from epic.networkx import graph_edit_distance
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from epic.distance.ged import EditDistance, find_distance
from epic.errors import InputError
from epic.graphs.networkx import from_networkx, is_networkx
from epic.graphs.packed import PackedGraphs
from epic.matching.types import NodeCosts

__all__ = ["graph_edit_distance"]

Attributes = Mapping[Any, Any]
Match = Callable[[Attributes, Attributes], bool]
Pair = Callable[[Attributes, Attributes], float]
Single = Callable[[Attributes], float]


def graph_edit_distance(
    G1: Any,
    G2: Any,
    node_match: Match | None = None,
    edge_match: Match | None = None,
    node_subst_cost: Pair | None = None,
    node_del_cost: Single | None = None,
    node_ins_cost: Single | None = None,
    edge_subst_cost: Pair | None = None,
    edge_del_cost: Single | None = None,
    edge_ins_cost: Single | None = None,
    roots: tuple[Any, Any] | None = None,
    upper_bound: float | None = None,
    timeout: float | None = None,
    *,
    method: str = "exact",
) -> EditDistance | None:
    """Compute the graph edit distance of two networkx graphs, as ``networkx.graph_edit_distance`` does.

    All arguments but ``method`` are networkx's own, in its order. Multigraphs are refused. An edge of a node to itself
    only becomes such an edge; networkx lets it become any other.

    Args:
        G1: a networkx graph.
        G2: another one of the same type.
        node_match: tells from their attributes whether two nodes are equal; a substitution then costs 0, else 1.
        edge_match: tells from their attributes whether two edges are equal.
        node_subst_cost: price of a substitution by the attributes of both nodes, in place of ``node_match``.
        node_del_cost: price of deleting a node (default: 1).
        node_ins_cost: price of inserting a node (default: 1).
        edge_subst_cost: price of a substitution by the attributes of both edges, in place of ``edge_match``.
        edge_del_cost: price of deleting an edge (default: 1).
        edge_ins_cost: price of inserting an edge (default: 1).
        roots: a node of ``G1`` and a node of ``G2`` that must be matched.
        upper_bound: distances above this are not of interest.
        timeout: seconds after which the best distance found so far is returned.
        method: how to find it, as for :func:`epic.edit_distance`; ``edges`` is fast and not always exact.

    Returns:
        The distance: a float that also knows its bounds and the assignment. None if it is above ``upper_bound``.

    Raises:
        InputError: the arguments are not two networkx graphs of one type, or a price is negative.
    """
    for graph in (G1, G2):
        if not is_networkx(graph):
            raise InputError(f"expected a networkx graph, got {type(graph).__name__}")
    if G1.is_directed() != G2.is_directed():
        raise InputError("one graph is directed and the other is not: convert one, for instance by to_directed()")
    one, other = from_networkx([G1, G2])
    nodes = [[values for _, values in g.nodes(data=True)] for g in (G1, G2)]
    edges = [[values for _, _, values in g.edges(data=True)] for g in (G1, G2)]
    node = _table(nodes, node_match, node_subst_cost, node_del_cost, node_ins_cost, "node")
    plain = all(f is None for f in (edge_match, edge_subst_cost, edge_del_cost, edge_ins_cost))
    edge = np.ones((2, 2)) - np.eye(2)
    if not plain:
        edge = _table(edges, edge_match, edge_subst_cost, edge_del_cost, edge_ins_cost, "edge")
    if roots is not None:  # anything else for a root costs more than all other operations
        for root, graph in zip(roots, (G1, G2), strict=True):
            if root not in graph:
                raise InputError(f"the root {root!r} is not a node of its graph")
        u, v = list(G1).index(roots[0]), list(G2).index(roots[1])
        expensive = 1 + node.max() * (one.num_nodes + other.num_nodes) + edge.max() * sum(map(len, edges))
        together = node[u + 1, v + 1]
        node[u + 1], node[:, v + 1] = expensive, expensive
        node[u + 1, v + 1] = together
    for data, graph, shift in ((one, G1, 0), (other, G2, one.num_nodes)):
        data.x = torch.arange(shift, shift + data.num_nodes)[:, None]
        data.edge_attr = None if plain else _numbers(graph)
    prices = _EdgeTable(edge, G1.is_directed())
    found = find_distance(one, other, _NodeTable(node), edge_cost=prices, method=method, time_limit=timeout)
    return None if upper_bound is not None and found > upper_bound else found


def _table(
    values: list[list[Attributes]],
    match: Match | None,
    substitution: Pair | None,
    deletion: Single | None,
    insertion: Single | None,
    what: str,
) -> np.ndarray:
    """Return the prices of all operations: substitutions after the insertions (row 0) and deletions (column 0)."""
    mine, theirs = values
    out = np.zeros((len(mine) + 1, len(theirs) + 1))
    out[1:, 0] = 1.0 if deletion is None else [deletion(a) for a in mine]
    out[0, 1:] = 1.0 if insertion is None else [insertion(b) for b in theirs]
    price = substitution or (match and (lambda a, b: not match(a, b)))
    if price is not None:
        out[1:, 1:] = np.reshape([[price(a, b) for b in theirs] for a in mine], (len(mine), len(theirs)))
    if not (np.isfinite(out).all() and (out >= 0).all()):
        raise InputError(f"a {what} price is {out[~(np.isfinite(out) & (out >= 0))][0]}: prices must be 0 or more")
    return out


def _numbers(graph: Any) -> Tensor:
    """Number the edges in the order of ``graph.edges``; both directions of one have the same number."""
    once = graph.is_directed()
    times = torch.tensor([1 if once or a == b else 2 for a, b in graph.edges], dtype=torch.long)
    return torch.arange(len(times)).repeat_interleave(times)[:, None]


@dataclass(frozen=True)
class _NodeTable:
    """Node prices from a table; ``x`` numbers the nodes of both graphs."""

    prices: np.ndarray
    metric = None

    def embed(self, graphs: PackedGraphs) -> NodeCosts:
        n = self.prices.shape[0] - 1
        deletion = np.concatenate([self.prices[1:, 0], np.zeros(self.prices.shape[1] - 1)])
        insertion = np.concatenate([np.zeros(n), self.prices[0, 1:]])
        assert graphs.x is not None
        at = graphs.x[:, 0]
        return NodeCosts(graphs.x, torch.from_numpy(deletion)[at], torch.from_numpy(insertion)[at], graphs.ptr)

    def substitution(self, source: Tensor, target: Tensor) -> Tensor:
        n = self.prices.shape[0] - 1
        return torch.from_numpy(self.prices)[source[..., :, :1] + 1, target.transpose(-1, -2) - n + 1]


@dataclass(frozen=True)
class _EdgeTable:
    """Edge prices from a table; ``edge_attr`` numbers the edges."""

    prices: np.ndarray
    directed: bool
    scale = None

    def table(self, source: Tensor, target: Tensor) -> np.ndarray:
        if source.shape[1] == 0:  # all alike
            return self.prices
        rows, columns = (np.concatenate([[0], t[:, 0].numpy() + 1]) for t in (source, target))
        return self.prices[rows[:, None], columns]
