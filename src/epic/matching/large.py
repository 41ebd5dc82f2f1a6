"""Assignments of large pairs: a cheap one, found in parts, where the cheapest one would take too long.

The exact assignment takes the cube of the number of nodes, and its matrix the square. Here equal nodes are matched
first, which costs nothing. The others are cut into blocks of about :data:`BLOCK` nodes a side, and each block is solved
exactly, in several rounds:

- *near*: each block is a region. This settles the small scale.
- *deal*: nodes are sorted so that near ones come next to each other, and dealt to the blocks in turn: each is a small
  image of the whole pair. This settles what goes where on the large scale, and is what many alike nodes need.
- *spread*: a few neighbouring regions are dealt to as many blocks.

Nodes without a partner take part one by one, matched nodes as pairs. No round makes the assignment more expensive,
since each block could stay as it is. The result costs at least as much as the cheapest assignment;
``benchmarks/large.py`` measures how much more. Time is n log n, memory linear.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from epic.graphs.ragged import offsets
from epic.matching.reduced import ReducedCosts

LARGE = 1 << 19
"""Pairs of more entries (source nodes times target nodes) are assigned in parts: more than 724 nodes against 724."""
BLOCK = 64
AXES = 12
"""Random directions that regions are cut along."""
SPREAD = 4
"""Neighbouring regions that are dealt together."""
ROUNDS = (
    *(("near", "single"), ("deal", "single"), ("deal", "source"), ("near", "single")),
    *(("near", "source"), ("near", "target"), ("spread", "source"), ("near", "target")),
    *(("near", "source"), ("near", "target"), ("near", "source"), ("near", "target")),
)
"""How blocks are made, and who takes part: single nodes only, or pairs too, each where its source or its target is."""


def assign_large(
    reduced: ReducedCosts,
    *,
    u: int,
    n: int,
    v: int,
    m: int,
    rounds: int = len(ROUNDS),
    colours: Sequence[tuple[np.ndarray, np.ndarray]] = (),
) -> np.ndarray:
    """Find for each of ``n`` source nodes from ``u`` on one of ``m`` target nodes from ``v`` on that replaces it well.

    Args:
        reduced: the reduced costs of both sides.
        u, n, v, m: the nodes.
        rounds: how many of :data:`ROUNDS` to do.
        colours: numbers of the nodes of both sides. Of equal nodes, those that the first ones also give the same number
            are matched first, then those that the second ones do, and so on.

    Returns:
        For each source node the target node counted from ``v``; -1 where there is none. The order of the nodes does not
        matter, except that rounding may decide ties between alike nodes, and so change the cost a little.
    """
    rng = np.random.default_rng(0)  # a pair has the same answer whatever pairs it comes with
    place = reduced.places(slice(u, u + n), slice(v, v + m), axes=AXES, rng=rng)
    column, free = np.full(n, -1), np.ones(m, dtype=bool)
    for one, other in (*colours, (place[0][:, 0], place[1][:, 0])):
        left, right = np.flatnonzero(column < 0), np.flatnonzero(free)
        rows, columns = (t[np.argsort(key[t], kind="stable")] for t, key in ((left, one), (right, other)))
        a, b = _equal(reduced, u + rows, v + columns, one[rows], other[columns])
        column[rows[a]], free[columns[b]] = columns[b], False
    rows, columns = np.delete(rows, a), np.delete(columns, b)
    rest, match = reduced.take(u + rows, v + columns), np.full(rows.size, -1)
    one, other = np.split(_ranks(np.concatenate([place[0][rows], place[1][columns]])), [rows.size])
    for kind, who in ROUNDS[:rounds]:
        _improve(rest, match, one, other, kind, who, rng)
    found = match >= 0
    column[rows[found]] = columns[match[found]]
    return column


def _equal(
    reduced: ReducedCosts, rows: np.ndarray, columns: np.ndarray, one: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Match equal nodes, given a rising number for each that is the same for equal ones; return positions of both."""
    first, stop = (np.searchsorted(other, one, side) for side in ("left", "right"))
    to = first + np.arange(one.size) - np.searchsorted(one, one)
    at = np.flatnonzero(to < stop)
    at = at[reduced.same(rows[at], columns[to[at]])]
    return at, to[at]


