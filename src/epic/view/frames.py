"""A path as plain data: what is drawn, where, and from which step to which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.data import Data

from epic.labels import infer_task
from epic.view.layout import steps_between, stress, union_layout, unit_square
from epic.view.molecule import bond_orders, coordinates, fault, molecule_of
from epic.view.names import Names, Tag, tags

if TYPE_CHECKING:
    from epic.paths.edit_path import EditPath, Operation

KINDS = ("substitute", "delete", "insert")
GRID = 1000  # coordinates are integers from 0 to this


def frames(path: EditPath, names: Names) -> dict[str, Any]:
    """Return everything a page needs to draw any step of a path, ready for JSON.

    Nodes are ``[place, tag, fate, number, born, dies]``. Edges are ``[place, place, ways, ways back, bond, fate, born,
    dies]``. Both are drawn at steps ``born <= k < dies``. All of it is read from the graphs ``path[k]``, so that what
    is drawn is what the path holds.
    """
    place_t, at = union_layout(path)
    place = place_t.tolist()
    doomed = {op.source for op in path.operations if op.kind == "delete"}
    table: dict[Tag, int] = {}
    nodes: list[dict[tuple, None]] = []
    edges: list[dict[tuple, None]] = []
    faults: list[str | None] = []
    for graph in path:
        both = list(zip(graph.source_node.tolist(), graph.target_node.tolist(), strict=True))
        places = [place[t] if t >= 0 else s for s, t in both]
        worn = [-1 if t is None else table.setdefault(t, len(table)) for t in tags(graph, names)]
        fates = [_fate(s, t, doomed) for s, t in both]
        number = [t if t >= 0 else s for s, t in both]
        nodes.append(dict.fromkeys(zip(places, worn, fates, number, strict=True)))
        edges.append(dict.fromkeys(_lines(graph, places, names)))
        faults.append(_fault(graph, names))
    first, last = ({line[:2] for line in step} for step in (edges[0], edges[-1]))
    lines = [(*e[:5], 0 if e[:2] in first & last else 1 if e[:2] in first else 2, *e[5:]) for e in _runs(edges)]
    reasons = list(dict.fromkeys(f for f in faults if f is not None))
    return {
        "steps": len(path),
        "at": (at * GRID).round().astype(int).tolist(),
        "ends": [_end(path.source, names, at[: path.source.num_nodes]), _end(path.target, names, at[place_t])],
        "molecule": molecule_of(path.source, names.chemistry) is not None,
        "directed": any(line[2] != line[3] for line in lines if line[0] != line[1]),
        "nodes": _runs(nodes),
        "edges": lines,
        "tags": [[t.text, t.fill, t.name] for t in table],
        "operations": [_operation(op, place) for op in path.operations],
        "spent": [_short(path.fraction(k)) for k in range(len(path) + 1)],
        "distance": _short(path.distance),
        "label": _label(path, names),
        "faults": None if None in faults else [reasons, [reasons.index(f) for f in faults if f is not None]],
    }


def counts(path: EditPath) -> str:
    """Return how many operations of each kind a path has, such as ``"7 substitute, 2 insert"``."""
    kinds = [op.kind for op in path.operations]
    return ", ".join(f"{kinds.count(k)} {k}" for k in KINDS if k in kinds)


def _fate(source: int, target: int, doomed: set[int | None]) -> int:
    """Return the index in ``epic.view.style.FATES``."""
    if target < 0:
        return 2 if source in doomed else 0
    return 1 if source >= 0 else 3


def _operation(op: Operation, place: list[int]) -> list:
    """Return ``[kind, source node, target node, cost, place]``."""
    where = op.source if op.target is None else place[op.target]
    return [KINDS.index(op.kind), op.source, op.target, _short(op.cost), where]


def _lines(graph: Data, places: list[int], names: Names) -> Iterable[tuple]:
    """Return one line for each pair of places that an edge joins, however many edges join them."""
    found: dict[tuple[int, int], list] = {}
    bonds = bond_orders(graph, names.chemistry) or [""] * graph.edge_index.shape[1]
    for (a, b), bond in zip(graph.edge_index.T.tolist(), bonds, strict=True):
        u, v = places[a], places[b]
        line = found.setdefault((min(u, v), max(u, v)), [0, 0, bond])
        line[u > v] += 1
    return [(u, v, *line) for (u, v), line in found.items()]


def _runs(steps: Sequence[Mapping[tuple, None]]) -> list[tuple]:
    """Return each item once for every unbroken run of steps that hold it, with the first step and the one after it."""
    begun: dict[tuple, int] = {}
    done: list[tuple] = []
    for k, step in enumerate([*steps, {}]):
        for thing in [t for t in begun if t not in step]:
            done.append((*thing, begun.pop(thing), k))
        for thing in step:
            begun.setdefault(thing, k)
    return sorted(done)


def _fault(graph: Data, names: Names) -> str | None:
    """Return why a step is not a valid molecule, empty if it is; None if the graph is not known to be a molecule."""
    if bond_orders(graph, names.chemistry) is None:
        return None
    mol = molecule_of(graph, names.chemistry)
    return None if mol is None else fault(mol)


def _end(graph: Data, names: Names, start: np.ndarray) -> list[list[int]]:
    """Return coordinates for a drawing of one end alone, with its shape kept: RDKit's for a molecule."""
    mol = molecule_of(graph, names.chemistry)
    if not graph.num_nodes:
        return []
    # Other graphs start from the common drawing, so that both drawings look alike. RDKit's y points up, a page's down.
    at = stress(steps_between(graph), 60, start) if mol is None else coordinates(mol) * [1, -1]
    size = np.ptp(at, axis=0)
    return (unit_square(at) * size / max(size.max(), 1e-9) * GRID).round().astype(int).tolist()


def _label(path: EditPath, names: Names) -> dict[str, Any] | None:
    """Return the labels at both ends; the page mixes them by the share of cost spent."""
    if path.source.get("y") is None:
        return None
    rows = [path.label(k).tolist() for k in (0, len(path))]
    width = len(rows[0])
    known = [v for row in rows for v in row if not math.isnan(v)]
    binary = bool(known) and all(v in (0, 1) for v in known)
    if width > 1 and infer_task(torch.tensor(rows)) == "classes":
        kind, called = "classes", [names.class_name(c) for c in range(width)]
    elif width == 1 and binary and len(known) == 2:
        kind, called = "classes", [names.class_name(c) for c in range(2)]
        rows = [[1 - row[0], row[0]] for row in rows]
    else:
        kind = "tasks" if binary else "values"
        called = [names.class_names[c] if c < len(names.class_names) else f"y{c}" for c in range(width)]
    ends = [[None if math.isnan(v) else _short(v) for v in row] for row in rows]
    return {"kind": kind, "names": called, "source": ends[0], "target": ends[1]}


def _short(value: float) -> float:
    return float(f"{value:.6g}")
