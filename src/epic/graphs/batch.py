"""The only place that touches private attributes of PyG's ``Batch``.

PyG has no public way to build a separable ``Batch`` from tensors that are already laid end to end. Cutting 192 NCI1
graphs apart and collating them again takes 10 ms on one core, this takes 0.1 ms: a third of a training step saved. The
tests of this file run on the lowest supported version of PyG too.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

_EMPTY = Batch(_base_cls=Data)  # to copy: PyG inspects signatures whenever it makes one


def build_batch(
    ptr: Tensor,
    batch: Tensor,
    edge_ptr: Tensor,
    edge_index: Tensor,
    *,
    node: Mapping[str, Tensor],
    edge: Mapping[str, Tensor],
    graph: Mapping[str, Tensor],
) -> Batch:
    """Build a ``Batch`` that ``to_data_list`` can take apart.

    Args:
        ptr: offsets of the graphs' nodes.
        batch: graph of each node.
        edge_ptr: offsets of the graphs' edges.
        edge_index: edges, counted over all nodes.
        node: attributes with a row for each node.
        edge: attributes with a row for each edge.
        graph: attributes with a row for each graph.

    Returns:
        The batch.
    """
    result = copy(_EMPTY)
    nodes, edges = ptr.cpu(), edge_ptr.cpu()
    rows, zeros = torch.arange(nodes.numel()), torch.zeros(nodes.numel() - 1, dtype=torch.long)
    slices, increments = {}, {}
    stores = (({"edge_index": edge_index}, edges, nodes[:-1]), (node, nodes, zeros), (edge, edges, zeros))
    for values, cuts, increment in (*stores, (graph, rows, zeros)):
        for key, value in values.items():
            result[key] = value
            slices[key], increments[key] = cuts, increment
    if "x" not in node:
        result.num_nodes = batch.numel()
        result._store._num_nodes = nodes.diff().tolist()
    result.batch, result.ptr = batch, ptr
    result._num_graphs, result._slice_dict, result._inc_dict = nodes.numel() - 1, slices, increments
    return result


def is_graph_attribute(batch: Batch, key: str, ptr: Tensor) -> bool:
    """Return whether the batch's own slices say that an attribute is not one of nodes.

    A graph-level tensor may have as many rows as there are nodes by accident.
    """
    slices = (getattr(batch, "_slice_dict", None) or {}).get(key)
    return isinstance(slices, Tensor) and not torch.equal(slices, ptr.to(slices.device))
