"""Edit distances of listed pairs of graphs: embed, assign, and price the operations.

Every price comes from the two statements of a cost, ``embed`` and ``substitution``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from epic._threads import few_threads
from epic.graphs.checks import check_same_features
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs
from epic.graphs.ragged import buckets, offsets, padded_index, padded_mask, ranges, to_array
from epic.matching.large import LARGE, ROUNDS, assign_large
from epic.matching.reduced import EuclideanReducedCosts, ReducedCosts
from epic.matching.sinkhorn import sinkhorn
from epic.matching.types import Assignment, NodeCosts, OperationCosts, PairCosts, Pricing

CHUNK = 512
"""Graphs embedded at a time."""
CELLS = 1 << 21
"""Entries of one block of node-to-node costs (16 MB in float64)."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of graphs and what edits cost: pair p turns graph ``i[p]`` of ``source`` into graph ``j[p]`` of ``target``.

    Args:
        cost: what edits cost.
        source: node costs of the source graphs.
        target: node costs of the target graphs.
        i: source graph of each pair.
        j: target graph of each pair.
    """

    cost: Pricing
    _: KW_ONLY
    source: NodeCosts
    target: NodeCosts
    i: Tensor
    j: Tensor


@torch.no_grad()
def embed_all(cost: Pricing, graphs: Graphs) -> NodeCosts:
    """Embed any number of graphs in chunks, in float64 on the CPU.

    Args:
        cost: what edits cost.
        graphs: graphs of any kind that :func:`epic.pack` takes.

    Returns:
        The node costs of all graphs.
    """
    packed = pack(graphs)
    with few_threads():
        parts = [cost.embed(packed[at : at + CHUNK]).double().to("cpu") for at in range(0, len(packed), CHUNK)]
    h, d, i = (torch.cat([getattr(p, name) for p in parts]) for name in ("embedding", "deletion", "insertion"))
    return NodeCosts(h, d, i, packed.ptr.cpu()).check_finite()


def embed_both(cost: Pricing, source: Graphs, target: Graphs | None) -> tuple[NodeCosts, NodeCosts]:
    """Embed two lists of graphs whose features can be compared; without a target, the source twice."""
    one = pack(source)
    if target is None:
        nodes = embed_all(cost, one)
        return nodes, nodes
    other = pack(target)
    check_same_features(one, other)
    return embed_all(cost, one), embed_all(cost, other)


def reduced_costs(cost: Pricing, *, source: NodeCosts, target: NodeCosts) -> ReducedCosts:
    """Return what substituting nodes of ``source`` by nodes of ``target`` costs more than deleting and inserting them.

    Only ``metric = "euclidean"`` with float embeddings permits the fast form.
    """
    if cost.metric == "euclidean" and source.embedding.is_floating_point():
        return EuclideanReducedCosts(source, target)
    deletion, insertion = to_array(source.check_finite().deletion), to_array(target.check_finite().insertion)
    one, other = (side.embedding.detach().cpu() for side in (source, target))

    def block(u: Any, v: Any) -> np.ndarray:
        return cost.substitution(one[u], other[v]).numpy() - deletion[u][:, None] - insertion[v]

    return ReducedCosts(block, kinds=None if cost.metric is None else (one.numpy(), other.numpy()))


def large_pairs(cost: Pricing, n: Any, m: Any) -> Any:
    """Return whether pairs of so many source and target nodes are matched in parts, unless it must be exact.

    It takes a cost of known metric: nodes that are near each other must cost alike.
    """
    return (n * m > LARGE) & (cost.metric is not None)


@torch.no_grad()
def assign_pairs(pairs: Pairs, *, exact: bool = False, rounds: int = len(ROUNDS)) -> Assignment:
    """Solve the assignment with edition (paper, eq. 3) of listed pairs.

    Which source node becomes which target node, which are deleted and which inserted, so that the sum of prices is
    least. It is solved in the precision in which the node costs are given: in float32, as in learning and augmentation,
    an assignment may be chosen that costs more than the best one by rounding only.

    Args:
        pairs: the pairs.
        exact: find the cheapest assignment of every pair. Otherwise that of a large pair (see :func:`large_pairs`) is a
            cheap one, found in far less time and memory; a warning says so once.
        rounds: how hard to try with large pairs; see :data:`epic.matching.large.ROUNDS`.

    Returns:
        The assignments of all pairs.
    """
    (u, n), (v, m) = nodes_of(pairs.source.ptr, pairs.i), nodes_of(pairs.target.ptr, pairs.j)
    reduced = reduced_costs(pairs.cost, source=pairs.source, target=pairs.target)
    large = large_pairs(pairs.cost, n, m) & (not exact)
    column, top, small = np.empty(int(n.sum()), dtype=np.int64), offsets(n), np.flatnonzero(~large)
    for run in _runs(n[small], m[small]):
        at = small[run]
        column[ranges(top[at], n[at])] = reduced.assign(u=u[at], n=n[at], v=v[at], m=m[at], first=run.start)
    for p in np.flatnonzero(large):
        _tell_of_large_pairs()
        column[top[p] : top[p + 1]] = assign_large(
            reduced, u=int(u[p]), n=int(n[p]), v=int(v[p]), m=int(m[p]), rounds=rounds
        )
    return assignment_of(column, u=u, n=n, v=v, m=m)


def nodes_of(ptr: Tensor, graphs: Tensor | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first node of graphs and how many they have."""
    at, graphs = (to_array(torch.as_tensor(t)).astype(np.int64, copy=False) for t in (ptr, graphs))
    return at[graphs], at[graphs + 1] - at[graphs]


