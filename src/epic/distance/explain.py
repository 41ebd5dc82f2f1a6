"""What a cost thinks of each node of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from epic.errors import InputError
from epic.graphs.convert import check_same_features, pack
from epic.graphs.packed import Graphs

if TYPE_CHECKING:
    from epic.costs.base import Cost

CHUNK = 4096  # reference nodes compared at a time


@dataclass(frozen=True)
class Explanation:
    """Prices of the nodes of one graph: to lose each, to gain each, and on average to turn each into a node of the
    reference graphs (None without any).
    """

    deletion: Tensor
    insertion: Tensor
    substitution: Tensor | None = None


@torch.no_grad()
def explain(cost: Cost, graph: Graphs, reference: Graphs | None = None) -> Explanation:
    """The prices of the nodes of ``graph``; all nodes of the ``reference`` graphs count alike."""
    one = pack(graph)
    if len(one) != 1:
        raise InputError(f"explain takes one graph, got {len(one)}: call it for each")
    own = cost.measure(one).finite()
    if reference is None:
        return Explanation(own.deletion, own.insertion)
    others = pack(reference)
    check_same_features(one, others)
    to = cost.measure(others).finite()
    nodes = to.embedding.shape[0]
    if nodes == 0:
        raise InputError(f"the {len(others)} reference graphs have no nodes to compare with")
    total = torch.zeros_like(own.deletion)
    for first in range(0, nodes, CHUNK):
        total += cost.substitution(own.embedding, to.embedding[first : first + CHUNK]).sum(1)
    return Explanation(own.deletion, own.insertion, total / nodes)
