"""Edit distances of listed pairs of graphs: embed, assign, and price the operations.

Every price comes from the two statements of a cost, ``embed`` and ``substitution``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from epic.graphs.convert import check_same_features, pack
from epic.graphs.packed import Graphs
from epic.graphs.padding import AREA, buckets, padded_index
from epic.graphs.ragged import offsets
from epic.matching.euclidean import EuclideanReducedCosts
from epic.matching.reduced import ReducedCosts
from epic.matching.sinkhorn import sinkhorn
from epic.matching.types import Assignment, NodeCosts, OperationCosts, PairCosts, Pricing

CHUNK = 512
"""Graphs embedded at a time."""
CELLS = 1 << 21
"""Entries of one block of node-to-node costs (16 MB in float64)."""


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
    parts = []
    for first in range(0, len(packed), CHUNK):
        embedded = cost.embed(packed[first : first + CHUNK]).double()
        parts.append([t.cpu() for t in (embedded.embedding, embedded.deletion, embedded.insertion)])
    h, d, i = (torch.cat(column) for column in zip(*parts, strict=True))
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


def reduced_costs(cost: Pricing, a: NodeCosts, b: NodeCosts) -> ReducedCosts:
    """Return what substituting nodes of ``a`` by nodes of ``b`` costs more than deleting and inserting them.

    Args:
        cost: what edits cost. Only ``metric = "euclidean"`` with float embeddings permits the fast form.
        a: node costs of the source graphs, on the CPU without gradients.
        b: node costs of the target graphs.

    Returns:
        Reduced costs as a function of two slices of nodes.
    """
    if cost.metric == "euclidean" and a.embedding.is_floating_point():
        return EuclideanReducedCosts(a, b)
    deletion, insertion = a.check_finite().deletion.numpy(), b.check_finite().insertion.numpy()

    def block(u: slice, v: slice) -> np.ndarray:
        return cost.substitution(a.embedding[u], b.embedding[v]).numpy() - deletion[u, None] - insertion[v]

    return ReducedCosts(block)


@torch.no_grad()
def assign_pairs(cost: Pricing, a: NodeCosts, b: NodeCosts, i: Tensor, j: Tensor) -> Assignment:
    """Solve the assignment with edition (paper, eq. 3) of listed pairs exactly.

    It is solved in the precision in which the node costs are given. In float32, as in learning and augmentation, an
    assignment may be chosen that costs more than the best one by rounding only.

    Args:
        cost: what edits cost.
        a: node costs of the source graphs.
        b: node costs of the target graphs.
        i: source graph of each pair.
        j: target graph of each pair.

    Returns:
        Which node becomes which, for all pairs.
    """
    ptr_a, ptr_b, first, second = (t.cpu().numpy().astype(np.int64, copy=False) for t in (a.ptr, b.ptr, i, j))
    u, n = ptr_a[first], ptr_a[first + 1] - ptr_a[first]
    v, m = ptr_b[second], ptr_b[second + 1] - ptr_b[second]
    source = a.detach().to("cpu")
    reduced = reduced_costs(cost, source, source if b is a else b.detach().to("cpu"))
    parts = [np.empty(0, dtype=np.int64)]
    for start, stop in _runs(n, m):
        run = slice(start, stop)
        parts.append(reduced.assign(u[run], n[run], v[run], m[run], first=start))
    return Assignment.of(np.concatenate(parts), u, offsets(n), v, offsets(m))


def operation_costs(cost: Pricing, a: NodeCosts, b: NodeCosts, assignment: Assignment) -> OperationCosts:
    """Price the operations of assignments node by node; differentiable.

    Substitutions are priced one to one and not taken from a matrix, whose inner products lose the last digits where two
    nodes are nearly equal: equal graphs are at distance zero.

    Args:
        cost: what edits cost.
        a: node costs of the source graphs.
        b: node costs of the target graphs.
        assignment: which node becomes which.

    Returns:
        The price of every operation.
    """
    device = a.deletion.device
    kept = (assignment.partner >= 0).nonzero()[0]
    at, u, v, source, target, new = (
        torch.from_numpy(t).to(device)
        for t in (
            kept,
            assignment.source[kept],
            assignment.target[assignment.partner[kept]],
            assignment.source,
            assignment.target,
            assignment.origin < 0,
        )
    )
    pairs = a.embedding.index_select(0, u)[:, None], b.embedding.index_select(0, v)[:, None]
    substituted = cost.substitution(*pairs)[:, 0, 0].to(a.deletion.dtype)
    return OperationCosts(
        a.deletion.index_select(0, source).index_copy(0, at, substituted),
        b.insertion.index_select(0, target) * new,
        assignment.source_ptr,
        assignment.target_ptr,
    )


def exact_distances(cost: Pricing, a: NodeCosts, b: NodeCosts, i: Tensor, j: Tensor) -> Tensor:
    """Compute exact edit distances of listed pairs.

    Args:
        cost: what edits cost.
        a: node costs of the source graphs.
        b: node costs of the target graphs.
        i: source graph of each pair.
        j: target graph of each pair.

    Returns:
        Distances ``[P]``. Gradients hold the assignment fixed, which is exact where it is unique.
    """
    return operation_costs(cost, a, b, assign_pairs(cost, a, b, i, j)).distance


def soft_distances(
    cost: Pricing,
    a: NodeCosts,
    b: NodeCosts,
    i: Tensor,
    j: Tensor,
    *,
    delta: float = 0.1,
    iterations: int = 10,
) -> Tensor:
    """Compute Sinkhorn distances of listed pairs (paper, eq. 5); differentiable.

    Args:
        cost: what edits cost.
        a: node costs of the source graphs.
        b: node costs of the target graphs.
        i: source graph of each pair.
        j: target graph of each pair.
        delta: blur, as a share of each pair's mean substitution cost.
        iterations: number of Sinkhorn iterations.

    Returns:
        Distances ``[P]``.
    """
    found, order = [], []
    for block in padded_blocks(cost, a, b, i, j):
        solved = sinkhorn(
            block.substitution,
            block.deletion,
            block.insertion,
            delta=delta * mean_substitution(block),
            iterations=iterations,
            rows=block.rows,
            columns=block.columns,
        )
        found.append(solved.distance)
        order.append(block.pair)
    at = torch.cat(order).to(a.ptr.device)
    return torch.cat(found).new_zeros(i.numel()).index_copy(0, at, torch.cat(found))


@torch.no_grad()
def mean_substitution(block: PairCosts) -> Tensor:
    """Return each pair's mean substitution cost, 1 where it is 0: the unit of the blur of Sinkhorn."""
    device = block.substitution.device
    row = torch.arange(block.substitution.shape[1], device=device) < block.rows[:, None]
    column = torch.arange(block.substitution.shape[2], device=device) < block.columns[:, None]
    area = (block.rows * block.columns).clamp_min(1).to(block.substitution)
    mean = (block.substitution * (row[:, :, None] & column[:, None, :])).sum((1, 2)) / area
    return torch.where(mean > 0, mean, 1.0)


