"""Refuse graphs that would give nonsense later, and convert what can mean one thing only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from epic._io import DTYPES
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs

ROWS = {"x": "nodes", "pos": "nodes", "node_type": "nodes"} | dict.fromkeys(
    ("edge_attr", "edge_weight", "edge_type"), "edges"
)
"""Attributes that PyG knows by name to have a row for each node or each edge."""
BARE_NODES = 1 << 24
"""Nodes that have neither an edge nor an attribute, at most: a number alone must not ask for all memory."""


def plain(value: Any, key: str, where: object) -> Tensor:
    """Return a tensor of ordinary numbers, converted from an array, a list or a number if need be.

    Args:
        value: A tensor, or what can mean one tensor only.
        key: The name of the attribute, for messages.
        where: The number of the graph, or words for the batch.

    Raises:
        InputError: It is sparse, has no data or no numbers, or numbers that torch can only store.
    """
    if not isinstance(value, Tensor):
        if key == "y":
            refuse_texts(value, where)
        # PyG does not lay lists and arrays of several graphs end to end.
        if not isinstance(value, (np.ndarray, np.generic, list, tuple, int, float)) or not isinstance(where, int):
            raise InputError(f"{_named(key, where)} is a {type(value).__name__}: make it a tensor of numbers")
        try:
            value = torch.as_tensor(np.array(value) if isinstance(value, (np.ndarray, np.generic)) else value)
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            said = str(error).splitlines()[0]
            raise InputError(
                f"{_named(key, where)} is a {type(value).__name__} that is no tensor of numbers ({said}): make it one"
            ) from error
    if value.layout != torch.strided or value.is_nested:
        raise InputError(f"{_named(key, where)} is a sparse or nested tensor: give it as a plain one (to_dense())")
    if value.is_meta:
        raise InputError(f"{_named(key, where)} is on the device meta, so it has no values: load it on the CPU")
    if value.dtype not in DTYPES:
        raise InputError(f"{_named(key, where)} is {value.dtype}: convert it with .float() or .long()")
    return value


def refuse_texts(y: object, where: object) -> None:
    """Refuse labels that are texts, which PyG collates to a list."""
    labels = y if isinstance(y, (list, tuple)) else [y]
    for i, label in enumerate(labels):
        if isinstance(label, str):
            graph = where if isinstance(where, int) else i
            raise InputError(f"the label y of graph {graph} is {label!r}, not a number: number the classes from 0")


def _named(key: str, where: object) -> str:
    return f"{key} of {f'graph {where}' if isinstance(where, int) else where}"


def check_rows(stored: Mapping[str, Any], where: object, *, nodes: int, edges: int) -> None:
    """Refuse attributes that do not fit their graph: only the totals could be compared later."""
    if stored.get("adj_t") is not None and stored.get("edge_index") is None:
        raise InputError(f"{_named('adj_t', where)} is there and no edge_index: leave out ToSparseTensor")
    for key, what in ROWS.items():
        value, rows = stored.get(key), nodes if what == "nodes" else edges
        if isinstance(value, Tensor) and (value.dim() == 0 or value.shape[0] != rows):
            found = f"{value.shape[0]} rows" if value.dim() else "no rows"
            raise InputError(f"{_named(key, where)} has {found} for {rows} {what}: give it one for each")


def check_edge_index(edge_index: Tensor, where: object, *, nodes: int) -> None:
    """Refuse edges that are not ``[2, edges]`` integers, or integers too small for the numbers of nodes."""
    integers = not edge_index.is_floating_point() and edge_index.dtype != torch.bool
    if edge_index.dim() != 2 or edge_index.shape[0] != 2 or not (integers or edge_index.numel() == 0):
        told = f"{edge_index.dtype} {list(edge_index.shape)}"
        raise InputError(f"{_named('edge_index', where)} must be integers of shape [2, edges], got {told}")
    if integers and edge_index.numel() and nodes - 1 > torch.iinfo(edge_index.dtype).max:
        raise InputError(
            f"{_named('edge_index', where)} is {edge_index.dtype}, which cannot number {nodes} nodes: use torch.long"
        )


def check_offsets(ptr: Tensor, rows: int | None, what: str) -> None:
    """Refuse offsets that do not rise from 0, to ``rows`` if that is known."""
    if ptr.dim() != 1 or ptr.numel() == 0 or ptr.dtype not in (torch.int32, torch.int64):
        raise InputError(f"{what} must be integers [graphs + 1], got {ptr.dtype} {list(ptr.shape)}")
    if int(ptr[0]) != 0 or bool((ptr.diff() < 0).any()):
        raise InputError(f"{what} must rise from 0, got {ptr[:4].tolist()} ...: the graphs need 0 or more nodes each")
    if rows is not None and int(ptr[-1]) != rows:
        raise InputError(f"{what} ends at {int(ptr[-1])}, but there are {rows} rows")


def check_pack(p: PackedGraphs) -> None:
    """Refuse what are no graphs: offsets, edges, rows or features that cannot be."""
    for key, value in (("ptr", p.ptr), ("edge_ptr", p.edge_ptr), ("edge_index", p.edge_index)):
        if value.dtype != torch.long:
            raise InputError(f"{key} must be torch.long, got {value.dtype}")
    check_edge_index(p.edge_index, "the graphs", nodes=0)
    check_offsets(p.ptr, None, "ptr")
    check_offsets(p.edge_ptr, p.edge_index.shape[1], "edge_ptr")
    if p.edge_ptr.numel() != p.ptr.numel():
        raise InputError(f"ptr is of {len(p)} graphs, edge_ptr of {p.edge_ptr.numel() - 1}")
    for store, rows, what in ((p.node, p.num_nodes, "nodes"), (p.edge, p.edge_index.shape[1], "edges")):
        for key, value in store.items():
            if value.dim() == 0 or value.shape[0] != rows:
                raise InputError(f"{key} is {list(value.shape)}, but there are {rows} {what}")
    if p.y is not None and (p.y.dim() == 0 or p.y.shape[0] != len(p)):
        raise InputError(f"y is {list(p.y.shape)}, but there are {len(p)} graphs")
    check_bare(p.ptr, p.edge_index, *p.node.values())
    check_edges(p.edge_index, p.edge_ptr, p.sizes, low=p.ptr[:-1])
    check_finite(p)


def check_bare(ptr: Tensor, *values: Tensor) -> None:
    """Refuse a number of nodes that the edges and attributes do not support."""
    if int(ptr[-1]) - sum(value.numel() for value in values) > BARE_NODES:
        g = int(ptr.diff().argmax())
        raise InputError(
            f"graph {g} has {int(ptr.diff()[g])} nodes, nearly all of them without features or edges: correct num_nodes"
        )


def check_finite(p: PackedGraphs) -> None:
    """Refuse NaN or infinite features."""
    for what, store, ptr in (("x", p.node, p.ptr), ("edge_attr", p.edge, p.edge_ptr)):
        value = store.get(what)
        if value is None or not value.is_floating_point() or math.isfinite(float(value.sum())):
            continue  # the sum takes a thirtieth of the time, and is not finite if one of its terms is not
        if not bool(torch.isfinite(value).all()):
            row = int((~torch.isfinite(value)).reshape(value.shape[0], -1).any(1).nonzero()[0])
            g = int(torch.bucketize(torch.tensor(row, device=ptr.device), ptr[1:], right=True))
            raise InputError(
                f"{what} of graph {g} holds NaN or infinity (row {row - int(ptr[g])}): clean it, "
                "for instance with torch.nan_to_num"
            )


def check_edges(edge_index: Tensor, edge_ptr: Tensor, sizes: Tensor, low: Tensor) -> None:
    """Refuse edges whose ends are not among the nodes of their graph, which begin at ``low``."""
    per_edge_low = torch.repeat_interleave(low, edge_ptr.diff())
    per_edge_high = torch.repeat_interleave(low + sizes, edge_ptr.diff())
    bad = (edge_index < per_edge_low) | (edge_index >= per_edge_high)
    if bool(bad.any()):
        at = int(bad.any(0).nonzero()[0])
        g = int(torch.bucketize(torch.tensor(at, device=edge_ptr.device), edge_ptr[1:], right=True))
        edge = [int(v) for v in (edge_index[:, at] - low[g])]
        raise InputError(
            f"edge_index of graph {g} has the edge {edge[0]} -> {edge[1]}, but its nodes are 0 .. {int(sizes[g]) - 1}"
        )


def check_same_features(one: PackedGraphs, other: PackedGraphs) -> None:
    """Refuse graphs whose features cannot be compared or mixed."""
    for key, mine, theirs in (("x", one.x, other.x), ("edge_attr", one.edge_attr, other.edge_attr)):
        if (mine is None) != (theirs is None):
            raise InputError(f"one side has {key} and the other has not: give it to all graphs or to none")
        if mine is None or theirs is None:
            continue
        if mine.shape[1:] != theirs.shape[1:]:
            raise InputError(
                f"{key} has width {list(mine.shape[1:])} on one side and {list(theirs.shape[1:])} on the other"
            )
        if mine.is_floating_point() != theirs.is_floating_point():
            raise InputError(f"{key} is {mine.dtype} on one side and {theirs.dtype} on the other: use one kind")