def _improve(
    reduced: ReducedCosts,
    match: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    kind: str,
    who: str,
    rng: np.random.Generator,
) -> None:
    """Do one round: cut pairs and single nodes into blocks, solve each, and change ``match``."""
    kept, free = np.flatnonzero(match >= 0), np.ones(len(other), dtype=bool)
    free[match[kept]] = False
    gone, new = np.flatnonzero(match < 0), np.flatnonzero(free)
    if who == "single":
        kept = kept[:0]
    pairs, sources = kept.size, kept.size + gone.size
    if not (sources and pairs + new.size):
        return
    at = other.take(match[kept], 0) if who == "target" else one.take(kept, 0)
    rank = np.concatenate([at, one.take(gone, 0), other.take(new, 0)])
    order, block = _blocks(rank, BLOCK if pairs else 2 * BLOCK, kind, rng)
    is_source, is_target = order < sources, (order < pairs) | (order >= sources)
    source = np.concatenate([kept, gone])[order[is_source]]
    target = np.concatenate([match[kept], gone, new])[order[is_target]]  # gone holds the places of single sources
    n, m = (np.bincount(block[side], minlength=int(block[-1]) + 1) for side in (is_source, is_target))
    both = (n > 0) & (m > 0)
    source, target = source[both.repeat(n)], target[both.repeat(m)]
    n, m = n[both], m[both]
    left = offsets(m)[:-1]
    column = reduced.take(source, target).assign(u=offsets(n)[:-1], n=n, v=left, m=m)
    found = column >= 0
    match[source] = -1
    match[source[found]] = target[(column + left.repeat(n))[found]]


def _blocks(rank: np.ndarray, size: int, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Cut points, given by their ranks, into blocks of about ``size``.

    Returns:
        An order in which the members of a block come one after the other, and the block of each member in this order.
    """
    count = -(-len(rank) // size)
    order = _neighbours_together(rank, count, rng)
    together = {"near": 1, "deal": count, "spread": min(SPREAD, count)}[kind]
    number = np.arange(len(rank))
    block = number * (count // together) // len(rank) * together + number % together
    again = _sorted(block.astype(np.uint32))
    return order[again], block[again]


def _neighbours_together(rank: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return an order of points, given by their ranks, in which each of ``count`` runs of the same length is a region.

    All are cut into slabs along one axis, each slab along another one, and so on.
    """
    size, order, slabs = len(rank), np.arange(len(rank)), 1
    levels = 1 if count <= 3 else 2 if count <= 25 else 3
    fan = max(2, round(count ** (1 / levels)))
    for axis in rng.permutation(rank.shape[1])[:levels]:
        slab = (np.arange(size) * slabs // size).astype(np.uint32)
        order = order[_sorted(slab << 16 | rank[order, axis])]
        slabs *= fan
    return order


def _ranks(place: np.ndarray) -> np.ndarray:
    """Return the rank of every point along every axis, in 16 bits: regions need no more, and it sorts fast."""
    size, axes = place.shape
    bits = (np.asarray(place.T, dtype=np.float32, order="C") + 0.0).view(np.uint32)  # -0 and 0 are the same place
    rising = np.where(bits >> 31, ~bits, bits | 1 << 31)  # these integers rise as their floats do
    rank = np.empty((size, axes), dtype=np.uint32)
    for axis in range(axes):
        rank[_sorted(rising[axis]), axis] = np.arange(size)
    return rank if size <= 1 << 16 else (rank * ((1 << 16) / size)).astype(np.uint32)


def _sorted(number: np.ndarray) -> np.ndarray:
    """Return the stable order of numbers of 32 bits, half after half: numpy sorts 16 bits in linear time."""
    order = np.argsort(number.astype(np.uint16), kind="stable")
    return order[np.argsort((number >> 16).astype(np.uint16)[order], kind="stable")]


def most_saved(reduced: ReducedCosts, *, n: int, m: int) -> float:
    """Return a bound of what any assignment of one pair saves next to deleting and inserting all its nodes.

    Every node takes its best partner, conflicts ignored: counted once by rows and once by columns. Memory is that of a
    few rows.
    """
    row, column = 0.0, np.zeros(m)
    step = max(1, LARGE // max(m, 1))
    for top in range(0, n, step):
        part = reduced(slice(top, min(top + step, n)), slice(0, m))
        row -= float(np.minimum(part.min(1, initial=0.0), 0.0).sum(dtype=np.float64))
        np.minimum(column, part.min(0, initial=0.0), out=column)
    return min(row, -float(column.sum()))
