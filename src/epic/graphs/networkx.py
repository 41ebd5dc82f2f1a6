"""Convert networkx graphs, without importing networkx."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

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
    if all(d.keys() == dicts[0].keys() and all(isinstance(v, Real) for v in d.values()) for d in dicts):
        return [torch.tensor([[float(d[k]) for k in keys] for d in some]).reshape(-1, len(keys)) for some in lists]
    return [torch.tensor([_category(d) for d in some], dtype=torch.long).reshape(-1, 1) for some in lists]


def _category(values: Mapping[Any, Any]) -> int:
    """Return a number that is equal for equal dictionaries."""
    said = repr(sorted(((repr(k), v) for k, v in values.items()), key=lambda item: item[0]))
    return int.from_bytes(hashlib.blake2b(said.encode(), digest_size=8).digest(), "little") >> 1
