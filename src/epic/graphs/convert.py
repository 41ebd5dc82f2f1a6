"""Convert PyG graphs of any kind to :class:`PackedGraphs`, and refuse what would give nonsense later."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from copy import copy
from operator import index

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.data.data import BaseData

from epic.errors import InputError
from epic.graphs.checks import (
    check_bare,
    check_edge_index,
    check_edges,
    check_finite,
    check_offsets,
    check_pack,
    check_rows,
    plain,
)
from epic.graphs.networkx import is_networkx
from epic.graphs.packed import Graphs, PackedGraphs, entries, offsets

CORE = ("edge_index", "x", "edge_attr", "y")
"""Attributes that every reader of a graph looks at."""
_STRUCTURE = frozenset({"edge_index", "adj_t", "y", "batch", "ptr", "num_nodes"})


def pack(graphs: Graphs, *, check: bool = True) -> PackedGraphs:
    """Return graphs in a few long tensors.

    Args:
        graphs: A ``PackedGraphs`` (returned as it is), a ``Batch``, one ``Data``, any sequence of ``Data``, or what
            ``epic.data.load`` gives.
        check: Whether to check once more that the result is whole; what is wrong with the graphs themselves is
            noticed in any case.

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
    else:
        check_finite(packed)
    return packed


def pack_one(graph: Graphs, what: str) -> PackedGraphs:
    """Return one graph packed, on the CPU; an error calls it by what it is."""
    packed = pack(graph)
    if len(packed) != 1:
        raise InputError(f"the {what} must be one graph, got {len(packed)}")
    return packed.to("cpu")


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
    if is_networkx(graphs):
        raise InputError("a networkx graph is taken by edit_distance alone: convert it with PyG's from_networkx")
    listed = list(graphs) if isinstance(graphs, Iterable) else [graphs[i] for i in range(len(graphs))]
    if not listed:
        raise InputError("there are no graphs: the sequence is empty")
    for i, g in enumerate(listed):
        if not isinstance(g, Data):
            raise InputError(f"graph {i} is a {type(g).__name__}, not a torch_geometric.data.Data")
    return listed


def _from_list(graphs: list[Data]) -> PackedGraphs:
    node_counts, edge_counts, blank = [], [], torch.zeros(2, 0, dtype=torch.long)
    graphs = [_ordinary(g, i) for i, g in enumerate(graphs)]
    for i, g in enumerate(graphs):
        stored = g.to_dict()
        edges, x = stored.get("edge_index"), stored.get("x")
        edges = blank if edges is None else edges
        count = _node_count(i, g) if x is None or x.dim() == 0 or "num_nodes" in stored else x.shape[0]
        check_edge_index(edges, i, nodes=count)
        check_rows(stored, i, nodes=count, edges=edges.shape[1])
        node_counts.append(count)
        edge_counts.append(edges.shape[1])
    device = graphs[0].edge_index.device if graphs[0].edge_index is not None else blank.device
    sizes = torch.tensor(node_counts, device=device)
    ptr, edge_ptr = offsets(sizes), offsets(torch.tensor(edge_counts, device=device))
    edge_index = torch.cat([blank.to(device) if g.edge_index is None else g.edge_index for g in graphs], dim=1).long()
    check_bare(ptr, edge_index, *(g.x for g in graphs if g.get("x") is not None))
    # Checked here too: after the shift an index out of its graph would silently point into a neighbour.
    check_edges(edge_index, edge_ptr, sizes, low=torch.zeros_like(sizes))
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
    per_graph = {k: entries(g[k] for g in graphs) for k in graph_attributes(graphs, {*node, *edge})}
    return PackedGraphs(ptr, edge_ptr, edge_index, node, edge, _labels(graphs), per_graph)


def _ordinary(g: Data, i: int) -> Data:
    """Return a graph whose structure, features and labels are tensors of ordinary numbers."""
    stored = g.to_dict()
    tensors = {k: plain(stored[k], k, i) for k in CORE if stored.get(k) is not None}
    if any(tensor is not stored[k] for k, tensor in tensors.items()):
        g = copy(g)
        g.update(tensors)
    return g


