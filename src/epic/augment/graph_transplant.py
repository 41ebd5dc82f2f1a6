"""Graph Transplant: the part of a graph that the model looks at most, set into another graph."""

from __future__ import annotations

from dataclasses import replace as changed

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from epic.augment import checks
from epic.augment.base import MethodInfo
from epic.augment.params import param
from epic.augment.sampling import another
from epic.augment.training import TrainingMethod, need_parts
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs, join, offsets
from epic.graphs.ragged import firsts, ranks
from epic.graphs.subgraphs import keep_nodes, never_empty, undirected
from epic.labels import mix
from epic.random import uniform

SALIENCY = "epic.saliency"


class GraphTransplant(TrainingMethod):
    """Replace a random region of a graph by the most salient part of another, and join the cut edges.

    Park, Shim and Yang, Graph Transplant: Node Saliency-Guided Graph Mixup with Local Structure Preservation, AAAI
    2022. The saliency of a node is the norm of the gradient of the loss there. The ``centres`` share of most salient
    nodes of the source, and as large a share of random nodes of the target, grow by 1 to ``hops`` rounds, in which each
    new neighbour is taken with probability ``spread``. The source's part replaces the target's region.
    Cut edges are joined at random, one of the source to one of the target, so that no degree grows and most stay. The
    label weighs the source by the share of its saliency that came, against the share of the target's that remains.

    All this needs the current model, so it happens in :meth:`loss`: called alone, the method gives the plain batch with
    float labels, and it has no graphs to generate.

    Our choices: gradients are taken at the output of the encoder, because at the last layer a pooled sum makes them the
    same for all nodes of a graph; ``spread``; partners are random graphs of the batch; one node at least remains of the
    target; edges left over on the longer side, and joins that would double an edge, are dropped; of the two ways to
    rejoin in the paper, the one without a second network. BatchNorm sees the pass for saliency too. Edge attributes
    are kept: a join has those, and the direction, of the source's cut edge.
    """

    info = MethodInfo(
        paper="Park et al., Graph Transplant, AAAI 2022",
        changes="nodes, edges: a region replaced by a salient part of another graph",
        needs="the model in training, with encode, embed, head",
        label="mixed by share of saliency",
        edge_attr="kept; joins have those of the source",
        cost="one more forward and backward for saliency",
    )
    mixes = True
    makes_graphs = True

    hops: int = param(
        default=3, grid=(1, 2), check=checks.count, kw_only=False, help="largest number of rounds of growth"
    )
    centres: float = param(default=0.1, check=checks.share, help="of the nodes, from which regions grow")
    spread: float = param(default=0.5, check=checks.share, help="chance that a neighbour is taken in a round")
    ratio: float = param(default=0.5)
    replace: bool = param(default=False)
    degree_features: bool | None = param(default=None)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        batch = self.ensure_augmented(batch)
        generator = self.step_generator(batch)
        graphs = pack(batch, check=False)
        graphs = changed(graphs, node={**graphs.node, SALIENCY: self.saliency(model, batch)})
        mixed = super().augment_batch(graphs, generator)
        del mixed[SALIENCY]
        return self.criterion(model(mixed), mixed.y)

    def saliency(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return the norm of the gradient of the loss by the encoded vector of each node.

        Args:
            model: A model with ``encode``, ``embed`` and ``head``.
            batch: The graphs.
        """
        parts = need_parts(model, ("encode", "embed", "head"), "GraphTransplant")
        with torch.enable_grad():
            h = parts.encode(batch).detach().requires_grad_()
            value = self.criterion(parts.head(parts.embed(batch, h)), batch.y)
            (gradient,) = torch.autograd.grad(value, h)
        return gradient.norm(dim=1)

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        """Return a graph from each picked one as target; None where saliency is not known, or there is no partner."""
        if SALIENCY not in graphs.node or len(graphs) < 2:
            return None
        count, device = picked.numel(), picked.device
        source, target = graphs.select(another(picked, len(graphs), generator)), graphs.select(picked)
        rounds = 1 + (uniform(count, generator) * self.hops).long().to(device)
        chance = torch.rand(target.num_nodes, generator=generator).to(device)
        part = self._grown(source, source.node[SALIENCY], rounds, generator)
        rest = never_empty(target, ~self._grown(target, chance, rounds, generator), generator)
        come, stay = weight(source, part), weight(target, rest)
        made = transplant(source, target, part, rest, generator)
        return changed(made, y=mix(target.labels, target=source.labels, share=come / (come + stay)))

    def _grown(self, graphs: PackedGraphs, score: Tensor, rounds: Tensor, generator: torch.Generator) -> Tensor:
        """Return the nodes of highest score, and what is reached from them in so many rounds."""
        centres = (self.centres * graphs.sizes.double() - 1e-9).ceil().clamp_min(1)  # 0.1 * 30 is more than 3
        inside = ranks(-score, group=graphs.graph_of_node) < centres[graphs.graph_of_node]
        front, (a, b) = inside, graphs.edge_index
        for done in range(self.hops):
            taken = (torch.rand(inside.numel(), generator=generator) < self.spread).to(inside.device)
            near = torch.zeros_like(inside)
            near[b[front[a]]] = True
            near[a[front[b]]] = True
            front = near & ~inside & taken & (rounds > done)[graphs.graph_of_node]
            inside = inside | front
        return inside


def weight(graphs: PackedGraphs, stays: Tensor) -> Tensor:
    """Return the share of each graph's saliency that lies on marked nodes; of its nodes, where it has no saliency."""
    salient = graphs.node[SALIENCY].double().nan_to_num(0, 0, 0)
    owner = graphs.graph_of_node
    zeros = salient.new_zeros(len(graphs))
    none = zeros.index_add(0, owner, salient) == 0
    salient = torch.where(none[owner], 1.0, salient)
    return zeros.index_add(0, owner, salient * stays) / zeros.index_add(0, owner, salient)


def transplant(
    source: PackedGraphs, target: PackedGraphs, part: Tensor, rest: Tensor, generator: torch.Generator
) -> PackedGraphs:
    """Nodes ``part`` of each source, then nodes ``rest`` of its target, as one graph, with cut edges joined."""
    count, device = len(source), part.device
    one, two = keep_nodes(source, part), keep_nodes(target, rest)
    number = torch.arange(count, device=device)
    both = join([one, two]).select(torch.stack([number, number + count], 1).flatten())
    # Where nodes of each side are now: their place among those kept, moved by the other side's graphs before theirs.
    at_part = offsets(part.long())[:-1] + (both.ptr[:-1:2] - one.ptr[:-1])[source.graph_of_node]
    at_rest = offsets(rest.long())[:-1] + (both.ptr[1::2] - two.ptr[:-1])[target.graph_of_node]
    edge, names = undirected(source)
    cut, inner = _cut(source, part, edge)
    _, ends = _cut(target, rest, undirected(target)[0])
    cut_graph, ends_graph = source.graph_of_node[inner], target.graph_of_node[ends]
    ends_ptr = offsets(torch.bincount(ends_graph, minlength=count))
    place = ranks(torch.rand(cut.numel(), generator=generator).to(device), group=cut_graph)
    order = ranks(torch.rand(ends.numel(), generator=generator).to(device), group=ends_graph)
    shuffled = torch.empty_like(ends)
    shuffled[ends_ptr[ends_graph] + order] = ends
    joined = (place < ends_ptr.diff()[cut_graph]).nonzero()[:, 0]
    partner = shuffled[ends_ptr[cut_graph[joined]] + place[joined]]
    single = firsts(inner[joined] * target.num_nodes + partner)
    joined, partner = joined[single], partner[single]
    # Every directed edge of a joined one is kept, with its outer end moved to the partner.
    to = torch.full_like(names, -1)
    to[cut[joined]] = at_rest[partner]
    kept = (to[edge] >= 0).nonzero()[:, 0]
    ends_kept = source.edge_index[:, kept]
    bridges = torch.where(part[ends_kept], at_part[ends_kept], to[edge[kept]])
    owner = torch.cat([both.graph_of_node[both.edge_index[0]] // 2, source.graph_of_node[ends_kept[0]]])
    order = owner.argsort(stable=True)
    return PackedGraphs(
        both.ptr[::2],
        offsets(torch.bincount(owner, minlength=count)),
        torch.cat([both.edge_index, bridges], 1)[:, order],
        both.node,
        {k: torch.cat([v, source.edge[k][kept]])[order] for k, v in both.edge.items()},
    )


def _cut(graphs: PackedGraphs, inside: Tensor, edge: Tensor) -> tuple[Tensor, Tensor]:
    """Find the undirected ones of edges numbered ``edge`` that cross a border, each once: numbers, and ends inside."""
    across = (inside[graphs.edge_index[0]] != inside[graphs.edge_index[1]]).nonzero()[:, 0]
    across = across[firsts(edge[across])]
    a, b = graphs.edge_index[:, across]
    return edge[across], torch.where(inside[a], a, b)