@cache
def _tell_of_large_pairs() -> None:
    """Say once that an assignment is not the cheapest."""
    side = math.isqrt(LARGE)
    warnings.warn(
        f"nodes of large graphs (more than about {side} x {side}) are matched in parts: costs are upper bounds, "
        "mostly within 5% of the least. exact=True of distances and paths gives the least (shown once)",
        stacklevel=4,
    )


def assignment_of(column: np.ndarray, *, u: np.ndarray, n: np.ndarray, v: np.ndarray, m: np.ndarray) -> Assignment:
    """Build assignments from the target node that replaces each source node, counted within its pair; -1 where none.

    Pair p has ``n[p]`` source nodes from ``u[p]`` on and ``m[p]`` target nodes from ``v[p]`` on.
    """
    source_ptr, target_ptr = offsets(n), offsets(m)
    kept = (column >= 0).nonzero()[0]
    partner, origin = column.copy(), np.full(target_ptr[-1], -1)
    partner[kept] += target_ptr[:-1].repeat(n)[kept]
    origin[partner[kept]] = kept
    return Assignment(ranges(u, n), ranges(v, m), source_ptr, target_ptr, partner, origin)


def operation_costs(pairs: Pairs, assignment: Assignment) -> OperationCosts:
    """Price the operations of assignments node by node; differentiable.

    This is a second look at ``cost.substitution``, for the substitutions that were chosen: they are priced one to one
    and not taken from a matrix, whose inner products lose the last digits where two nodes are nearly equal. Equal
    graphs are at distance zero.

    Args:
        pairs: the pairs.
        assignment: which node becomes which.

    Returns:
        The price of every operation.
    """
    source, target = pairs.source, pairs.target
    device = source.deletion.device
    kept = (assignment.partner >= 0).nonzero()[0]
    chosen = kept, assignment.source[kept], assignment.target[assignment.partner[kept]]
    every = assignment.source, assignment.target, assignment.origin < 0
    at, u, v, all_u, all_v, new = (torch.from_numpy(t).to(device) for t in (*chosen, *every))
    matched = source.embedding.index_select(0, u)[:, None], target.embedding.index_select(0, v)[:, None]
    substituted = pairs.cost.substitution(*matched)[:, 0, 0].to(source.deletion.dtype)
    return OperationCosts(
        source.deletion.index_select(0, all_u).index_copy(0, at, substituted),
        target.insertion.index_select(0, all_v) * new,
        assignment.source_ptr,
        assignment.target_ptr,
    )


def node_edits(pairs: Pairs, *, exact: bool = False, rounds: int = len(ROUNDS)) -> tuple[Assignment, OperationCosts]:
    """Return the cheapest edits of each pair: which node becomes which, and what every operation costs.

    Those of large pairs are cheap ones unless ``exact``; see :func:`assign_pairs`.
    """
    assignment = assign_pairs(pairs, exact=exact, rounds=rounds)
    return assignment, operation_costs(pairs, assignment)


