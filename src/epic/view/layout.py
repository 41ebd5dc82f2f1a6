"""Where nodes are drawn: one graph alone, and a path on which both ends keep their own shape.

Coordinates are in lengths of an edge, and y points down as on a page. Nothing is random: the same graphs always look
the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components, shortest_path

if TYPE_CHECKING:
    from torch_geometric.data import Data

CLOSE = 0.7  # nodes nearer than this share of an edge's length are pushed apart
SWEEPS = 12  # rounds over the drawings between both ends


def graph_layout(graph: Data, start: np.ndarray | None = None) -> np.ndarray:
    """Return coordinates of one graph, its longer side across the page.

    Args:
        graph: The graph.
        start: A drawing to stay close to; its direction is kept. It is ignored if it makes the drawing worse.
    """
    apart = steps_between(graph)
    rounds = 200 if len(apart) < 200 else 80
    own = stress(apart, rounds)
    if start is not None and len(apart) > 1:
        near = stress(apart, rounds, start)
        if _badness(near, apart) <= 1.05 * _badness(own, apart):
            return near
    if len(own) < 2:
        return own
    middle = own - own.mean(0)
    return middle @ np.linalg.svd(middle, full_matrices=False)[2].T


def steps_between(graph: Data) -> np.ndarray:
    """Return the number of edges on a shortest path between all nodes, edges taken both ways."""
    near = np.zeros((graph.num_nodes, graph.num_nodes))
    a, b = graph.edge_index.cpu().numpy()
    near[a, b] = near[b, a] = 1.0
    return hops(near)


def hops(near: np.ndarray) -> np.ndarray:
    """Return shortest paths for a symmetric 0/1 matrix of neighbours; unconnected parts get a finite distance."""
    if not near.size:
        return near
    steps = shortest_path(near * (1 - np.eye(len(near))), unweighted=True, directed=False)
    known = steps[np.isfinite(steps)]
    return np.where(np.isfinite(steps), steps, np.sqrt(len(near)) / 4 + known.max() / 3 + 1)


def stress(apart: np.ndarray, rounds: int, start: np.ndarray | None = None) -> np.ndarray:
    """Return coordinates with distances close to ``apart``, by stress majorisation (Gansner, Koren and North 2004).

    Near pairs count most. The start is ``start``, or classical scaling.
    """
    count = len(apart)
    turn = 2.399963 * np.arange(count)  # the golden angle: no two nodes start at the same place
    spiral = np.sqrt(np.arange(count) + 0.5)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    if count < 2:
        return spiral
    at = (_scaling(apart) if start is None else start) + 0.01 * spiral / np.sqrt(count)
    weight = _weights(apart)
    solve = np.linalg.inv(_laplacian(weight) + 1 / count)
    for _ in range(rounds):
        at = solve @ _pull(weight, apart, at)
    return _spread(at)


def _spread(at: np.ndarray) -> np.ndarray:
    """Push nodes apart that lie too close."""
    for _ in range(30):
        gap = gaps(at) + np.eye(len(at)) * 9
        push = np.maximum(CLOSE - gap, 0) / np.maximum(gap, 1e-9)
        if not push.any():
            break
        at = at + 0.4 * (push.sum(1)[:, None] * at - push @ at)
    return at


def fit_onto(at: np.ndarray, other: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Turn, mirror and shift a drawing so that some of its rows come as near as possible to ``other``.

    This is the orthogonal Procrustes problem (Schönemann 1966); the size is kept.

    Args:
        at: The drawing ``[nodes, 2]``.
        other: Where its rows should be ``[len(rows), 2]``.
        rows: Which rows.
    """
    if not len(rows):
        return at
    here, there = at[rows].mean(0), other.mean(0)
    u, _, v = np.linalg.svd((at[rows] - here).T @ (other - there))
    return (at - here) @ u @ v + there


def common_part(source: Data, target: Data, partner: np.ndarray) -> np.ndarray:
    """Return the source nodes of the largest connected part that both graphs share under a matching.

    Args:
        source: The source.
        target: The target.
        partner: Target node of each source node, -1 for none.
    """
    ends = partner[source.edge_index.cpu().numpy()]
    there = set(map(tuple, target.edge_index.T.tolist()))
    kept = np.array([(a, b) in there or (b, a) in there for a, b in ends.T.tolist()], dtype=bool)
    a, b = source.edge_index.cpu().numpy()[:, kept]
    nodes = len(partner)
    part = connected_components(coo_matrix((np.ones(len(a)), (a, b)), shape=(nodes, nodes)), directed=False)[1]
    part = np.where(partner >= 0, part, -1)
    sizes = np.bincount(part[part >= 0], minlength=1)
    return np.flatnonzero(part == sizes.argmax()) if sizes.max() > 0 else np.zeros(0, dtype=int)


