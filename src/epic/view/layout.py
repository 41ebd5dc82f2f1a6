"""One place for each node of a path, the same on every picture of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.csgraph import shortest_path

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from epic.paths.edit_path import EditPath

CLOSE = 0.7  # nodes nearer than this share of an edge's length are pushed apart


def union_layout(path: EditPath) -> tuple[np.ndarray, np.ndarray]:
    """Lay out source and target over each other.

    Source nodes have the first places, in their order, and a substituted pair shares one place. Two places lie as far
    apart as their nodes do in the graphs (on average, if they are in both), so that neither end of the path looks much
    worse than it would alone.

    Returns:
        The place of each target node, and the coordinates of all places in [0, 1].
    """
    source, target = path.source, path.target
    place_s, place_t = np.arange(source.num_nodes), np.full(target.num_nodes, -1)
    for op in path.operations:
        if op.kind == "substitute":
            place_t[op.target] = op.source
    new = place_t < 0
    place_t[new] = len(place_s) + np.arange(new.sum())
    total, seen, near = np.zeros((3, len(place_s) + new.sum(), len(place_s) + new.sum()))
    for graph, at in ((source, place_s), (target, place_t)):
        step = steps_between(graph)
        total[np.ix_(at, at)] += step
        seen[np.ix_(at, at)] += 1
        near[np.ix_(at, at)] = np.maximum(near[np.ix_(at, at)], step == 1)
    # A deleted and an inserted node never meet: as far apart as the union of both graphs says.
    apart = np.where(seen > 0, total / np.maximum(seen, 1), hops(near))
    return place_t, unit_square(stress(apart, 120))


def graph_layout(graph: Data) -> np.ndarray:
    """Return coordinates in [0, 1] of one graph."""
    return unit_square(stress(steps_between(graph), 200))


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

    Near pairs count most. The start is ``start``, or classical scaling. Nothing is random: the same graph always looks
    the same.
    """
    count = len(apart)
    turn = 2.399963 * np.arange(count)  # the golden angle: no two nodes start at the same place
    spiral = np.sqrt(np.arange(count) + 0.5)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    if count < 2:
        return spiral
    at = (_scaling(apart) if start is None else start * apart.max()) + 0.01 * spiral / np.sqrt(count)
    weight = 1 / np.maximum(apart, 0.5) ** 2
    np.fill_diagonal(weight, 0.0)
    solve = np.linalg.pinv(np.diag(weight.sum(1)) - weight)
    for _ in range(rounds):
        pull = weight * apart / np.maximum(_gaps(at), 1e-9)
        at = solve @ (np.diag(pull.sum(1)) - pull) @ at
    for _ in range(30):
        gap = _gaps(at) + np.eye(count) * 9
        push = np.maximum(CLOSE - gap, 0) / np.maximum(gap, 1e-9)
        if not push.any():
            break
        at = at + 0.4 * (push[:, :, None] * (at[:, None] - at[None])).sum(1)
    return at


def _gaps(at: np.ndarray) -> np.ndarray:
    return np.linalg.norm(at[:, None] - at[None], axis=2)


def _scaling(apart: np.ndarray) -> np.ndarray:
    """Return the first two coordinates of classical multidimensional scaling."""
    square = apart**2
    inner = -0.5 * (square - square.mean(0) - square.mean(1)[:, None] + square.mean())
    value, vector = np.linalg.eigh((inner + inner.T) / 2)
    return vector[:, -2:] * np.sqrt(np.maximum(value[-2:], 1e-9))


def unit_square(at: np.ndarray) -> np.ndarray:
    """Stretch coordinates to fill the unit square."""
    if not len(at):
        return at
    low, high = at.min(0), at.max(0)
    size = high - low
    # One node, or nodes on a line, stay in the middle.
    return np.where(size > 1e-9, (at - low) / np.maximum(size, 1e-9), 0.5)
