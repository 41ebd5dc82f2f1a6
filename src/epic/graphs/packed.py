"""Many graphs in a few long tensors, so that work on them needs no loop over graphs.

A :class:`PackedGraphs` is to this library what ``Batch`` is to PyG, with two differences: any subset of its graphs
can be gathered at memory speed (``pack.select``), and which attribute belongs to nodes and which to edges is known
rather than guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from epic.errors import InputError
from epic.labels import matrix as matrix
from epic.random import digest

_EMPTY = Batch(_base_cls=Data)  # to copy: PyG inspects signatures whenever it makes one

ABOUT = ("row", "name", "smiles", "class_names")  # attributes of whole graphs that readers of files give
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


@dataclass(frozen=True)
class PackedGraphs:
    """Graphs laid end to end: graph ``g`` owns nodes ``ptr[g]:ptr[g+1]`` and edges ``edge_ptr[g]:edge_ptr[g+1]``.

    It is a sequence of ``Data`` as well: ``packed[3]`` is a graph, ``packed[:9]`` a PackedGraphs, and any DataLoader
    takes it. Make one with :func:`epic.pack`.

    Args:
        ptr: offsets of the graphs' nodes ``[graphs + 1]``.
        edge_ptr: offsets of the graphs' edges ``[graphs + 1]``.
        edge_index: edges ``[2, edges]``, counted over all nodes.
        node: attributes with a row for each node, ``x`` among them.
        edge: attributes with a row for each edge, ``edge_attr`` among them.
        y: labels, with a row for each graph.
        per_graph: other attributes of whole graphs, such as a name, with an entry of any kind for each graph. They
            travel with unchanged graphs; :meth:`digest` and edited graphs leave them out, and files keep those that
            readers of files give (:data:`ABOUT`).
        node_costs: what :func:`epic.paths.interpolation.embedded` computed of each node ahead of training. Only
            :meth:`select` and :meth:`to` take it along; edited graphs, batches and files have none.
    """

    ptr: Tensor
    edge_ptr: Tensor
    edge_index: Tensor
    node: Mapping[str, Tensor] = field(default_factory=dict)
    edge: Mapping[str, Tensor] = field(default_factory=dict)
    y: Tensor | None = None
    per_graph: Mapping[str, np.ndarray] = field(default_factory=dict)
    node_costs: Mapping[str, Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.ptr.numel() - 1

    def __iter__(self) -> Iterator[Data]:
        return map(self.graph, range(len(self)))

    @overload
    def __getitem__(self, at: int) -> Data: ...
    @overload
    def __getitem__(self, at: slice | Tensor | Sequence) -> PackedGraphs: ...
    def __getitem__(self, at: int | slice | Tensor | Sequence) -> Data | PackedGraphs:
        chosen: Any = at.cpu().numpy() if isinstance(at, Tensor) else list(at) if isinstance(at, tuple) else at
        index = np.arange(len(self))[chosen]
        return self.select(torch.from_numpy(index.copy())) if index.ndim else self.graph(int(index))

    def __repr__(self) -> str:
        return f"PackedGraphs({self.contents})"

    @property
    def contents(self) -> str:
        """Sizes and attributes, in a line."""
        counts = f"{len(self)} graphs, {self.num_nodes} nodes, {self.edge_index.shape[1]} edges"
        kept = {**self.node, **self.edge, **({} if self.y is None else {"y": self.y})}
        return ", ".join([counts, *(f"{k} {list(v.shape)}" for k, v in kept.items()), *self.per_graph])

    @property
    def x(self) -> Tensor | None:
        """Node features."""
        return self.node.get("x")

    @property
    def edge_attr(self) -> Tensor | None:
        """Edge features."""
        return self.edge.get("edge_attr")

    @property
    def labels(self) -> Tensor:
        """The labels ``y``, or an error where there are none."""
        if self.y is None:
            raise InputError("the graphs have no labels y: give each a class, tasks or values")
        return self.y

    @cached_property
    def sizes(self) -> Tensor:
        """Number of nodes of each graph."""
        return self.ptr.diff()

    @cached_property
    def num_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return int(self.ptr[-1])

    @cached_property
    def graph_of_node(self) -> Tensor:
        """Graph of each node; PyG's ``batch``."""
        return torch.repeat_interleave(torch.arange(len(self), device=self.ptr.device), self.sizes)

    def degree(self, end: int = 0) -> Tensor:
        """Return how many edges leave (``end=0``) or reach (``end=1``) each node."""
        return torch.bincount(self.edge_index[end], minlength=self.num_nodes)

    def to(self, device: torch.device | str) -> PackedGraphs:
        """Return the same graphs on a device."""
        return PackedGraphs(
            self.ptr.to(device),
            self.edge_ptr.to(device),
            self.edge_index.to(device),
            {k: v.to(device) for k, v in self.node.items()},
            {k: v.to(device) for k, v in self.edge.items()},
            None if self.y is None else self.y.to(device),
            self.per_graph,
            {k: v.to(device) for k, v in self.node_costs.items()},
        )

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes by number, which each graph carries; empty if they have none."""
        return tuple(next(iter(self.per_graph.get("class_names", ())), ()))

    def title(self, g: int) -> str:
        """Return what graph ``g`` is called: its name and the row of its file, as far as they are known.

        >>> one = PackedGraphs(torch.tensor([0, 0]), torch.tensor([0, 0]), torch.zeros(2, 0, dtype=torch.long))
        >>> one.title(0), replace(one, per_graph={"name": entries(["urea"]), "row": entries([7])}).title(0)
        ('graph 0', 'urea (row 7)')
        """
        return self._known(g) or f"graph {g}"

    def _known(self, g: int) -> str:
        name, row = (self.per_graph[k][g] if k in self.per_graph else None for k in ("name", "row"))
        if not isinstance(row, int):  # others may use the same words for something else
            return name if isinstance(name, str) else ""
        return f"{name} (row {row})" if name and isinstance(name, str) else f"row {row}"

    @cached_property
    def titles(self) -> list[str] | None:
        """What the graphs are called; None unless a name or a row is known of each."""
        if "name" not in self.per_graph and "row" not in self.per_graph:
            return None
        titles = [self._known(g) for g in range(len(self))]
        return titles if all(titles) else None

    def digest(self) -> str:
        """Return a fingerprint of structure, attributes and labels."""
        return digest(self.ptr, self.edge_index, self.y, *self.node.values(), *self.edge.values())

    def select(self, index: Tensor) -> PackedGraphs:
        """Return graphs by their numbers, in any order; a graph may be named many times."""
        index = torch.as_tensor(index, device=self.ptr.device)
        if index.dim() != 1 or index.is_floating_point() or index.dtype in (torch.bool, torch.uint8):
            raise InputError(f"graphs are selected by a list of their numbers, got {index.dtype} {list(index.shape)}")
        if index.numel() and int(index.min()) < 0:
            raise IndexError(f"there is no graph {int(index.min())}")
        size, edges = self.sizes[index], self.edge_ptr.diff()[index]
        ptr, edge_ptr = offsets(size), offsets(edges)
        nodes_at, edges_at = ranges(self.ptr[index], size), ranges(self.edge_ptr[index], edges)
        ends = self.edge_index.index_select(1, edges_at) + torch.repeat_interleave(ptr[:-1] - self.ptr[index], edges)
        return PackedGraphs(
            ptr,
            edge_ptr,
            ends,
            {k: v.index_select(0, nodes_at) for k, v in self.node.items()},
            {k: v.index_select(0, edges_at) for k, v in self.edge.items()},
            None if self.y is None else self.y.index_select(0, index.to(self.y.device)),
            {k: v[index.cpu().numpy()] for k, v in self.per_graph.items()},
            {k: v.index_select(0, nodes_at) for k, v in self.node_costs.items()},
        )

    def edited(
        self, *, ptr: np.ndarray, edge_ptr: np.ndarray, edge_index: np.ndarray, node_at: np.ndarray, edge_at: np.ndarray
    ) -> PackedGraphs:
        """Return new graphs from nodes and edges of these, without labels.

        Args:
            ptr: offsets of the new graphs' nodes.
            edge_ptr: offsets of the new graphs' edges.
            edge_index: ends of the new edges.
            node_at: the old node that each new node takes its attributes from.
            edge_at: the old edge that each new edge takes its attributes from.
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
        """Return the same graphs without node and edge attributes that ``other`` lacks or has in another width."""

        def shared(mine: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
            return {k: v for k, v in mine.items() if k in theirs and theirs[k].shape[1:] == v.shape[1:]}

        return replace(self, node=shared(self.node, other.node), edge=shared(self.edge, other.edge))

    def graph(self, g: int) -> Data:
        """Return graph ``g`` as a PyG ``Data``."""
        n0, n1, e0, e1 = (int(v) for v in (self.ptr[g], self.ptr[g + 1], self.edge_ptr[g], self.edge_ptr[g + 1]))
        data = Data(edge_index=self.edge_index[:, e0:e1] - n0, num_nodes=n1 - n0)
        for store, a, b in ((self.node, n0, n1), (self.edge, e0, e1)):
            for key, value in store.items():
                data[key] = value[a:b].clone()  # a view would drag the whole pack along when saved or sent
        if self.y is not None:
            data.y = self.y[g : g + 1].clone()
        for key, entry in self.per_graph.items():
            # Not copy() for tensors: torch cannot for some kinds of numbers, such as uint16.
            data[key] = entry[g].clone() if isinstance(entry[g], Tensor) else copy(entry[g])
        return data

    def to_batch(self, **per_graph: Tensor | list) -> Batch:
        """Return the graphs as a PyG ``Batch`` that ``to_data_list`` can take apart.

        PyG has no public way to build one from tensors that already lie end to end, so this writes its private
        attributes. To cut 192 NCI1 graphs apart and collate them again takes 10 ms on one core, this 0.1 ms.

        Args:
            **per_graph: further attributes, with a row for each graph.
        """
        result, slices, increments = copy(_EMPTY), {}, {}
        nodes, edges, graphs = self.ptr.cpu(), self.edge_ptr.cpu(), torch.arange(len(self) + 1)
        still = torch.zeros(len(self), dtype=torch.long)
        labels = {} if self.y is None else {"y": self.y}
        for values, cuts, increment in (
            ({"edge_index": self.edge_index}, edges, nodes[:-1]),
            (self.node, nodes, still),
            (self.edge, edges, still),
            ({**labels, **per_graph}, graphs, still),
        ):
            for key, value in values.items():
                result[key] = value
                slices[key], increments[key] = cuts, increment
        if self.x is None:
            result.num_nodes = self.num_nodes
            result._store._num_nodes = nodes.diff().tolist()
        result.batch, result.ptr = self.graph_of_node, self.ptr
        result._num_graphs, result._slice_dict, result._inc_dict = len(self), slices, increments
        return result


def join(packs: Sequence[PackedGraphs]) -> PackedGraphs:
    """Return packed graphs with the same attributes laid end to end; they have labels if every pack has."""
    labels = [p.y for p in packs if p.y is not None]
    nodes = list(accumulate((p.num_nodes for p in packs), initial=0))
    edges = list(accumulate((p.edge_index.shape[1] for p in packs), initial=0))
    return PackedGraphs(
        torch.cat([packs[0].ptr[:1], *(p.ptr[1:] + n for p, n in zip(packs, nodes, strict=False))]),
        torch.cat([packs[0].edge_ptr[:1], *(p.edge_ptr[1:] + e for p, e in zip(packs, edges, strict=False))]),
        torch.cat([p.edge_index + n for p, n in zip(packs, nodes, strict=False)], dim=1),
        {k: torch.cat([p.node[k] for p in packs]) for k in packs[0].node},
        {k: torch.cat([p.edge[k] for p in packs]) for k in packs[0].edge},
        torch.cat(labels) if len(labels) == len(packs) else None,
        {
            k: np.concatenate([p.per_graph[k] for p in packs])
            for k in packs[0].per_graph
            if all(k in p.per_graph for p in packs)
        },
    )


def entries(values: Iterable[object]) -> np.ndarray:
    """Return an array of any things, one for each graph, for ``PackedGraphs.per_graph``.

    >>> entries([[1, 2], [3, 4]]).shape
    (2,)
    """
    return np.fromiter(values, dtype=object)


def weighted_alike(originals: PackedGraphs, made: PackedGraphs) -> PackedGraphs:
    """Return the originals with weight 1 on every edge, where the others have weighted edges."""
    if "edge_weight" not in made.edge or "edge_weight" in originals.edge:
        return originals
    like = made.edge["edge_weight"]
    ones = torch.ones(originals.edge_index.shape[1], dtype=like.dtype, device=like.device)
    return replace(originals, edge={**originals.edge, "edge_weight": ones})
