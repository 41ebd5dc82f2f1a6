"""Many graphs in a few long tensors, so that work on them needs no loop over graphs.

A :class:`PackedGraphs` is to this library what ``Batch`` is to PyG, with two differences: any subset of its graphs
can be gathered at memory speed (``pack.select``), and which attribute belongs to nodes and which to edges is known
rather than guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from epic.errors import InputError

_EMPTY = Batch(_base_cls=Data)  # to copy: to find out what class it is takes PyG ten times longer
Graphs = Any  # a PackedGraphs, a Batch, one Data, or any sequence of Data (our Dataset and PyG's included)


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
class PackedGraphs:
    """Graphs laid end to end: graph ``g`` owns nodes ``ptr[g]:ptr[g+1]`` and edges ``edge_ptr[g]:edge_ptr[g+1]``.

    A sequence of ``Data`` as well: ``pack[3]`` is a graph, ``pack[:9]`` a PackedGraphs, and any DataLoader takes it.
    """

    ptr: Tensor
    edge_ptr: Tensor
    edge_index: Tensor
    node: Mapping[str, Tensor] = field(default_factory=dict)
    edge: Mapping[str, Tensor] = field(default_factory=dict)
    y: Tensor | None = None

    def __len__(self) -> int:
        return self.ptr.numel() - 1

    def __iter__(self) -> Iterator[Data]:
        return map(self.graph, range(len(self)))

    @overload
    def __getitem__(self, at: int) -> Data: ...
    @overload
    def __getitem__(self, at: slice) -> PackedGraphs: ...
    def __getitem__(self, at: int | slice) -> Data | PackedGraphs:
        numbers = range(len(self))
        if isinstance(at, slice):
            return self.select(torch.tensor(numbers[at], dtype=torch.long, device=self.ptr.device))
        return self.graph(numbers[at])

    def __repr__(self) -> str:
        return f"PackedGraphs({self.contents})"

    @property
    def contents(self) -> str:
        """How much there is of what, in a line."""
        counts = f"{len(self)} graphs, {self.num_nodes} nodes, {self.edge_index.shape[1]} edges"
        kept = {**self.node, **self.edge, **({} if self.y is None else {"y": self.y})}
        return ", ".join([counts, *(f"{k} {list(v.shape)}" for k, v in kept.items())])

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

    def to(self, device: torch.device | str) -> PackedGraphs:
        return PackedGraphs(
            self.ptr.to(device),
            self.edge_ptr.to(device),
            self.edge_index.to(device),
            {k: v.to(device) for k, v in self.node.items()},
            {k: v.to(device) for k, v in self.edge.items()},
            None if self.y is None else self.y.to(device),
        )

    def select(self, index: Tensor) -> PackedGraphs:
        """Gather the graphs ``index``, in that order; a graph may be named many times."""
        index = torch.as_tensor(index, device=self.ptr.device)
        if index.dim() != 1 or index.is_floating_point() or index.dtype in (torch.bool, torch.uint8):
            raise InputError(f"graphs are selected by a list of their numbers, got {index.dtype} {list(index.shape)}")
        if index.numel() and int(index.min()) < 0:
            raise IndexError(f"there is no graph {int(index.min())}")
        size, edges = self.sizes[index], self.edge_ptr.diff()[index]
        ptr, edge_ptr = offsets(size), offsets(edges)
        nodes_at, edges_at = ranges(self.ptr[index], size), ranges(self.edge_ptr[index], edges)
        shift = torch.repeat_interleave(ptr[:-1] - self.ptr[index], edges)
        ends = self.edge_index.index_select(1, edges_at) + shift
        return PackedGraphs(
            ptr,
            edge_ptr,
            ends,
            {k: v.index_select(0, nodes_at) for k, v in self.node.items()},
            {k: v.index_select(0, edges_at) for k, v in self.edge.items()},
            None if self.y is None else self.y.index_select(0, index.to(self.y.device)),
        )

    def edited(
        self, ptr: np.ndarray, edge_ptr: np.ndarray, edge_index: np.ndarray, node_at: np.ndarray, edge_at: np.ndarray
    ) -> PackedGraphs:
        """Build new graphs from nodes and edges of these, without labels.

        Args:
            ptr: offsets of the new graphs' nodes.
            edge_ptr: offsets of the new graphs' edges.
            edge_index: ends of the new edges.
            node_at: the old node that each new node takes its attributes from.
            edge_at: the old edge that each new edge takes its attributes from.

        Returns:
            The new graphs.
        """
        arrays = (ptr, edge_ptr, edge_index, node_at, edge_at)
        nodes, edges, ends, node_from, edge_from = (torch.from_numpy(a).to(self.ptr.device) for a in arrays)
        return PackedGraphs(
            nodes,
            edges,
            ends,
            {k: v.index_select(0, node_from) for k, v in self.node.items()},
            {k: v.index_select(0, edge_from) for k, v in self.edge.items()},
        )

    def only(self, other: PackedGraphs) -> PackedGraphs:
        """Drop node and edge attributes that ``other`` lacks or holds in another width."""

        def shared(mine: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
            return {k: v for k, v in mine.items() if k in theirs and theirs[k].shape[1:] == v.shape[1:]}

        return PackedGraphs(
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
                data[key] = value[a:b].clone()  # a view would drag the whole pack along when saved or sent
        if self.y is not None:
            data.y = self.y[g : g + 1].clone()
        return data

    def to_batch(self, **of_graphs: Tensor) -> Batch:
        """The same graphs as a PyG ``Batch``, separable again with ``to_data_list``; further attributes have a row for
        each graph.
        """
        batch = copy(_EMPTY)
        store = batch._store._mapping  # batch[key] = value, but for a long look for a property of that name
        zeros = torch.zeros(len(self), dtype=torch.long)
        slices: dict[str, Tensor] = {}
        shift: dict[str, Tensor] = {}

        def put(key: str, value: Tensor, at: Tensor, by: Tensor = zeros) -> None:
            store[key] = value
            slices[key], shift[key] = at, by

        ptr, edge_ptr = self.ptr.cpu(), self.edge_ptr.cpu()
        put("edge_index", self.edge_index, edge_ptr, ptr[:-1])
        for key, value in self.node.items():
            put(key, value, ptr)
        for key, value in self.edge.items():
            put(key, value, edge_ptr)
        row = torch.arange(len(self) + 1)
        for key, value in of_graphs.items() if self.y is None else (("y", self.y), *of_graphs.items()):
            put(key, value, row)
        if "x" not in self.node:
            batch.num_nodes = self.num_nodes
            batch._store._num_nodes = self.sizes.tolist()  # where PyG's own collate keeps them
        store["batch"], store["ptr"] = self.graph_of_node, self.ptr
        batch._num_graphs = len(self)
        batch._slice_dict = slices
        batch._inc_dict = shift
        return batch


def join(packs: Sequence[PackedGraphs]) -> PackedGraphs:
    """Lay packs end to end. All must have the same attributes; labels survive if every pack has them."""
    labels = [p.y for p in packs if p.y is not None]
    return PackedGraphs(
        *_end_to_end([(p.ptr, p.edge_ptr, p.edge_index) for p in packs]),
        {k: torch.cat([p.node[k] for p in packs]) for k in packs[0].node},
        {k: torch.cat([p.edge[k] for p in packs]) for k in packs[0].edge},
        torch.cat(labels) if len(labels) == len(packs) else None,
    )


def _end_to_end(parts: list[tuple[Tensor, Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """Offsets of nodes and edges, and ends of edges, of packs laid end to end."""
    nodes = list(accumulate((int(ptr[-1]) for ptr, _, _ in parts), initial=0))
    edges = list(accumulate((ends.shape[1] for _, _, ends in parts), initial=0))
    ptrs, edge_ptrs, ends = zip(*parts, strict=True)
    return (
        torch.cat([ptrs[0], *(p[1:] + n for p, n in zip(ptrs[1:], nodes[1:], strict=False))]),
        torch.cat([edge_ptrs[0], *(p[1:] + e for p, e in zip(edge_ptrs[1:], edges[1:], strict=False))]),
        torch.cat([p + n for p, n in zip(ends, nodes, strict=False)], dim=1),
    )
