"""Convert PyG graphs of any kind to :class:`PackedGraphs`, and refuse what would give nonsense later."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.data.data import BaseData

from epic.errors import InputError
from epic.graphs.packed import Graphs, PackedGraphs, entries, offsets
from epic.labels import as_numbers

_STRUCTURE = frozenset({"edge_index", "adj_t", "y", "batch", "ptr", "num_nodes"})


def pack(graphs: Graphs, check: bool = True) -> PackedGraphs:
    """Return graphs in a few long tensors.

    Args:
        graphs: A ``PackedGraphs`` (returned as it is), a ``Batch``, one ``Data``, any sequence of ``Data``, or what
            ``epic.data.load`` gives.
        check: Whether to check that indices are in range and shapes agree.

    Raises:
        InputError: The graphs are broken, or differ in their attributes.
    """
    if isinstance(graphs, PackedGraphs):
        return graphs
    if isinstance(graphs, Batch):
        packed = _from_batch(graphs)
    elif isinstance(getattr(graphs, "graphs", None), PackedGraphs):
        return graphs.graphs
    else:
        packed = _from_list(_as_list(graphs))
    if check:
        check_pack(packed)
    return packed


def _as_list(graphs: Graphs) -> list[Data]:
    if isinstance(graphs, Data):
        return [graphs]
    if isinstance(graphs, BaseData):
        raise InputError(
            f"a {type(graphs).__name__} has several kinds of nodes: only homogeneous graphs (Data) can be used"
        )
    sized = hasattr(graphs, "__len__") and hasattr(graphs, "__getitem__")  # a Subset has these, but no __iter__
    if isinstance(graphs, (str, bytes)) or not (sized or isinstance(graphs, Iterable)):
        raise InputError(f"expected PyG graphs (Data, Batch, or a sequence of Data), got {type(graphs).__name__}")
    listed = list(graphs) if isinstance(graphs, Iterable) else [graphs[i] for i in range(len(graphs))]
    if not listed:
        raise InputError("there are no graphs: the sequence is empty")
    for i, g in enumerate(listed):
        if not isinstance(g, Data):
            raise InputError(f"graph {i} is a {type(g).__name__}, not a torch_geometric.data.Data")
    return listed


def _from_list(graphs: list[Data]) -> PackedGraphs:
    node_counts, edge_counts, blank = [], [], torch.zeros(2, 0, dtype=torch.long)
    for i, g in enumerate(graphs):
        index = blank if g.edge_index is None else g.edge_index
        if index.dim() != 2 or index.shape[0] != 2 or index.is_floating_point():
            raise InputError(
                f"graph {i}: edge_index must be integers of shape [2, edges], got {index.dtype} {list(index.shape)}"
            )
        count = g.x.shape[0] if isinstance(g.get("x"), Tensor) and g.x.dim() > 0 else g.num_nodes
        if count is None:
            raise InputError(f"graph {i} has neither x nor num_nodes: set num_nodes so that isolated nodes count")
        _check_rows(g, f"graph {i}", nodes=int(count), edges=index.shape[1])
        node_counts.append(int(count))
        edge_counts.append(index.shape[1])
    device = graphs[0].edge_index.device if graphs[0].edge_index is not None else blank.device
    sizes = torch.tensor(node_counts, device=device)
    ptr, edge_ptr = offsets(sizes), offsets(torch.tensor(edge_counts, device=device))
    edge_index = torch.cat([blank.to(device) if g.edge_index is None else g.edge_index for g in graphs], dim=1).long()
    # Checked here too: after the shift an index out of its graph would silently point into a neighbour.
    _check_edges(edge_index, edge_ptr, sizes, low=torch.zeros_like(sizes))
    edge_index = edge_index + torch.repeat_interleave(ptr[:-1], edge_ptr.diff())
    for key in ("x", "edge_attr"):
        have = [g.get(key) is not None for g in graphs]
        if any(have) and not all(have):
            raise InputError(
                f"graph {have.index(False)} has no {key} but graph {have.index(True)} has: "
                "give every graph the same attributes"
            )
    keys = [_keys(g, n, e) for g, n, e in zip(graphs, node_counts, edge_counts, strict=True)]
    node, edge = (
        {k: _stack(graphs, k) for k in first if all(k in other for other in rest)}
        for first, *rest in zip(*keys, strict=True)
    )
    return PackedGraphs(ptr, edge_ptr, edge_index, node, edge, _labels(graphs), _per_graph(graphs, {*node, *edge}))


def _per_graph(graphs: list[Data], known: set[str]) -> dict[str, np.ndarray]:
    """Return what all graphs have and is neither of nodes nor of edges."""
    return {k: entries(g[k] for g in graphs) for k in graph_attributes(graphs, known)}


def _check_rows(stored: Any, where: str, *, nodes: int, edges: int) -> None:
    """Refuse attributes that do not fit their graph: only the totals could be compared later."""
    if stored.get("adj_t") is not None and stored.get("edge_index") is None:
        raise InputError(f"{where} has adj_t and no edge_index: leave out ToSparseTensor")
    for key, rows, what in (("x", nodes, "nodes"), ("edge_attr", edges, "edges")):
        value = stored.get(key)
        if isinstance(value, Tensor) and value.dim() > 0 and value.shape[0] != rows:
            raise InputError(f"{key} of {where} has {value.shape[0]} rows for {rows} {what}")


def _skipped(key: str) -> bool:
    """Return whether a key is structure, a label, or bookkeeping of PyG's ``follow_batch``."""
    return key in _STRUCTURE or key.endswith(("_batch", "_ptr"))


