"""Where a path is drawn: both ends in their own shape, one turned onto the other, and drawings in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epic.view.formula import end_molecule, same_rings, skeleton, wedges
from epic.view.layout import common_part, fit_onto, gaps, graph_layout, morph
from epic.view.names import Names

if TYPE_CHECKING:
    from epic.paths.edit_path import EditPath

ENOUGH = 3  # atoms that both ends must share, connected, to be drawn alike


@dataclass(frozen=True)
class Placement:
    """Where everything on a path is drawn.

    Source nodes have the first places, in their order, and a substituted pair shares one place.

    Args:
        of_target: Place of each target node.
        drawings: Coordinates ``[drawings, places, 2]``, evenly spread over the path, in lengths of an edge, y down.
        wedges: For source and target, the bonds of places that show stereo centres, see
            :func:`epic.view.formula.wedges`.
        room: The distance that most nodes have to the nearest other one, at the worse end.
    """

    of_target: np.ndarray
    drawings: np.ndarray
    wedges: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]
    room: float


def place(path: EditPath, names: Names) -> Placement:
    """Lay out a path.

    The source is drawn on its own: a molecule by RDKit, any other graph by stress majorisation. The target is drawn so
    that it stays close, and turned or mirrored onto the nodes that both share.
    """
    source, target = path.source, path.target
    partner = np.full(source.num_nodes, -1)
    for op in path.operations:
        if op.kind == "substitute":
            partner[op.source] = op.target
    matched = np.flatnonzero(partner >= 0)
    of_target = np.full(target.num_nodes, -1)
    of_target[partner[matched]] = matched
    new = of_target < 0
    of_target[new] = len(partner) + np.arange(new.sum())

    shared = common_part(source, target, partner)
    alike = len(shared) >= ENOUGH
    rows = shared if alike else matched
    mols = [end_molecule(graph, names.chemistry) for graph in (source, target)]
    if mols[0] is None or mols[1] is None:
        first = graph_layout(source)
        last = graph_layout(target, _near(first, partner, of_target) if len(matched) else None)
    else:
        first = skeleton(mols[0])
        pairs = dict(zip(shared.tolist(), partner[shared].tolist(), strict=True))
        fixed = alike and same_rings(mols[0], mols[1], pairs)
        last = skeleton(mols[1], {t: first[s] for s, t in pairs.items()} if fixed else None)
    last = fit_onto(last, first[rows], partner[rows])
    signs: list[list[tuple[int, int, int]]] = [[], []]
    for end, (mol, at, where) in enumerate(zip(mols, (first, last), (np.arange(len(partner)), of_target), strict=True)):
        if mol is not None:
            signs[end] = [(int(where[a]), int(where[b]), sign) for a, b, sign in wedges(mol, at)]
    places = len(partner) + int(new.sum())
    ends = np.full((2, places, 2), np.nan)
    ends[0, : len(partner)] = first
    ends[1, of_target] = last
    pictures = min(len(path) + 1, 13 if places < 150 else 9 if places < 400 else 6)
    return Placement(
        of_target, morph(ends[0], ends[1], max(2, pictures)), (signs[0], signs[1]), min(_room(first), _room(last))
    )


def _near(first: np.ndarray, partner: np.ndarray, of_target: np.ndarray) -> np.ndarray:
    """Return where target nodes would be in the drawing of the source; inserted ones start in its middle."""
    start = np.full((len(of_target), 2), first[partner >= 0].mean(0))
    known = of_target < len(partner)
    start[known] = first[of_target[known]]
    return start


def _room(at: np.ndarray) -> float:
    """Return the distance to the nearest other node: of all nodes, the quantile of one in sixteen."""
    if len(at) < 2:
        return 1.0
    return float(np.quantile((gaps(at) + 9 * np.eye(len(at))).min(1), 1 / 16))
