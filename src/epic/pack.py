"""Many graphs in a few long tensors, so that work on them needs no loop over graphs.

A :class:`Pack` is to this library what ``Batch`` is to PyG, with two differences: any subset of its graphs can be
gathered at memory speed (``pack.select``), and which attribute belongs to nodes and which to edges is known rather than
guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from epic.errors import InputError

Graphs = Any  # a Pack, a Batch, one Data, or any sequence of Data (a PyG Dataset included)


def ranges(start: Tensor, length: Tensor) -> Tensor:
    """Concatenate the integer ranges ``start[i] .. start[i] + length[i] - 1``.

    >>> ranges(torch.tensor([5, 0]), torch.tensor([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    total = length.cumsum(0)
    shift = torch.repeat_interleave(start - (total - length), length)
    return torch.arange(shift.numel(), device=start.device) + shift


def offsets(length: Tensor) -> Tensor:
    """Turn lengths into offsets, with a leading zero.

    >>> offsets(torch.tensor([2, 3])).tolist()
    [0, 2, 5]
    """
    return torch.cat([length.new_zeros(1), length.cumsum(0)])


def matrix(value: Tensor) -> Tensor:
    """Rows of any shape as rows of one dimension; unlike ``reshape(n, -1)``, for no rows too.

    >>> matrix(torch.zeros(0, 3)).shape, matrix(torch.zeros(4)).shape
    (torch.Size([0, 3]), torch.Size([4, 1]))
    """
    return value[:, None] if value.dim() == 1 else value.flatten(1)


@dataclass(frozen=True)
class Pack:
    """Graphs laid end to end: graph ``g`` owns nodes ``ptr[g]:ptr[g+1]`` and edges ``edge_ptr[g]:edge_ptr[g+1]``."""

    ptr: Tensor
    edge_ptr: Tensor
    edge_index: Tensor
    node: Mapping[str, Tensor] = field(default_factory=dict)
    edge: Mapping[str, Tensor] = field(default_factory=dict)
    y: Tensor | None = None

    def __len__(self) -> int:
        return self.ptr.numel() - 1

    @property
    def x(self) -> Tensor | None:
        return self.node.get("x")

    @property
    def edge_attr(self) -> Tensor | None:
        return self.edge.get("edge_attr")

    @cached_property
    def sizes(self) -> Tensor:
        """Nodes of each graph."""
        return self.ptr.diff()

    @cached_property
    def num_nodes(self) -> int:
        return int(self.ptr[-1])

    @cached_property
    def graph_of_node(self) -> Tensor:
        return torch.repeat_interleave(torch.arange(len(self), device=self.ptr.device), self.sizes)

    def degree(self, end: int = 0) -> Tensor:
        """Edges that leave (``end=0``) or reach (``end=1``) each node."""
        return torch.bincount(self.edge_index[end], minlength=self.num_nodes)

    def to(self, device: torch.device | str) -> Pack:
        return Pack(
            self.ptr.to(device),
            self.edge_ptr.to(device),
            self.edge_index.to(device),
            {k: v.to(device) for k, v in self.node.items()},
            {k: v.to(device) for k, v in self.edge.items()},
            None if self.y is None else self.y.to(device),
        )

    def select(self, index: Tensor) -> Pack:
        """Gather the graphs ``index``, in that order; a graph may be named many times."""
        size, edges = self.sizes[index], self.edge_ptr.diff()[index]
        ptr, edge_ptr = offsets(size), offsets(edges)
        nodes_at = ranges(self.ptr[index], size)
        edges_at = ranges(self.edge_ptr[index], edges)
        shift = torch.repeat_interleave(ptr[:-1] - self.ptr[index], edges)
        return Pack(
            ptr,
            edge_ptr,
            self.edge_index[:, edges_at] + shift,
            {k: v[nodes_at] for k, v in self.node.items()},
            {k: v[edges_at] for k, v in self.edge.items()},
            None if self.y is None else self.y[index],
        )

    def only(self, other: Pack) -> Pack:
        """Drop node and edge attributes that ``other`` lacks or holds in another width."""

        def shared(mine: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
            return {k: v for k, v in mine.items() if k in theirs and theirs[k].shape[1:] == v.shape[1:]}

        return Pack(
            self.ptr,
            self.edge_ptr,
            self.edge_index,
            shared(self.node, other.node),
            shared(self.edge, other.edge),
            self.y,
        )

    def graph(self, g: int) -> Data:
        """Graph ``g`` as a PyG ``Data``."""
        n0, n1, e0, e1 = (int(v) for v in (self.ptr[g], self.ptr[g + 1], self.edge_ptr[g], self.edge_ptr[g + 1]))
        data = Data(edge_index=self.edge_index[:, e0:e1] - n0, num_nodes=n1 - n0)
        for store, a, b in ((self.node, n0, n1), (self.edge, e0, e1)):
            for key, value in store.items():
                data[key] = value[a:b]
        if self.y is not None:
            data.y = self.y[g : g + 1]
        return data

    def to_batch(self) -> Batch:
        """The same graphs as a PyG ``Batch``, separable again with ``to_data_list``."""
        batch = Batch(_base_cls=Data)
        zeros = torch.zeros(len(self), dtype=torch.long)
        slices: dict[str, Tensor] = {}
        shift: dict[str, Tensor] = {}

        def put(key: str, value: Tensor, at: Tensor, by: Tensor = zeros) -> None:
            batch[key] = value
            slices[key], shift[key] = at, by

        ptr, edge_ptr = self.ptr.cpu(), self.edge_ptr.cpu()
        put("edge_index", self.edge_index, edge_ptr, ptr[:-1])
        for key, value in self.node.items():
            put(key, value, ptr)
        for key, value in self.edge.items():
            put(key, value, edge_ptr)
        if self.y is not None:
            put("y", self.y, torch.arange(len(self) + 1))
        if "x" not in self.node:
            batch.num_nodes = self.num_nodes
            batch._store._num_nodes = self.sizes.tolist()  # where PyG's own collate keeps them
        batch.batch = self.graph_of_node
        batch.ptr = self.ptr
        batch._num_graphs = len(self)
        batch._slice_dict = slices
        batch._inc_dict = shift
        return batch


def join(packs: Sequence[Pack]) -> Pack:
    """Lay packs end to end. All must have the same attributes; labels survive if every pack has them."""
    node_shift = offsets(torch.tensor([p.num_nodes for p in packs])).tolist()
    edge_shift = offsets(torch.tensor([p.edge_index.shape[1] for p in packs])).tolist()
    labels = [p.y for p in packs if p.y is not None]
    return Pack(
        torch.cat([packs[0].ptr[:1]] + [p.ptr[1:] + s for p, s in zip(packs, node_shift, strict=False)]),
        torch.cat([packs[0].edge_ptr[:1]] + [p.edge_ptr[1:] + s for p, s in zip(packs, edge_shift, strict=False)]),
        torch.cat([p.edge_index + s for p, s in zip(packs, node_shift, strict=False)], dim=1),
        {k: torch.cat([p.node[k] for p in packs]) for k in packs[0].node},
        {k: torch.cat([p.edge[k] for p in packs]) for k in packs[0].edge},
        torch.cat(labels) if len(labels) == len(packs) else None,
    )


def pack(graphs: Graphs, check: bool = True) -> Pack:
    """Pack graphs, checking them on the way.

    ``graphs`` is a ``Pack`` (returned as it is), a ``Batch``, one ``Data`` or any sequence of ``Data``.
    """
    if isinstance(graphs, Pack):
        return graphs
    packed = _from_batch(graphs) if isinstance(graphs, Batch) else _from_list(_as_list(graphs))
    if check:
        check_pack(packed)
    return packed


def _as_list(graphs: Graphs) -> list[Data]:
    if isinstance(graphs, Data):
        return [graphs]
    if isinstance(graphs, (str, bytes)) or not isinstance(graphs, Iterable):
        raise InputError(f"expected PyG graphs (Data, Batch, or a sequence of Data), got {type(graphs).__name__}")
    listed = list(graphs)
    if not listed:
        raise InputError("there are no graphs: the sequence is empty")
    for i, g in enumerate(listed):
        if not isinstance(g, Data):
            raise InputError(f"graph {i} is a {type(g).__name__}, not a torch_geometric.data.Data")
    return listed


def _from_list(graphs: list[Data]) -> Pack:
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
        node_counts.append(int(count))
        edge_counts.append(index.shape[1])
    sizes = torch.tensor(node_counts)
    ptr, edge_ptr = offsets(sizes), offsets(torch.tensor(edge_counts))
    edge_index = torch.cat([blank if g.edge_index is None else g.edge_index for g in graphs], dim=1).long()
    # Checked here too: after the shift an index out of its graph would silently point into a neighbour.
    _check_edges(edge_index, edge_ptr, sizes, low=torch.zeros_like(sizes))
    edge_index = edge_index + torch.repeat_interleave(ptr[:-1], edge_ptr.diff())
    node_keys, edge_keys = _keys(graphs[0], node_counts[0], edge_counts[0])
    for i, g in enumerate(graphs[1:], 1):
        if len(node_keys) + len(edge_keys) == 0:
            break
        here_node, here_edge = _keys(g, node_counts[i], edge_counts[i])
        for key in ("x", "edge_attr"):
            if (key in node_keys or key in edge_keys) and g.get(key) is None:
                raise InputError(f"graph {i} has no {key} but graph 0 has: give every graph the same attributes")
        node_keys = [k for k in node_keys if k in here_node]
        edge_keys = [k for k in edge_keys if k in here_edge]
    node = {k: _stack(graphs, k) for k in node_keys}
    edge = {k: _stack(graphs, k) for k in edge_keys}
    return Pack(ptr, edge_ptr, edge_index, node, edge, _labels(graphs))


def _keys(g: Data, nodes: int, edges: int) -> tuple[list[str], list[str]]:
    """Which attributes run along nodes and which along edges."""
    node_keys, edge_keys = [], []
    for key, value in g.items():
        if key in ("edge_index", "y", "batch", "ptr", "num_nodes") or not isinstance(value, Tensor) or value.dim() == 0:
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
    rows = [torch.as_tensor(y).reshape(1, -1) for y in labels]
    widths = {r.shape[1] for r in rows}
    if len(widths) > 1:
        raise InputError(f"labels y have different widths {sorted(widths)}: give each graph the same number of targets")
    y = torch.cat(rows)
    return y[:, 0] if y.shape[1] == 1 and torch.as_tensor(labels[0]).dim() < 2 else y


def _from_batch(batch: Batch) -> Pack:
    edge_index = batch.edge_index
    vector = batch.batch
    if getattr(batch, "ptr", None) is not None:
        ptr = batch.ptr
    elif vector is not None:
        ptr = offsets(torch.bincount(vector, minlength=batch.num_graphs))
    else:
        raise InputError("this Batch has neither ptr nor batch: make it with Batch.from_data_list or a DataLoader")
    graphs, nodes, edges = ptr.numel() - 1, int(ptr[-1]), edge_index.shape[1]
    if edges and (int(edge_index.min()) < 0 or int(edge_index.max()) >= nodes):
        raise InputError(f"edge_index names node {int(edge_index.max())}, but the batch has {nodes} nodes")
    owner = torch.bucketize(edge_index[0], ptr[1:], right=True)
    order = None
    if edges and bool((owner.diff() < 0).any()):  # a transform may have shuffled the edges across graphs
        owner, order = owner.sort(stable=True)
        edge_index = edge_index[:, order]
    node: dict[str, Tensor] = {}
    edge: dict[str, Tensor] = {}
    for key, value in batch.items():
        if key in ("edge_index", "y", "batch", "ptr", "num_nodes") or not isinstance(value, Tensor) or value.dim() == 0:
            continue
        if batch.is_edge_attr(key) and value.shape[0] == edges:
            edge[key] = value if order is None else value[order]
        elif batch.is_node_attr(key) and value.shape[0] == nodes and not _per_graph(batch, key, ptr):
            node[key] = value
    y = batch.get("y")
    if y is not None:
        if y.dim() == 1 and y.numel() != graphs:
            if y.numel() % graphs:
                raise InputError(f"{y.numel()} labels for {graphs} graphs: store y of each graph as shape [1, targets]")
            y = y.view(graphs, -1)
        elif y.dim() > 0 and y.shape[0] != graphs:
            raise InputError(
                f"y has {y.shape[0]} rows for {graphs} graphs: store y of each graph as shape [1, targets]"
            )
    return Pack(ptr, offsets(torch.bincount(owner, minlength=graphs)), edge_index, node, edge, y)


def _per_graph(batch: Batch, key: str, ptr: Tensor) -> bool:
    """A graph-level tensor may have as many rows as there are nodes by accident; the batch's own slices tell."""
    slices = (getattr(batch, "_slice_dict", None) or {}).get(key)
    return isinstance(slices, Tensor) and not torch.equal(slices, ptr.to(slices.device))


def check_pack(p: Pack) -> None:
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