def _node_count(i: int, g: Data) -> int:
    """Return the number of nodes that a graph states, or that follows from its other attributes."""
    count = g.to_dict().get("num_nodes")
    try:
        count = g.num_nodes if count is None else count  # PyG would sum non-numeric values here
    except (IndexError, AttributeError):  # it looks at the rows of attributes that have none
        count = None
    if count is None:
        raise InputError(f"graph {i} has neither x nor num_nodes: set num_nodes so that isolated nodes count")
    try:
        number = index(count)
    except (TypeError, RuntimeError):  # the latter by torch
        number = -1
    if number < 0 or isinstance(count, bool):
        raise InputError(f"num_nodes of graph {i} is {count!r}: it must be 0 or more, and an int")
    if number > 1 << 40:
        raise InputError(f"num_nodes of graph {i} is {number}: no memory holds that many")
    return number


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
    values = [plain(g[key], key, i) for i, g in enumerate(graphs)]
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
    rows = [y.reshape(1, -1) for y in labels]
    widths = {r.shape[1] for r in rows}
    if 0 in widths:
        at = next(i for i, r in enumerate(rows) if r.shape[1] == 0)
        raise InputError(f"y of graph {at} is empty: give it a label, or leave out y of all graphs")
    if len(widths) > 1:
        raise InputError(f"labels y have different widths {sorted(widths)}: give each graph the same number of targets")
    y = _whole_numbers(torch.cat(rows))
    return y[:, 0] if y.shape[1] == 1 and labels[0].dim() < 2 else y


def _whole_numbers(y: Tensor) -> Tensor:
    """Return labels that are true or false as 1 and 0."""
    return y.long() if y.dtype == torch.bool else y


def _from_batch(batch: Batch) -> PackedGraphs:
    if not isinstance(batch, Data):
        raise InputError(f"a {type(batch).__name__} has several kinds of nodes: only homogeneous graphs can be used")
    where = "the batch"
    stored = batch.to_dict()
    stored |= {k: plain(stored[k], k, where) for k in (*CORE, "ptr", "batch") if stored.get(k) is not None}
    edge_index, ptr, owner = stored.get("edge_index"), stored.get("ptr"), stored.get("batch")
    if edge_index is None:
        edge_index = torch.zeros(2, 0, dtype=torch.long, device=None if owner is None else owner.device)
    if ptr is None:
        if owner is None or owner.dim() != 1 or bool((owner.diff() < 0).any()) or (owner.numel() and int(owner[0]) < 0):
            raise InputError(
                "this Batch has no ptr, and no batch that numbers the graphs in rising order: make it with "
                "Batch.from_data_list or a DataLoader"
            )
        ptr = offsets(torch.bincount(owner.long(), minlength=batch.num_graphs))
    check_offsets(ptr, None, "ptr of the batch")
    graphs, nodes = ptr.numel() - 1, int(ptr[-1])
    check_edge_index(edge_index, where, nodes=nodes)
    edge_index, edges = edge_index.long(), edge_index.shape[1]
    check_rows(stored, where, nodes=nodes, edges=edges)
    check_bare(ptr, edge_index, *(stored[k] for k in ("x", "batch") if stored.get(k) is not None))
    edge_ptr, order = _edge_offsets(edge_index, ptr)
    node_keys, edge_keys = _keys(batch, nodes, edges)
    node = {k: plain(stored[k], k, where) for k in node_keys if k == "x" or not is_graph_attribute(batch, k, ptr)}
    edge = {k: plain(stored[k], k, where) for k in edge_keys}
    if order is not None:
        edge_index, edge = edge_index[:, order], {k: v[order] for k, v in edge.items()}
    y = stored.get("y")
    if y is not None and (y.dim() == 0 or y.shape[0] != graphs):
        if y.dim() > 1 or not graphs or not y.numel() or y.numel() % graphs:
            raise InputError(f"y is {list(y.shape)} for {graphs} graphs: store y of each graph as shape [1, targets]")
        y = y.reshape(graphs, -1)
    if y is not None and graphs and not y.numel():
        raise InputError(f"y of the batch is empty ({list(y.shape)}): give each graph a label, or leave out y")
    y = None if y is None else _whole_numbers(y)
    return PackedGraphs(ptr.long(), edge_ptr, edge_index, node, edge, y, _told(stored, graphs, {*node, *edge}))


def _told(stored: dict[str, object], graphs: int, known: set[str]) -> dict[str, np.ndarray]:
    """Return names and rows of files that a batch holds, with an entry for each graph."""
    found = {}
    for key in ("name", "row"):
        value = stored.get(key)
        listed = value.tolist() if isinstance(value, Tensor) and key not in known else value
        if isinstance(listed, list) and len(listed) == graphs:
            found[key] = entries(listed)
    return found


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


def is_graph_attribute(batch: Batch, key: str, ptr: Tensor) -> bool:
    """Return whether the batch's own slices say that an attribute is not one of nodes.

    A graph-level tensor may have as many rows as there are nodes by accident. PyG has no public way to ask where the
    rows of each graph begin: ``get_example`` would cut the whole batch apart.
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
    listed = [graphs] if isinstance(graphs, Batch) else graphs
    if not isinstance(listed, (list, tuple)) or not all(isinstance(g, Data) for g in listed):
        return []  # packed graphs have none
    first, *rest = (g.keys() for g in listed)
    return [k for k in first if k not in known and not _skipped(k) and all(k in other for other in rest)]
