"""A path as plain data: what is drawn, where, and from which step to which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.data import Data

from epic.data.chemistry import molecule_of
from epic.labels import infer_task
from epic.view.formula import Formula, formula_of
from epic.view.names import Names, Tag, tags
from epic.view.placement import Placement, place

if TYPE_CHECKING:
    from epic.paths.edit_path import EditPath
    from epic.paths.operation import Operation

KINDS = ("substitute", "delete", "insert")
GRID = 100  # coordinates are integers, this many to the length of an edge


def frames(path: EditPath, names: Names) -> dict[str, Any]:
    """Return everything a page needs to draw any step of a path, ready for JSON.

    Nodes are ``[place, tag, fate, number, born, dies]``. Edges are ``[place, place, ways, ways back, bond, ring, fate,
    born, dies]``, wedges ``[centre, place, sign, born, dies]``. All are drawn at steps ``born <= k < dies``. They are
    read from the graphs ``path[k]``, so that what is drawn is what the path holds. ``drawings`` are coordinates of all
    places, evenly spread over the path.
    """
    placed = place(path, names)
    of_target = placed.of_target.tolist()
    doomed = {op.source for op in path.operations if op.kind == "delete"}
    table: dict[Tag, int] = {}
    rings: dict[tuple[int, ...], int] = {}
    nodes: list[dict[tuple, None]] = []
    edges: list[dict[tuple, None]] = []
    faults: list[str | None] = []
    for graph in path:
        both = list(zip(graph.source_node.tolist(), graph.target_node.tolist(), strict=True))
        places = [of_target[t] if t >= 0 else s for s, t in both]
        formula = formula_of(graph, names.chemistry)
        worn = [-1 if t is None else table.setdefault(t, len(table)) for t in _tags(graph, names, formula)]
        fates = [_fate(s, t, doomed) for s, t in both]
        number = [t if t >= 0 else s for s, t in both]
        nodes.append(dict.fromkeys(zip(places, worn, fates, number, strict=True)))
        edges.append(dict.fromkeys(_lines(graph, places, formula, rings)))
        faults.append(None if formula is None else formula.fault)
    first, last = ({line[:2] for line in step} for step in (edges[0], edges[-1]))
    lines = [(*e[:6], 0 if e[:2] in first & last else 1 if e[:2] in first else 2, *e[6:]) for e in _runs(edges)]
    reasons = list(dict.fromkeys(f for f in faults if f is not None))
    return {
        "steps": len(path),
        "drawings": (placed.drawings * GRID).round().astype(int).reshape(len(placed.drawings), -1).tolist(),
        "room": _short(placed.room * GRID),
        "molecule": molecule_of(path.source, names.chemistry) is not None,
        "directed": any(line[2] != line[3] for line in lines if line[0] != line[1]),
        "nodes": _runs(nodes),
        "edges": lines,
        "rings": list(rings),
        "wedges": _wedges(path, placed),
        "tags": [[t.text, t.fill, t.name, t.hydrogens, t.charge, int(t.flawed)] for t in table],
        "operations": [_operation(op, of_target) for op in path.operations],
        "spent": [_short(path.fraction(k)) for k in range(len(path) + 1)],
        "distance": _short(path.distance),
        "label": _label(path, names),
        "faults": None if None in faults else [reasons, [reasons.index(f) for f in faults if f is not None]],
    }


def positions(drawn: Mapping[str, Any], k: float) -> np.ndarray:
    """Return the coordinates of all places at step ``k`` of what :func:`frames` gave, in lengths of an edge."""
    drawings = np.array(drawn["drawings"], dtype=float).reshape(len(drawn["drawings"]), -1, 2) / GRID
    return _between(drawings, k / max(drawn["steps"], 1))


def _between(drawings: np.ndarray, share: float) -> np.ndarray:
    at = share * (len(drawings) - 1)
    low = min(int(at), len(drawings) - 2)
    return drawings[low] + (at - low) * (drawings[low + 1] - drawings[low])


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


def _tags(graph: Data, names: Names, formula: Formula | None) -> list[Tag | None]:
    """Return the tags of nodes, with hydrogens and charges where they are known."""
    found = tags(graph, names)
    if formula is None:
        return found
    atoms = zip(found, formula.hydrogens, formula.charges, formula.flawed, strict=True)
    return [t and replace(t, hydrogens=h, charge=c, flawed=bad) for t, h, c, bad in atoms]


def _lines(graph: Data, places: list[int], formula: Formula | None, rings: dict[tuple[int, ...], int]) -> Iterable:
    """Return one line for each pair of places that an edge joins, however many edges join them."""
    found: dict[tuple[int, int], list] = {}
    for a, b in graph.edge_index.T.tolist():
        u, v, bond, ring = places[a], places[b], "", -1
        if formula is not None and a != b:
            pair = (min(a, b), max(a, b))
            bond = formula.bonds[pair]
            if pair in formula.rings:
                ring = rings.setdefault(tuple(sorted(places[i] for i in formula.rings[pair])), len(rings))
        line = found.setdefault((min(u, v), max(u, v)), [0, 0, bond, ring])
        line[u > v] += 1
    return [(u, v, *line) for (u, v), line in found.items()]


def _wedges(path: EditPath, placed: Placement) -> list[list[int]]:
    """Return the wedges of both ends, each as long as its centre and all that is bound to it are as in that end.

    They also end where the drawing has turned the neighbours around: it would then show the mirror image.
    """
    done = {"source": {}, "target": {}}  # type: dict[str, dict[int, int]]
    for k, op in enumerate(path.operations, 1):
        if op.source is not None:
            done["source"][op.source] = k
        if op.target is not None:
            done["target"][int(placed.of_target[op.target])] = k
    steps, made = len(path), []
    for end, signs in zip(("source", "target"), placed.wedges, strict=True):
        graph = path.source if end == "source" else path.target
        where = np.arange(graph.num_nodes) if end == "source" else placed.of_target
        ends = where[graph.edge_index.numpy()]
        for centre, other, sign in signs:
            around = ends[1][ends[0] == centre]
            when = [done[end][int(p)] for p in (centre, *around)]
            run = range(min(when)) if end == "source" else range(steps, max(when) - 1, -1)
            kept = list(run[:1])
            for k in run[1:]:
                turned = [_order(_between(placed.drawings, j / max(steps, 1)), centre, around) for j in (run[0], k)]
                if turned[0] != turned[1]:
                    break
                kept.append(k)
            made.append([centre, other, sign, min(kept), max(kept) + 1])
    return made


def _order(at: np.ndarray, centre: int, around: np.ndarray) -> list[int]:
    """Return neighbours in the order in which they stand around a centre, from the first on."""
    far = at[around] - at[centre]
    order = np.argsort(np.arctan2(far[:, 1], far[:, 0])).tolist()
    start = order.index(0)
    return order[start:] + order[:start]


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