def padded_blocks(
    cost: Pricing, a: NodeCosts, b: NodeCosts, i: Tensor, j: Tensor, *, area: int = AREA
) -> Iterator[PairCosts]:
    """Yield the costs of any number of pairs, in padded groups of similar size of at most ``area`` entries."""
    for group in buckets(a.ptr.diff()[i], b.ptr.diff()[j], area):
        yield padded_costs(cost, a, b, i[group], j[group], pair=group)


def padded_costs(
    cost: Pricing, a: NodeCosts, b: NodeCosts, i: Tensor, j: Tensor, *, pair: Tensor | None = None
) -> PairCosts:
    """Return the costs between graphs ``i[p]`` of ``a`` and ``j[p]`` of ``b``, padded together.

    Args:
        cost: what edits cost.
        a: node costs of the source graphs.
        b: node costs of the target graphs.
        i: source graph of each pair.
        j: target graph of each pair.
        pair: a number for each pair (default: 0, 1, ...).

    Returns:
        The padded costs; differentiable.
    """
    rows, columns = a.ptr.diff()[i], b.ptr.diff()[j]
    source, real_row = padded_index(a.ptr[i], rows)
    target, real_column = padded_index(b.ptr[j], columns)

    def take(value: Tensor, index: Tensor) -> Tensor:
        return value.index_select(0, index.flatten()).view(*index.shape, *value.shape[1:])

    return PairCosts(
        cost.substitution(take(a.embedding, source), take(b.embedding, target)),
        take(a.deletion, source) * real_row,
        take(b.insertion, target) * real_column,
        rows,
        columns,
        source,
        target,
        torch.arange(i.numel()) if pair is None else pair,
    )


def _runs(rows: np.ndarray, columns: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield runs of pairs whose matrices, one below the other, have at most ``CELLS`` entries; one pair at least."""
    start = 0
    while start < rows.size:
        near = slice(start, start + CELLS // 32)  # to look at all that follow in every run would take its square
        area = rows[near].cumsum() * np.maximum.accumulate(columns[near])
        stop = start + max(1, int(np.searchsorted(area, CELLS, side="right")))
        yield start, stop
        start = stop
