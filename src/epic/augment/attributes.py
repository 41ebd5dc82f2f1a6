"""Attributes of whole graphs, which travel with graphs that keep their identity."""

from __future__ import annotations

from torch import Tensor
from torch_geometric.data import Batch, Data

from epic.graphs.packed import Graphs, PackedGraphs

_KNOWN = frozenset({"edge_index", "adj_t", "y", "batch", "ptr", "num_nodes", "augmented"})


def with_graph_attributes(result: Batch, graphs: Graphs, packed: PackedGraphs, identity: Tensor) -> Batch:
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
    known = _KNOWN | packed.node.keys() | packed.edge.keys()
    keys = [k for k in _keys(graphs) if k not in known and not k.endswith(("_batch", "_ptr"))]
    if bool(result.augmented.any()):
        keys = [k for k in keys if not names_nodes(k)]
    if not keys or int(identity.min()) < 0:
        return result
    originals = graphs.to_data_list() if isinstance(graphs, Batch) else list(graphs)
    completed = result.to_data_list()
    for data, original in zip(completed, identity.tolist(), strict=True):
        for key in keys:
            data[key] = originals[original][key]
    return Batch.from_data_list(completed)


def names_nodes(key: str) -> bool:
    """Return whether an attribute holds numbers of nodes, by PyG's rule; in a changed graph they would be wrong."""
    return "index" in key or key == "face"


def _keys(graphs: Graphs) -> list[str]:
    """Return the attributes that all graphs have."""
    if isinstance(graphs, Batch):
        return list(graphs.keys())
    if not isinstance(graphs, (list, tuple)) or not all(isinstance(g, Data) for g in graphs):
        return []  # packed graphs have none
    first, *rest = (g.keys() for g in graphs)
    return [k for k in first if all(k in other for other in rest)]