def node_distances(pairs: Pairs, *, exact: bool = False) -> Tensor:
    """Compute edit distances ``[P]`` of listed pairs.

    Args:
        pairs: the pairs.
        exact: those of large pairs are exact too, and not upper bounds; see :func:`assign_pairs`.

    Returns:
        The distances. Gradients hold the assignment fixed, which is exact where it is unique.
    """
    return node_edits(pairs, exact=exact)[1].distance


def soft_distances(pairs: Pairs, *, delta: float = 0.1, iterations: int = 10) -> Tensor:
    """Compute Sinkhorn distances of listed pairs (paper, eq. 5); differentiable.

    Matrices of large pairs are computed again for the gradient instead of kept: those of one pair are there at a time.

    Args:
        pairs: the pairs.
        delta: blur, as a share of each pair's mean substitution cost.
        iterations: number of Sinkhorn iterations.

    Returns:
        Distances ``[P]``.
    """

    def solve(some: Pairs) -> Tensor:
        block = padded_costs(some)
        return sinkhorn(
            block.substitution,
            block.deletion,
            block.insertion,
            delta=delta * mean_substitution(block),
            iterations=iterations,
            rows=block.rows,
            columns=block.columns,
        ).distance

    found, order = [], []
    rows, columns = pairs.source.ptr.diff()[pairs.i], pairs.target.ptr.diff()[pairs.j]
    for group in buckets(rows, columns):
        some = replace(pairs, i=pairs.i[group], j=pairs.j[group])
        if int((rows[group] * columns[group]).max()) > LARGE:
            found.append(checkpoint(solve, some, use_reentrant=False, preserve_rng_state=False))
        else:
            found.append(solve(some))
        order.append(group)
    at = torch.cat(order).to(pairs.source.ptr.device)
    return torch.cat(found).new_zeros(at.numel()).index_copy(0, at, torch.cat(found))


@torch.no_grad()
def mean_substitution(block: PairCosts) -> Tensor:
    """Return each pair's mean substitution cost, 1 where it is 0: the unit of the blur of Sinkhorn."""
    _, n, m = block.substitution.shape
    real = padded_mask(block.rows, n)[:, :, None] & padded_mask(block.columns, m)[:, None, :]
    area = (block.rows * block.columns).clamp_min(1).to(block.substitution)
    mean = (block.substitution * real).sum((1, 2)) / area
    return torch.where(mean > 0, mean, 1.0)


def padded_blocks(pairs: Pairs) -> Iterator[PairCosts]:
    """Yield the costs of any number of pairs, in padded groups of similar size."""
    for group in buckets(pairs.source.ptr.diff()[pairs.i], pairs.target.ptr.diff()[pairs.j]):
        yield replace(padded_costs(replace(pairs, i=pairs.i[group], j=pairs.j[group])), pair=group)


def padded_costs(pairs: Pairs) -> PairCosts:
    """Return the costs of all pairs, padded together; differentiable."""
    source, target = pairs.source, pairs.target
    rows, columns = source.ptr.diff()[pairs.i], target.ptr.diff()[pairs.j]
    u, real_row = padded_index(source.ptr[pairs.i], rows)
    v, real_column = padded_index(target.ptr[pairs.j], columns)

    def take(value: Tensor, index: Tensor) -> Tensor:
        return value.index_select(0, index.flatten()).view(*index.shape, *value.shape[1:])

    return PairCosts(
        pairs.cost.substitution(take(source.embedding, u), take(target.embedding, v)),
        take(source.deletion, u) * real_row,
        take(target.insertion, v) * real_column,
        rows,
        columns,
        u,
        v,
        torch.arange(pairs.i.numel()),
    )


def _runs(rows: np.ndarray, columns: np.ndarray) -> Iterator[slice]:
    """Yield runs of pairs whose matrices, one below the other, have at most ``CELLS`` entries; one pair at least."""
    start = 0
    while start < rows.size:
        near = slice(start, start + CELLS // 32)  # looking at all that follow would be quadratic
        area = rows[near].cumsum() * np.maximum.accumulate(columns[near])
        stop = start + max(1, int(np.searchsorted(area, CELLS, side="right")))
        yield slice(start, stop)
        start = stop