def morph(first: np.ndarray, last: np.ndarray, pictures: int) -> np.ndarray:
    """Return drawings on the way from one to another, evenly spread.

    Distances are interpolated, not coordinates: what both ends share keeps its shape and nothing collapses in the
    middle. The drawings minimise the stress of these distances and the way that nodes go from each to the next; both
    ends are exactly as given.

    Args:
        first: Coordinates ``[places, 2]``; NaN for places that are not there. Every place is in one of both.
        last: The same for the end.
        pictures: How many, at least 2.

    Returns:
        ``[pictures, places, 2]``. Places that an end lacks move along with their neighbours.
    """
    in_first, in_last = ~np.isnan(first[:, 0]), ~np.isnan(last[:, 0])
    first, last = _carried(first, last, in_first & in_last), _carried(last, first, in_first & in_last)
    share = np.linspace(0, 1, pictures)[:, None, None]
    made = (1 - share) * first + share * last
    if len(first) < 2:
        return made
    both = [np.logical_and.outer(there, there) for there in (in_first, in_last)]
    ends = [gaps(first), gaps(last)]
    solved = []
    for t in share[1:-1, 0, 0]:
        mixed = (1 - t) * ends[0] + t * ends[1]
        # Pairs of one end count less, the further away it is; those of neither only keep their distance.
        apart = np.where(both[0] & ~both[1], ends[0], np.where(both[1] & ~both[0], ends[1], np.maximum(mixed, CLOSE)))
        count = np.where(both[0] & both[1], 1, np.where(both[0], 1 - t, np.where(both[1], t, t * (1 - t))))
        weight = _weights(apart) * count
        calm = 0.012 * pictures * weight.sum() / len(weight)
        solve = np.linalg.inv(_laplacian(weight) + 2 * calm * np.eye(len(weight)))
        solved.append((weight, apart, calm, solve))
    for sweep in range(SWEEPS):
        order = range(1, pictures - 1) if sweep % 2 == 0 else range(pictures - 2, 0, -1)
        for k in order:
            weight, apart, calm, solve = solved[k - 1]
            made[k] = solve @ (_pull(weight, apart, made[k]) + calm * (made[k - 1] + made[k + 1]))
    made[1:-1] = [_spread(at) for at in made[1:-1]]
    return made


def _carried(at: np.ndarray, other: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Fill in places that ``at`` lacks: where ``other`` has them, moved as their matched neighbours are."""
    gone = np.isnan(at[:, 0])
    if not gone.any():
        return at
    at = at.copy()
    if not both.any():
        at[gone] = other[gone]
        return at
    far = np.linalg.norm(other[gone][:, None] - other[both][None], axis=2)
    near = 1 / np.maximum(far, 0.3) ** 4
    at[gone] = other[gone] + near @ (at[both] - other[both]) / near.sum(1, keepdims=True)
    return at


def gaps(at: np.ndarray) -> np.ndarray:
    """Return the distances between all points."""
    return np.hypot(*(at[:, None, axis] - at[None, :, axis] for axis in (0, 1)))


def _weights(apart: np.ndarray) -> np.ndarray:
    weight = 1 / np.maximum(apart, 0.5) ** 2
    np.fill_diagonal(weight, 0.0)
    return weight


def _laplacian(weight: np.ndarray) -> np.ndarray:
    return np.diag(weight.sum(1)) - weight


def _pull(weight: np.ndarray, apart: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the right-hand side of a round of stress majorisation."""
    pull = weight * apart / np.maximum(gaps(at), 1e-9)
    return pull.sum(1)[:, None] * at - pull @ at


def _badness(at: np.ndarray, apart: np.ndarray) -> float:
    return float((_weights(apart) * (gaps(at) - apart) ** 2).sum())


def _scaling(apart: np.ndarray) -> np.ndarray:
    """Return the first two coordinates of classical multidimensional scaling."""
    square = apart**2
    inner = -0.5 * (square - square.mean(0) - square.mean(1)[:, None] + square.mean())
    value, vector = np.linalg.eigh((inner + inner.T) / 2)
    return vector[:, -2:] * np.sqrt(np.maximum(value[-2:], 1e-9))
