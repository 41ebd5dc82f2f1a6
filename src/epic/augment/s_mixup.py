"""S-Mixup: two graphs averaged after a soft alignment of their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.dense import dense
from epic.augment.learn_matching import Matching, train_matching
from epic.augment.mixtures import mixture
from epic.augment.params import param
from epic.augment.sampling import another, beta
from epic.costs.learning import Epoch
from epic.errors import InputError, choose
from epic.graphs.packed import PackedGraphs, matrix
from epic.nn.matching_network import AREA, Block, MatchingNetwork, blocks
from epic.random import digest


class SMixup(Augmentation):
    """Average a graph with another one that a learned soft assignment has laid onto its nodes.

    Ling et al., Graph Mixup with Soft Alignments, ICML 2023. A graph matching network, learned in :meth:`fit` from
    triplets of training graphs, gives vectors to the nodes of both graphs; ``M`` is the softmax of their similarity
    over the nodes of the first, for each node of the second. Then ``A = l A1 + (1 - l) M A2 M'``, without entries below
    ``cut``, ``X = l X1 + (1 - l) M X2``, labels alike, ``l`` the larger of b and 1 - b, b from Beta(``alpha``,
    ``alpha``). Edges are weighted (``edge_weight``), which the backbones honour. All graphs of a batch are replaced by
    mixtures, as there.

    ``temperature`` divides the similarity. At 1 the plan is nearly uniform, each entry close to one over the number of
    nodes, and almost no edge of the second graph is heavy enough to survive the cut; small values align sharply.
    ``hidden_channels`` and ``num_layers`` are those of the network. Options of ``fit`` are those of
    :class:`epic.augment.learn_matching.Matching`, and ``folder``: where learned networks are kept, to be used again
    where all that decides them is the same.

    Our choices: similarity is the cosine. Graphs are paired two and two, and one run of the network serves both
    mixtures. An edge's attributes are averages by the weight that each edge brings to it. Integer categories have no
    average and are refused; other attributes are dropped. Degree features are mixed like any other, because degrees
    count edges and not their weights. Directed graphs need nothing special.
    Self-loops may arise, as the formula has them.
    """

    info = MethodInfo(
        paper="Ling et al., Graph Mixup with Soft Alignments, ICML 2023",
        changes="everything: weighted edges and features of two aligned graphs averaged",
        needs="fit: learns a matching network; float features",
        label="mixed by the share of each graph",
        edge_attr="averages (float only)",
        cost="the matching network on each pair",
    )
    mixes = True
    follows_degrees = False
    learns = True
    stores = True

    alpha: float = param(
        default=1.0, grid=(0.1, 10.0), check=checks.positive, kw_only=False, help="shares follow Beta(alpha, alpha)"
    )
    temperature: float = param(
        default=1.0, grid=(0.1, 0.02), check=checks.positive, help="of the softmax that aligns nodes"
    )
    cut: float = param(default=0.1, check=checks.share, help="below which weights of edges go")
    hidden_channels: int = param(default=100, check=checks.count, help="of the matching network")
    num_layers: int = param(default=5, check=checks.count, help="of the matching network")
    ratio: float = param(default=1.0)
    replace: bool = param(default=True)

    history_: Sequence[Epoch] = ()
    _network: MatchingNetwork | None = None

    @property
    def network(self) -> MatchingNetwork:
        if self._network is None:
            raise InputError("S-Mixup needs its matching network: call fit(train) first")
        return self._network

    def prepare(self, graphs: PackedGraphs, **options: Any) -> None:
        """Train the matching network; ``history_`` then tells how well it orders triplets."""
        checks.need_float(graphs, "S-Mixup")
        progress, folder = options.pop("progress", True), options.pop("folder", None)
        for name in options:
            choose(name, Matching.__dataclass_fields__, "option of fit")
        self._network, self.history_ = train_matching(
            graphs,
            Matching(**{"seed": self.seed_, **options}),
            hidden_channels=self.hidden_channels,
            num_layers=self.num_layers,
            task=self.task_,
            folder=folder,
            progress=progress,
        )

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} {digest(*self.network.state_dict().values())}"

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        checks.need_float(graphs, "S-Mixup")
        if len(graphs) < 2:
            return None
        one, two, place = _couples(picked, len(graphs), generator)
        base, other = torch.cat([one, two]), torch.cat([two, one])
        share = beta(base.numel(), self.alpha, self.alpha, generator).to(base.device)
        share = torch.maximum(share, 1 - share)
        pairs = graphs.select(base)
        network = self.network
        if next(network.parameters()).device != base.device:  # to() with nothing to do takes a sixth of the time
            network.to(base.device)
        channels = 1 if graphs.edge_attr is None else 1 + matrix(graphs.edge_attr).shape[1]
        parts = blocks(pairs.ptr, AREA // channels)
        h = network(pairs, parts)
        mixed = blend(pairs, h, parts, share.to(h.dtype), self.temperature, self.cut)
        mixed = mixture(mixed, graphs.labels, graphs.titles, source=base, target=other, share=1 - share)
        return mixed if place.numel() == base.numel() else mixed.select(place)


def _couples(picked: Tensor, graphs: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Picked graphs in pairs, and where each of them is among [first of the pairs, second of the pairs].

    An odd last one, and those that would meet themselves, are paired with any other graph.
    """
    half = picked.numel() // 2
    first, second = picked[:half], picked[half : 2 * half]
    clash = first == second
    alone = torch.cat([second[clash], picked[2 * half :]])
    one = torch.cat([first, alone])
    two = another(one, graphs, generator)
    two[:half] = torch.where(clash, two[:half], second)
    place = torch.arange(picked.numel(), device=picked.device)
    place[half:] += alone.numel()  # the seconds come after the lone ones
    own = torch.cat([clash, clash.new_ones(picked.numel() % 2)])
    place[half:][own] = half + torch.arange(alone.numel(), device=picked.device)
    return one, two, place


