"""Node features that are degrees must follow the edges: after an edit they are computed again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix


@dataclass(frozen=True)
class DegreeFeatures:
    """``x`` holds degrees: one-hot, clamped at the last of ``width`` columns, or as a number in a single column.

    ``end`` 0 counts outgoing edges, 1 incoming ones (the same in undirected graphs).
    """

    width: int
    end: int = 0

    def __post_init__(self) -> None:
        if self.width < 1 or self.end not in (0, 1):
            raise InputError(f"degrees cannot be in {self.width} columns, counted at end {self.end} of an edge")

    def compute(self, graphs: PackedGraphs, dtype: torch.dtype) -> Tensor:
        """Return the degrees of all nodes in the form of ``x``, as a matrix."""
        degree = graphs.degree(self.end)
        if self.width == 1:
            return degree[:, None].to(dtype)
        x = torch.zeros(graphs.num_nodes, self.width, dtype=dtype, device=degree.device)
        return x.scatter_(1, degree.clamp_max(self.width - 1)[:, None], 1)

    def refresh(self, graphs: PackedGraphs) -> PackedGraphs:
        """Return the same graphs with ``x`` computed again."""
        x = graphs.node["x"]
        if matrix(x).shape[1] != self.width:
            raise InputError(
                f"x has {matrix(x).shape[1]} columns, but degrees were found in {self.width}: call fit again"
            )
        return replace(graphs, node={**graphs.node, "x": self.compute(graphs, x.dtype).view(x.shape)})


def informative(graphs: PackedGraphs) -> bool:
    """Return whether ``x`` can tell if it holds degrees.

    A constant cannot, even where all nodes happen to have that degree.
    """
    x = graphs.x
    if x is None or graphs.edge_index.shape[1] == 0 or x.dtype == torch.bool or x[:1].numel() == 0:
        return False
    return not bool((x == x[:1]).all())


def detect(graphs: PackedGraphs) -> DegreeFeatures | None:
    """Return the degree features, if that is what ``x`` holds throughout."""
    if graphs.x is None or not informative(graphs):
        return None
    flat = matrix(graphs.x)
    for end in (0, 1):
        spec = DegreeFeatures(flat.shape[1], end)
        if torch.equal(spec.compute(graphs, flat.dtype), flat):
            return spec
    return None


def demanded(graphs: PackedGraphs) -> DegreeFeatures:
    """Return the degree features that the user says there are; refuse if ``x`` contradicts."""
    if graphs.x is None:
        raise InputError("degree_features=True, but the graphs have no x")
    spec = detect(graphs)
    if spec is None:
        raise InputError(
            "degree_features=True, but x holds neither degrees in one column nor one-hot degrees: "
            "pass degree_features=False, call fit(train) first if these graphs are few, or make x with "
            "torch_geometric.transforms.OneHotDegree"
        )
    return spec
