"""What a cost says of each node of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from epic.distance.pairs import embed_all, embed_both
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs
from epic.matching.types import Pricing

CHUNK = 4096
"""Reference nodes compared at a time."""


@dataclass(frozen=True)
class Explanation:
    """Prices of the nodes of one graph.

    ``deletion`` and ``insertion`` are the prices of deleting and inserting each node; ``substitution`` is the mean
    price of turning it into a node of the reference graphs (None without any).
    """

    deletion: Tensor
    insertion: Tensor
    substitution: Tensor | None = None


@torch.no_grad()
def explain(cost: Pricing, graph: Graphs, reference: Graphs | None = None) -> Explanation:
    """Price the nodes of one graph; all nodes of the reference graphs count alike. See :meth:`epic.Cost.explain`."""
    one = pack(graph)
    if len(one) != 1:
        raise InputError(f"explain takes one graph, got {len(one)}: call it for each")
    if reference is None:
        own = embed_all(cost, one)
        return Explanation(own.deletion, own.insertion)
    own, others = embed_both(cost, one, reference)
    nodes = others.embedding.shape[0]
    if nodes == 0:
        raise InputError(f"the {len(others)} reference graphs have no nodes to compare with")
    total = torch.zeros_like(own.deletion)
    for part in others.embedding.split(CHUNK):
        total += cost.substitution(own.embedding, part).sum(1)
    return Explanation(own.deletion, own.insertion, total / nodes)