def _keys(g: Data, nodes: int, edges: int) -> tuple[list[str], list[str]]:
    """Return the attributes of nodes and the attributes of edges."""
    node_keys, edge_keys = [], []
    for key, value in g.items():
        if _skipped(key) or not isinstance(value, Tensor) or value.dim() == 0:
            continue
        if key == "edge_attr" or (g.is_edge_attr(key) and value.shape[0] == edges):
            edge_keys.append(key)
        elif key == "x" or (g.is_node_attr(key) and value.shape[0] == nodes):
            node_keys.append(key)
    return node_keys, edge_keys


def _stack(graphs: list[Data], key: str) -> Tensor:
    values = [g[key] for g in graphs]
    width = values[0].shape[1:]
    for i, v in enumerate(values):
        if v.shape[1:] != width:
            raise InputError(
                f"{key} of graph {i} has width {list(v.shape[1:])}, graph 0 has {list(width)}: "
                "all graphs need the same width"
            )
    return torch.cat(values)


def _labels(graphs: list[Data]) -> Tensor | None:
    labels = [g.get("y") for g in graphs]
    if any(y is None for y in labels):
        missing = [i for i, y in enumerate(labels) if y is None]
        if len(missing) < len(labels):
            raise InputError(f"graph {missing[0]} has no label y ({len(missing)} of {len(labels)} lack one)")
        return None
    rows = [as_numbers(y, f"graph {i}").reshape(1, -1) for i, y in enumerate(labels)]
    widths = {r.shape[1] for r in rows}
    if len(widths) > 1:
        raise InputError(f"labels y have different widths {sorted(widths)}: give each graph the same number of targets")
    y = torch.cat(rows)
    return y[:, 0] if y.shape[1] == 1 and torch.as_tensor(labels[0]).dim() < 2 else y


def _from_batch(batch: Batch) -> PackedGraphs:
    if not isinstance(batch, Data):
        raise InputError(f"a {type(batch).__name__} has several kinds of nodes: only homogeneous graphs can be used")
    stored = batch.to_dict()
    edge_index, ptr = stored.get("edge_index"), stored.get("ptr")
    if edge_index is None:
        edge_index = torch.zeros(2, 0, dtype=torch.long, device=None if batch.batch is None else batch.batch.device)
    if ptr is None:
        if batch.batch is None:
            raise InputError("this Batch has neither ptr nor batch: make it with Batch.from_data_list or a DataLoader")
        ptr = offsets(torch.bincount(batch.batch, minlength=batch.num_graphs))
    graphs, nodes, edges = ptr.numel() - 1, ptr[-1].item(), edge_index.shape[1]
    _check_rows(stored, "the batch", nodes=nodes, edges=edges)
    edge_ptr, order = _edge_offsets(edge_index, ptr)
    if order is not None:
        edge_index = edge_index[:, order]
    node: dict[str, Tensor] = {}
    edge: dict[str, Tensor] = {}
    for key, value in stored.items():
        if _skipped(key) or not isinstance(value, Tensor) or value.dim() == 0:
            continue
        if key == "x":
            node[key] = value
        elif batch.is_edge_attr(key) and value.shape[0] == edges:
            edge[key] = value if order is None else value[order]
        elif batch.is_node_attr(key) and value.shape[0] == nodes and not is_graph_attribute(batch, key, ptr):
            node[key] = value
    y = stored.get("y")
    if y is not None and not isinstance(y, Tensor):  # PyG collates texts to a list
        y = torch.cat([as_numbers(v, f"graph {i}").reshape(1, -1) for i, v in enumerate(y)])
    if y is not None and y.dim() > 0 and y.shape[0] != graphs:
        if y.dim() > 1 or y.numel() % graphs:
            raise InputError(
                f"y has {y.shape[0]} rows for {graphs} graphs: store y of each graph as shape [1, targets]"
            )
        y = y.view(graphs, -1)
    return PackedGraphs(ptr, edge_ptr, edge_index, node, edge, y)


