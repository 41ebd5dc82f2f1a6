"""One place for each node of a path, the same on every picture of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epic.path.edit_path import EditPath


def union_layout(path: EditPath, rounds: int = 300) -> tuple[dict[int, int], dict[int, int], np.ndarray]:
    """Places of source and target nodes in a drawing of both graphs laid over each other.

    A substituted pair shares one place. Returns the place of each source node, of each target node, and coordinates in
    [0, 1]. Springs (Fruchterman and Reingold 1991) from a circle, so that the same path always looks the same.
    """
    source, target = path.source, path.target
    place_s = {u: u for u in range(source.num_nodes)}
    place_t: dict[int, int] = {}
    free = source.num_nodes
    partner = {op.target: op.source for op in path.operations if op.kind == "substitute"}
    for v in range(target.num_nodes):
        match = partner.get(v)
        if match is None:
            place_t[v], free = free, free + 1
        else:
            place_t[v] = match
    near = np.zeros((free, free))
    for graph, place in ((source, place_s), (target, place_t)):
        for a, b in graph.edge_index.T.tolist():
            if a != b:
                near[place[a], place[b]] = near[place[b], place[a]] = 1.0
    return place_s, place_t, springs(near, rounds)


def springs(near: np.ndarray, rounds: int) -> np.ndarray:
    """Coordinates in the unit square for a symmetric 0/1 matrix of neighbours."""
    count = near.shape[0]
    angle = 2 * np.pi * np.arange(count) / max(1, count)
    at = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if count > 1:
        length = 1.6 / np.sqrt(count)
        for heat in np.linspace(0.2, 0.002, rounds):
            gap = at[:, None] - at[None]
            distance = np.sqrt((gap**2).sum(2)) + 1e-9
            push = length**2 / distance**2 - near * distance / length
            np.fill_diagonal(push, 0.0)
            # A weak pull to the middle keeps parts that no edge joins on the page.
            move = (gap / distance[:, :, None] * (push * 1.0)[:, :, None]).sum(1) - 0.3 * at
            size = np.sqrt((move**2).sum(1, keepdims=True)) + 1e-9
            at = at + move / size * np.minimum(size, heat)
    low, high = at.min(0, initial=np.inf), at.max(0, initial=-np.inf)
    return (at - low) / np.maximum(high - low, 1e-9) if count else at