def plans(h: Tensor, part: Block, temperature: float) -> tuple[Tensor, Tensor]:
    """Soft assignments ``[P, N, N]`` of second to first graphs, and of first to second; columns of nodes sum to 1.

    ``h`` are node vectors of length 1.
    """
    one, two = h[part.index]
    score = one @ two.transpose(1, 2) / temperature
    first, second = part.real
    both = first[:, :, None] & second[:, None, :]
    score = score.masked_fill(~both, -torch.inf)

    def columns(value: Tensor, real: Tensor) -> Tensor:
        return value.softmax(1).masked_fill(~real, 0.0)  # padded columns have no node to share out

    return columns(score, both), columns(score.transpose(1, 2), both.transpose(1, 2))


def blend(
    pairs: PackedGraphs, h: Tensor, parts: list[Block], share: Tensor, temperature: float, cut: float
) -> PackedGraphs:
    """Every graph averaged with its partner, on its own nodes; without labels."""
    x = None if pairs.x is None else matrix(pairs.x)
    new_x = None if x is None else torch.empty_like(x)
    found: list[tuple[Tensor, Tensor, Tensor]] = []
    h = F.normalize(h, dim=1)
    for part in parts:
        onto = torch.cat(plans(h, part, temperature))  # [2P, N, N]
        graph, index, real = part.graph.flatten(), part.index.flatten(0, 1), part.real.flatten(0, 1)
        part_share = share[graph]
        if x is not None and new_x is not None:
            own = x[index] * real[:, :, None]
            away = onto.to(x.dtype) @ _swapped(own)
            new_x[index[real]] = torch.lerp(away, own, part_share[:, None, None].to(x.dtype))[real]
        own = dense(pairs, graph, index.shape[1]).to(h.dtype)
        away = onto[:, None] @ _swapped(own) @ onto[:, None].transpose(2, 3)
        value = torch.lerp(away, own, part_share[:, None, None, None])
        weight = value[:, 0]
        even = (own[:, 0] == own[:, 0].transpose(1, 2)).all(2).all(1)
        even = (even & _swapped(even))[:, None, None]
        # Rounding must not cut one direction of an edge and leave the other.
        weight = torch.where(even, (weight + weight.transpose(1, 2)) / 2, weight)
        g, u, v = (weight >= max(cut, 1e-12)).nonzero().T
        ends = pairs.ptr[graph[g]] + torch.stack([u, v])
        found.append((ends, weight[g, u, v], value[g, 1:, u, v] / value[g, :1, u, v]))
    ends, weight, attr = (torch.cat(v, dim=-1 if k == 0 else 0) for k, v in enumerate(zip(*found, strict=True)))
    order = torch.argsort(ends[0], stable=True)
    ends = ends[:, order]
    edge = {"edge_weight": weight[order]}
    if pairs.edge_attr is not None:
        edge["edge_attr"] = attr[order].to(pairs.edge_attr.dtype).view(-1, *pairs.edge_attr.shape[1:])
    node = {} if new_x is None or pairs.x is None else {"x": new_x.view(pairs.x.shape)}
    return PackedGraphs(pairs.ptr, torch.searchsorted(ends[0].contiguous(), pairs.ptr), ends, node, edge)


def _swapped(value: Tensor) -> Tensor:
    """Return the partners' rows: second half first."""
    return value.roll(len(value) // 2, 0)
