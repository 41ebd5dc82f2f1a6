"""The edit distance of two graphs that counts nodes and edges, with bounds."""

from __future__ import annotations

import time
from typing import Any, NoReturn

import numpy as np
import torch

from epic.distance.edges import PricedGraphs
from epic.distance.pairs import (
    Pairs,
    assignment_of,
    embed_both,
    large_pairs,
    node_edits,
    operation_costs,
    reduced_costs,
)
from epic.errors import InputError, choose, need_number
from epic.graphs.convert import pack_one
from epic.graphs.networkx import from_networkx, is_networkx
from epic.graphs.packed import Graphs, PackedGraphs
from epic.matching.edges import ROUNDS, EdgeEdits, EdgePairs, EdgePricing, edge_edits
from epic.matching.large import most_saved
from epic.matching.large_edges import local_costs
from epic.matching.search import search
from epic.matching.types import Assignment, Pricing

METHODS = ("nodes", "bipartite", "hausdorff", "edges", "exact")


class EditDistance(float):
    """An edit distance with bounds. It is a number: its upper bound, or its lower bound where that is all there is.

    Attributes:
        lower: no edit path is cheaper.
        upper: the cost of the edit path found, infinity where the method finds none.
        exact: whether the two meet.
        match: for each source node the target node that replaces it, or -1 where it is deleted; None without a path.
        assignment: the same for :mod:`epic.paths`.
        edges: what becomes of every edge; None where edges do not count.
        method: how it was found.
        seconds: how long it took.
    """

    lower: float
    upper: float
    exact: bool
    match: tuple[int, ...] | None
    assignment: Assignment | None
    edges: EdgeEdits | None
    method: str
    seconds: float

    def __new__(
        cls,
        lower: float,
        upper: float,
        *,
        method: str,
        seconds: float,
        assignment: Assignment | None = None,
        edges: EdgeEdits | None = None,
    ) -> EditDistance:
        """Make a distance from its bounds."""
        lower = min(lower, upper)
        made = super().__new__(cls, upper if np.isfinite(upper) else lower)
        match = None if assignment is None else tuple(assignment.partner.tolist())
        exact = np.isfinite(upper) and upper - lower <= 1e-9 * max(1.0, abs(upper))
        vars(made).update(
            lower=float(lower), upper=float(upper), exact=bool(exact), match=match, assignment=assignment,
            edges=edges, method=method, seconds=seconds,
        )  # fmt: skip
        return made

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot set {name}: a distance does not change")

    def __reduce__(self) -> tuple[Any, ...]:
        return float.__new__, (type(self), float(self)), vars(self)

    def __repr__(self) -> str:
        between = f"{self.upper:g}" if self.exact else f"{self.lower:g} to {self.upper:g}"
        return f"EditDistance({between}, {self.method}, {self.seconds:.3g} s)"


@torch.no_grad()
def find_distance(
    source: Graphs,
    target: Graphs,
    cost: Pricing,
    *,
    edge_cost: EdgePricing,
    method: str,
    time_limit: float | None = None,
) -> EditDistance:
    """Compute an edit distance of two graphs; see :func:`epic.edit_distance`.

    Of large graphs, ``nodes`` finds cheap operations and a lower bound.
    """
    choose(method, METHODS, "method")
    if time_limit is not None and not need_number(time_limit, "time_limit") > 0:
        raise InputError(f"time_limit must be positive, got {time_limit}")
    begin, zero = time.perf_counter(), torch.zeros(1, dtype=torch.long)
    one, other = _single(source, target)
    a, b = embed_both(cost, one, other)
    n, m, pairs = one.num_nodes, other.num_nodes, Pairs(cost, source=a, target=b, i=zero, j=zero)
    large = large_pairs(cost, n, m)

    def found(lower: float, upper: float, **path: Any) -> EditDistance:
        return EditDistance(lower, upper, method=method, seconds=time.perf_counter() - begin, **path)

    if method == "nodes":
        assignment, prices = node_edits(pairs)
        lower = upper = float(prices.distance)
        if large:
            saved = most_saved(reduced_costs(cost, source=a, target=b), n=n, m=m)
            lower = float(a.deletion.sum() + b.insertion.sum()) - saved
        return found(lower, upper, assignment=assignment)
    priced = PricedGraphs.of(cost, edge_cost, a, b, one, other)
    pair, base = priced.pairs(zero.numpy(), zero.numpy())
    if method == "hausdorff":
        return found(hausdorff(pair, a.deletion.numpy(), b.insertion.numpy()), np.inf)
    matched = priced.match(zero, zero, rounds=-1 if method == "bipartite" else ROUNDS)
    lower, upper = float(matched.lower[0]), float(matched.distance[0])
    assignment, edits = matched.assignment, matched.edges
    if method == "edges" and large:
        lower = max(lower, float(base[0]) - most_saved(local_costs(pair), n=n, m=m))
    if method == "exact" and lower < upper:
        left = None if time_limit is None else max(1e-3, time_limit - (time.perf_counter() - begin))
        column, low, done = search(pair, assignment.partner, time_limit=left)
        assignment = assignment_of(column, u=pair.u, n=pair.n, v=pair.v, m=pair.m)
        edits = edge_edits(pair, column)
        upper = float(operation_costs(pairs, assignment).distance) + float(edits.distance[0])
        lower = upper if done else max(lower, float(base[0]) + low)
    return found(lower, upper, assignment=assignment, edges=edits)


