"""Convert networkx graphs, without importing networkx."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from epic.errors import InputError


def is_networkx(graph: object) -> bool:
    """Return whether an object is a networkx graph."""
    return all(hasattr(graph, name) for name in ("is_multigraph", "is_directed", "adj", "nodes", "edges"))


def from_networkx(graphs: Sequence[Any]) -> list[Data]:
    """Convert networkx graphs whose attributes are compared with each other.

    Nodes are numbered in the order of ``graph.nodes``; an undirected edge goes both ways. Attributes become ``x`` and
    ``edge_attr``: numbers as they are, in the order of their names, where all nodes (edges) have the same ones; else
    one category for each different dictionary. Nodes without any are all alike (``x`` is 1).

    Args:
        graphs: networkx graphs.

    Returns:
        The same graphs for PyG.

    Raises:
        InputError: a graph has several edges between the same two nodes.
    """
    made, node_dicts, edge_dicts = [], [], []
    for g in graphs:
        if g.is_multigraph():
            raise InputError("a multigraph has several edges between two nodes: convert it, for instance with nx.Graph")
        number = {node: k for k, node in enumerate(g.nodes)}
        ends, attributes = [], []
        for a, b, values in g.edges(data=True):
            both = not g.is_directed() and a != b
            ends += [(number[a], number[b]), (number[b], number[a])] if both else [(number[a], number[b])]
            attributes += [values, values] if both else [values]
        index = torch.tensor(ends, dtype=torch.long).reshape(-1, 2).T.contiguous()
        made.append(Data(edge_index=index, num_nodes=len(number)))
        node_dicts.append([values for _, values in g.nodes(data=True)])
        edge_dicts.append(attributes)
    for data, x, edge_attr in zip(made, _columns(node_dicts), _columns(edge_dicts), strict=True):
        data.x = torch.ones(data.num_nodes, 1) if x is None else x
        if edge_attr is not None:
            data.edge_attr = edge_attr
    return made


def _columns(lists: list[list[Mapping[Any, Any]]]) -> list[Tensor | None]:
    """Turn the attributes of the nodes or edges of several graphs into rows of the same kind."""
    dicts = [d for some in lists for d in some]
    if not any(dicts):
        return [None] * len(lists)
    keys = sorted(dicts[0], key=str)
    if all(d.keys() == dicts[0].keys() and all(map(_is_number, d.values())) for d in dicts):
        rows = [torch.tensor([[float(d[k]) for k in keys] for d in some], dtype=torch.double) for some in lists]
        short = [value.float() for value in rows]
        exact = all(torch.equal(a.double(), b) for a, b in zip(short, rows, strict=True))
        return [value.reshape(-1, len(keys)) for value in (short if exact else rows)]
    numbers: dict[Any, int] = {}
    codes = [[numbers.setdefault(_comparable(d), len(numbers)) for d in some] for some in lists]
    return [torch.tensor(some, dtype=torch.long).reshape(-1, 1) for some in codes]


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that a float can hold."""
    try:
        return isinstance(value, Real) and float(value) == value
    except OverflowError:
        return False


def _comparable(value: Any) -> Any:
    """Return something hashable that is equal for equal values: attributes may be arrays, lists or dictionaries."""
    if isinstance(value, Mapping):
        return "mapping", frozenset((_comparable(k), _comparable(v)) for k, v in value.items())
    if isinstance(value, (Tensor, np.ndarray)):
        return "array", tuple(value.shape), tuple(value.reshape(-1).tolist())
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(map(_comparable, value))
    if isinstance(value, (set, frozenset)):
        return "set", frozenset(map(_comparable, value))
    return value if isinstance(value, Hashable) else repr(value)
