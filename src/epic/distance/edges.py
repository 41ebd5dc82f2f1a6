"""Assignments of listed pairs of graphs that count nodes and edges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from epic.distance.pairs import CELLS, Pairs, assignment_of, large_pairs, nodes_of, operation_costs, reduced_costs
from epic.errors import InputError, choose
from epic.graphs.packed import PackedGraphs
from epic.graphs.ragged import owners, to_array
from epic.matching.edges import ROUNDS, EdgeEdits, EdgePairs, EdgePricing, Edges, edge_edits, price_table
from epic.matching.large_edges import match_large
from epic.matching.types import Assignment, NodeCosts, OperationCosts, Pricing

MATCHINGS = ("nodes", "edges")
"""What an assignment minimises: the cost of node operations, as in the paper, or of nodes and edges together."""


def choose_matching(matching: str, *, exact: bool = False, edge_cost: object = None) -> str:
    """Return what is matched, or raise an error.

    Args:
        matching: one of :data:`MATCHINGS`.
        exact: whether the cheapest assignment is asked for, which is known of nodes only.
        edge_cost: what edges cost; None if nothing was said of it.
    """
    if choose(matching, MATCHINGS, "matching") == "edges" and exact:
        raise InputError(
            "exact=True is for matching='nodes': the least cost of nodes and edges together is searched for by "
            "epic.edit_distance(..., method='exact')"
        )
    if edge_cost is not None and matching == "nodes":
        raise InputError("edge_cost is for matching='edges', and edges have no price otherwise: say that too")
    return matching


@dataclass(frozen=True)
class EdgeMatching:
    """Assignments of P pairs that count nodes and edges, and what they cost.

    Args:
        assignment: which node becomes which.
        nodes: prices of the node operations.
        edges: what becomes of every edge, with prices.
        lower: a lower bound of the edit distance of each pair.
    """

    assignment: Assignment
    nodes: OperationCosts
    edges: EdgeEdits
    lower: np.ndarray

    @property
    def distance(self) -> Tensor:
        """Total cost of each pair, an upper bound of its edit distance."""
        node = self.nodes.distance
        return node + torch.from_numpy(self.edges.distance).to(node)


@dataclass(frozen=True)
class PricedGraphs:
    """Source and target graphs with all that their nodes and edges cost.

    Args:
        cost: what node operations cost.
        edge_cost: what edge operations cost.
        a: node costs of the source graphs.
        b: node costs of the target graphs.
        source: edges of the source graphs.
        target: edges of the target graphs.
    """

    cost: Pricing
    edge_cost: EdgePricing
    a: NodeCosts
    b: NodeCosts
    source: Edges
    target: Edges

    @staticmethod
    def of(
        cost: Pricing, edge_cost: EdgePricing, a: NodeCosts, b: NodeCosts, source: PackedGraphs, target: PackedGraphs
    ) -> PricedGraphs:
        """Read the edges of graphs whose nodes have been embedded.

        Args:
            cost: what node operations cost.
            edge_cost: what edge operations cost.
            a: node costs of the source graphs.
            b: node costs of the target graphs.
            source: source graphs.
            target: target graphs.

        Returns:
            All that is needed to match any of their pairs.
        """
        one = Edges.of(source, directed=edge_cost.directed)
        other = one if target is source else Edges.of(target, directed=edge_cost.directed)
        near = a.to("cpu").double()
        return PricedGraphs(cost, edge_cost, near, near if b is a else b.to("cpu").double(), one, other)

    def pairs(self, i: np.ndarray, j: np.ndarray) -> tuple[EdgePairs, np.ndarray]:
        """Gather the costs of listed pairs.

        Args:
            i: source graph of each pair.
            j: target graph of each pair.

        Returns:
            Their reduced costs, and what deleting and inserting all costs in each.
        """
        one, other = self.source, self.target
        if len(one.ways) * len(other.ways) > CELLS:
            one, other = one.of_graphs(i), other.of_graphs(j)
        table = price_table(self.edge_cost, one, other)
        (u, n), (v, m) = nodes_of(self.a.ptr, i), nodes_of(self.b.ptr, j)
        base = _sums(self.a.deletion, self.a.ptr)[i] + _sums(self.b.insertion, self.b.ptr)[j]
        weight = np.ones(i.size)
        if self.edge_cost.scale == "nodes":
            weight = base / np.maximum(n + m, 1)
        reduced = reduced_costs(self.cost, source=self.a, target=self.b)
        base = base + weight * (one.per_graph(table[:, 0])[i] + other.per_graph(table[0])[j])
        return EdgePairs(reduced, one, other, u, n, v, m, table, weight), base

    @torch.no_grad()
    def match(self, i: Tensor, j: Tensor, *, rounds: int = ROUNDS, seed: int = 0) -> EdgeMatching:
        """Match listed pairs so that node and edge operations together cost little.

        Large pairs (see :func:`epic.distance.pairs.large_pairs`) are matched region by region, in linear memory, unless
        ``rounds`` is -1. The lower bound of their distance is then 0.

        Args:
            i: source graph of each pair.
            j: target graph of each pair.
            rounds: how hard to try; -1 for the bipartite assignment with local edge costs.
            seed: what the method draws from. A pair has the same answer whatever pairs it comes with.

        Returns:
            The assignments and their prices.
        """
        first, second = i.cpu().numpy(), j.cpu().numpy()
        (u, n), (v, m) = nodes_of(self.a.ptr, first), nodes_of(self.b.ptr, second)
        columns, lower, edits = [np.empty(0, np.int64)], [np.empty(0)], []
        large = large_pairs(self.cost, n, m) & (rounds >= 0)
        for start, stop in self._runs(first, second, alone=large):
            p, base = self.pairs(first[start:stop], second[start:stop])
            if large[start]:
                column, bound = match_large(p, rounds=rounds, seed=seed), -base
            else:
                column, bound = p.match(rounds=rounds, seed=seed, first=start)
            columns.append(column)
            lower.append(base + bound)
            made = edge_edits(p, column)
            edits.append(replace(made, pair=made.pair + start))
        assignment = assignment_of(np.concatenate(columns), u=u, n=n, v=v, m=m)
        nodes = operation_costs(Pairs(self.cost, source=self.a, target=self.b, i=i, j=j), assignment)
        found = EdgeMatching(assignment, nodes, EdgeEdits.joined(edits, first.size), np.concatenate(lower))
        np.minimum(found.lower, found.distance.numpy(), out=found.lower)  # where only rounding says otherwise
        return found

    def _runs(self, i: np.ndarray, j: np.ndarray, *, alone: np.ndarray) -> list[tuple[int, int]]:
        """Cut pairs into runs whose node costs and tables of edge prices have at most ``CELLS`` entries each.

        A pair that is to be ``alone`` is a run of its own.
        """
        todo, done = [(0, i.size)] if i.size else [], []
        (_, n), (_, m) = nodes_of(self.a.ptr, i), nodes_of(self.b.ptr, j)
        many = len(self.source.ways) * len(self.target.ways) > CELLS
        while todo:
            start, stop = todo.pop()
            run = slice(start, stop)
            large = bool(alone[run].any()) or int(n[run].sum()) * int(m[run].max()) > CELLS
            if many and not large:
                one, other = self.source.of_graphs(i[run]), self.target.of_graphs(j[run])
                large = len(one.ways) * len(other.ways) > CELLS
            if large and stop - start > 1:
                middle = (start + stop) // 2
                todo += [(middle, stop), (start, middle)]
            else:
                done.append((start, stop))
        return done


def _sums(price: Tensor, ptr: Tensor) -> np.ndarray:
    """Sum prices of nodes over each graph."""
    return np.bincount(owners(to_array(ptr)), to_array(price), ptr.numel() - 1)


def edge_distance_matrix(priced: PricedGraphs, *, mirror: bool, progress: bool) -> Tensor:
    """Compute distances ``[A, B]`` that count nodes and edges, each an upper bound found by local search.

    Args:
        priced: The graphs.
        mirror: Source and target are the same graphs at symmetric costs: the cheaper of both directions counts for
            both, and a graph is at distance 0 from itself.
        progress: Show a progress bar if it takes more than a second.
    """
    rows, columns = len(priced.a), len(priced.b)
    out = torch.zeros(rows, columns, dtype=torch.double)
    with tqdm(total=rows, desc="distances", unit="graph", disable=not progress, delay=1.0) as bar:
        for row in range(rows):
            out[row] = priced.match(torch.full((columns,), row), torch.arange(columns)).distance
            bar.update()
    if mirror:
        out = torch.minimum(out, out.T)
        out.fill_diagonal_(0.0)
    return out.to(torch.get_default_dtype())