def hausdorff(pair: EdgePairs, deletion: np.ndarray, insertion: np.ndarray) -> float:
    """Return the Hausdorff edit distance of one pair, a lower bound of its edit distance.

    Every node goes to the nearest node of the other graph, whether others go there too; a substitution is paid half
    from each side, and so is what it does to the edges of the two nodes (Fischer et al., Approximation of graph edit
    distance based on Hausdorff matching, Pattern Recognition, 2015). Differences of numbers of nodes and edges count.

    Args:
        pair: The costs of one pair.
        deletion: Price of deleting each source node.
        insertion: Price of inserting each target node.

    Returns:
        The distance.
    """
    n, m = int(pair.n[0]), int(pair.m[0])
    one, other = pair.source, pair.target
    table = pair.table * pair.weight[0]
    loops = table[one.loop[:n, None], other.loop[None, :m]]
    substitution = pair.field[:n, :m] + deletion[:, None] + insertion + loops
    gone, come = deletion + one.per_node(table[:, 0]), insertion + other.per_node(table[0])
    edges = _nearest_edges(one.code, one.ptr, other.code, other.ptr, table)
    edges = edges + _nearest_edges(other.code, other.ptr, one.code, one.ptr, table.T).T
    # Whatever goes where, the node with more edges loses the difference.
    more = np.diff(one.ptr)[:, None] - np.diff(other.ptr)
    lost, won = (prices.min(initial=np.inf) for prices in (table[one.code, 0], table[0, other.code]))
    edges = np.maximum(edges, np.where(more > 0, more * lost, 0.0)) if more.max(initial=0) > 0 else edges
    edges = np.maximum(edges, np.where(more < 0, -more * won, 0.0)) if more.min(initial=0) < 0 else edges
    both = (substitution + edges / 2) / 2
    nearest = both.min(1, initial=np.inf), both.min(0, initial=np.inf)
    found = float(np.minimum(gone, nearest[0]).sum() + np.minimum(come, nearest[1]).sum())
    surplus = (n - m) * deletion.min() if n > m else (m - n) * insertion.min() if m > n else 0.0
    return max(found, float(surplus))


def _nearest_edges(
    code: np.ndarray, ptr: np.ndarray, other: np.ndarray, other_ptr: np.ndarray, table: np.ndarray
) -> np.ndarray:
    """Sum over the edges of u what each costs at least next to v: half a substitution, or its deletion."""
    best = np.repeat(table[code, 0][:, None], other_ptr.size - 1, axis=1)
    full = np.flatnonzero(np.diff(other_ptr))
    if full.size and code.size:
        near = np.minimum.reduceat(table[code[:, None], other], other_ptr[full], axis=1) / 2
        best[:, full] = np.minimum(best[:, full], near)
    total = np.concatenate([np.zeros((1, best.shape[1])), best.cumsum(0)])
    return total[ptr[1:]] - total[ptr[:-1]]


def _single(source: Graphs, target: Graphs) -> list[PackedGraphs]:
    """Return two graphs packed, of PyG or of networkx."""
    if is_networkx(source) and is_networkx(target):
        source, target = from_networkx([source, target])
    return [
        pack_one(from_networkx([graph])[0] if is_networkx(graph) else graph, what)
        for graph, what in ((source, "source"), (target, "target"))
    ]