def _edge_offsets(edge_index: Tensor, ptr: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return the offsets of each graph's edges, and the order that sorts them by graph (None: they are sorted).

    Edges that join graphs or lack a node are refused.
    """
    graphs, nodes = ptr.numel() - 1, int(ptr[-1])
    if edge_index.numel() and (int(edge_index.min()) < 0 or int(edge_index.max()) >= nodes):
        raise InputError(f"edge_index names node {int(edge_index.max())}, but the batch has {nodes} nodes")
    # From ptr, not from batch, which a transform may have changed; ten times faster than a search for each end.
    graph = torch.repeat_interleave(torch.arange(graphs, device=ptr.device), ptr.diff())
    owner, other = graph.index_select(0, edge_index.flatten().long()).view(2, -1)
    if not torch.equal(owner, other):
        at = int((owner != other).nonzero()[0])
        raise InputError(f"edge {at} of the batch joins graph {int(owner[at])} with graph {int(other[at])}")
    order = None
    if owner.numel() and bool((owner.diff() < 0).any()):  # a transform may have shuffled the edges across graphs
        owner, order = owner.sort(stable=True)
    return offsets(torch.bincount(owner, minlength=graphs)), order


def check_pack(p: PackedGraphs) -> None:
    """Refuse what would give nonsense later: edges out of range or between graphs, NaN or infinite features."""
    _check_edges(p.edge_index, p.edge_ptr, p.sizes, low=p.ptr[:-1])
    for what, store, ptr in (("x", p.node, p.ptr), ("edge_attr", p.edge, p.edge_ptr)):
        value = store.get(what)
        if value is not None and value.shape[0] != int(ptr[-1]):
            raise InputError(f"{what} has {value.shape[0]} rows for {int(ptr[-1])}")
        if value is not None and value.is_floating_point() and not bool(torch.isfinite(value).all()):
            row = int((~torch.isfinite(value)).reshape(value.shape[0], -1).any(1).nonzero()[0])
            g = int(torch.bucketize(torch.tensor(row, device=ptr.device), ptr[1:], right=True))
            raise InputError(
                f"{what} of graph {g} holds NaN or infinity (row {row - int(ptr[g])}): clean it, "
                "for instance with torch.nan_to_num"
            )


def check_finite(p: PackedGraphs) -> None:
    """Refuse NaN and infinite features, for each batch: the other checks take as long as some methods."""
    features = [v for v in (p.x, p.edge_attr) if v is not None and v.is_floating_point()]
    if not all(bool(v.isfinite().all()) for v in features):
        check_pack(p)  # says where


def _check_edges(edge_index: Tensor, edge_ptr: Tensor, sizes: Tensor, low: Tensor) -> None:
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


def is_graph_attribute(batch: Batch, key: str, ptr: Tensor) -> bool:
    """Return whether the batch's own slices say that an attribute is not one of nodes.

    A graph-level tensor may have as many rows as there are nodes by accident.
    """
    slices = (getattr(batch, "_slice_dict", None) or {}).get(key)
    return isinstance(slices, Tensor) and not torch.equal(slices, ptr.to(slices.device))


def with_graph_attributes(result: Batch, *, graphs: Graphs, packed: PackedGraphs, identity: Tensor) -> Batch:
    """Return the batch with the graph-level attributes of the originals that its graphs still are.

    They are split and collated by PyG itself, which takes a while: batches without such attributes are returned as they
    are. So are batches with mixtures, which have none: PyG knows no missing values. Attributes that hold numbers of
    nodes are left out where graphs were changed.

    Args:
        result: The batch to complete.
        graphs: The originals, as given to the augmentation.
        packed: The originals, packed: what it holds is no attribute of a whole graph.
        identity: The original that each graph of the batch is, -1 for a mixture.
    """
    keys = graph_attributes(graphs, {"augmented", *packed.node, *packed.edge})
    if not keys or int(identity.min()) < 0:
        return result
    if bool(result.augmented.any()):
        keys = [k for k in keys if not names_nodes(k)]
    originals = graphs.to_data_list() if isinstance(graphs, Batch) else list(graphs)
    completed = result.to_data_list()
    for data, original in zip(completed, identity.tolist(), strict=True):
        for key in keys:
            data[key] = originals[original][key]
    return Batch.from_data_list(completed)


def names_nodes(key: str) -> bool:
    """Return whether an attribute holds numbers of nodes, by PyG's rule; in a changed graph they would be wrong."""
    return "index" in key or key == "face"


def graph_attributes(graphs: Graphs, known: Collection[str]) -> list[str]:
    """Return what all graphs have but structure, labels, and what is known to be of nodes or edges."""
    return [k for k in _common_keys(graphs) if k not in known and not _skipped(k)]


def _common_keys(graphs: Graphs) -> list[str]:
    """Return the attributes that all graphs have."""
    if isinstance(graphs, Batch):
        return list(graphs.keys())
    if not isinstance(graphs, (list, tuple)) or not all(isinstance(g, Data) for g in graphs):
        return []  # packed graphs have none
    first, *rest = (g.keys() for g in graphs)
    return [k for k in first if all(k in other for other in rest)]
