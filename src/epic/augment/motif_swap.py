"""Motif swap: open triads rewired, and a filter of graphs that no longer look like their class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.params import param
from epic.augment.reliability import HELD_OUT, Descriptors, Logistic, Reliability, probabilities
from epic.data.splits import hold_out
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, join, matrix, offsets, ranges
from epic.graphs.ragged import ranks
from epic.graphs.subgraphs import undirected
from epic.labels import soft_labels
from epic.random import digest, uniform

AREA = 1 << 22
"""Pairs of neighbours of a node that are looked at in one go, over all nodes."""


class MotifSwap(Augmentation):
    """Rewire a ``share`` of the edges along open triads, and keep the graph if its label is still reliable.

    Zhou, Shen, Yu, Chen, Xuan, M-Evolve: Structural-Mapping-Based Data Augmentation for Graph Classification, IEEE
    Transactions on Network Science and Engineering 2020 (the mapping by motif and similarity). Two nodes a, b that have
    neighbours in common and no edge are drawn with a chance in proportion to their resource allocation index, the sum
    of 1 / degree over the common neighbours; ``ceil(share * edges)`` such pairs of each graph. One edge on the triads
    a-v-b is then drawn with a chance that falls with the index of its own ends, and moved to a-b. All draws look at the
    original graph; a swap whose edge is already taken is left out, so that the number of edges stays.

    The filter: a classifier gives class probabilities, whose inner product with the mean probabilities of the class has
    to exceed a threshold, chosen to best separate rightly from wrongly classified graphs that the classifier was not
    trained on. There, the model to be improved is this classifier, and is trained again with what passed; here
    :meth:`fit` trains one before training begins, a logistic regression on histograms of labels, degrees and
    neighbourhoods, learned from four fifths of the training graphs and judged on the rest. A graph that fails is drawn
    again up to ``tries`` times in all; then the original stays as it is. ``label_filter=False`` keeps all graphs, and
    ``fit(train, classifier=model)`` takes a trained model of your own (a batch in, class scores out), judged on all
    graphs given. Labels must be classes or one 0/1 task for the filter.

    The edge attribute moves with its edge. In directed graphs triads are found without looking at directions, and an
    edge keeps its own. Self-loops stay.
    """

    info = MethodInfo(
        paper="Zhou et al., M-Evolve, IEEE TNSE 2020",
        changes="edges: open triads rewired",
        needs="fit: a small classifier for its label filter",
        label="unchanged; graphs of doubtful label are refused",
        cost="all pairs of neighbours; the filter's classifier",
    )

    share: float = param(
        default=0.15, grid=(0.05, 0.3), check=checks.share, kw_only=False, help="of the edges to rewire"
    )
    label_filter: bool = param(default=True, check=checks.flag, help="refuse graphs of doubtful label")
    tries: int = param(default=3, check=checks.count, help="draws before the original is kept")

    _reliable: Reliability | None = None

    def prepare(self, graphs: PackedGraphs, classifier: Callable | None = None, **options: Any) -> None:
        """Make the filter; ``classifier`` is a trained model of your own."""
        super().prepare(graphs, **options)
        if not self.label_filter:
            return
        y = soft_labels(graphs.labels, self.num_classes_)
        label, num_classes = self._class_of(y), max(2, y.shape[1])
        known = (label >= 0).nonzero()[:, 0]
        graphs, label = graphs.select(known), label[known]
        if classifier is not None:
            self._reliable = Reliability.of(partial(probabilities, classifier), graphs, label, num_classes)
            return
        graphs, label = graphs.to("cpu"), label.cpu()
        learn, judge = hold_out(label, share=HELD_OUT, seed=self.seed_)
        # Degree features say nothing that the degrees do not.
        describe = Descriptors.of(graphs, use_x=self.found_.degrees is None)
        model = Logistic.fit(describe, graphs.select(learn), label[learn], num_classes)
        self._reliable = Reliability.of(model, graphs.select(judge), label[judge], num_classes)

    def fingerprint(self) -> str:
        """Return a text that differs where augmented graphs do; the filter tells by its prototypes and threshold."""
        known = self._reliable
        return super().fingerprint() + ("" if known is None else f" {known.threshold} {digest(known.prototypes)}")

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        chosen = graphs.select(picked)
        if not self.label_filter:
            return swap(chosen, self.share, generator)
        if self._reliable is None:
            raise InputError("MotifSwap needs a classifier for its filter: call fit(train), or pass label_filter=False")
        if chosen.y is None:
            raise InputError("MotifSwap's filter needs labels y: give each graph one, or pass label_filter=False")
        label = self._class_of(soft_labels(chosen.y, self.num_classes_))
        waiting = torch.arange(len(chosen), device=chosen.ptr.device)
        parts, order = [], []
        for _ in range(self.tries):
            found = swap(chosen.select(waiting), self.share, generator)
            degrees = self.found_.degrees
            seen = found if degrees is None else degrees.refresh(found)
            fine = self._reliable(seen, label[waiting])
            parts.append(found.select(fine.nonzero()[:, 0]))
            order.append(waiting[fine])
            waiting = waiting[~fine]
            if waiting.numel() == 0:
                break
        made = join([*parts, chosen.select(waiting)])
        return made.select(torch.cat([*order, waiting]).argsort())

    def origin(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator, made: PackedGraphs) -> Tensor:
        return torch.eye(len(graphs), device=picked.device)[picked]

    def _class_of(self, y: Tensor) -> Tensor:
        """Class of each graph, -1 where it is not known."""
        rows = matrix(y)
        if self.task_ == "classes":
            return rows.argmax(1)
        if self.task_ == "binary" and rows.shape[1] == 1:
            return torch.where(torch.isnan(rows[:, 0]), -1, (rows[:, 0] > 0.5).long())
        raise InputError(
            f"MotifSwap's filter needs classes or one 0/1 task, but y holds {rows.shape[1]} columns of {self.task_}: "
            "pass label_filter=False"
        )


def swap(graphs: PackedGraphs, share: float, generator: torch.Generator) -> PackedGraphs:
    """Return the graphs with edges rewired along open triads; see :class:`MotifSwap`."""
    if graphs.edge_index.shape[1] == 0 or share == 0:
        return graphs
    area = graphs.degree().double().square()
    area = area.new_zeros(len(graphs)).index_add_(0, graphs.graph_of_node, area)
    chunk = (area.cumsum(0) / AREA).long().cpu()
    if chunk[0] == chunk[-1]:
        return replace(graphs, edge_index=_swapped(graphs, share, generator))
    parts = [graphs.select((chunk == c).nonzero()[:, 0].to(graphs.ptr.device)) for c in chunk.unique()]
    return join([replace(p, edge_index=_swapped(p, share, generator)) for p in parts])


def _swapped(graphs: PackedGraphs, share: float, generator: torch.Generator) -> Tensor:
    nodes, device = graphs.num_nodes, graphs.ptr.device
    edge_of_arc, names = undirected(graphs)
    low, high = names // nodes, names % nodes
    # Every edge from both of its ends, ordered by that end.
    simple = (low != high).nonzero()[:, 0]
    centre, order = torch.cat([low[simple], high[simple]]).sort(stable=True)
    edge = simple.repeat(2)[order]
    other = low[edge] + high[edge] - centre
    degree = torch.bincount(centre, minlength=nodes)

    # Triads a-v-b, a < b, as pairs of edges that leave v.
    first = torch.repeat_interleave(torch.arange(centre.numel(), device=device), degree[centre])
    second = ranges(offsets(degree)[centre], degree[centre])
    triad = (other[first] < other[second]).nonzero()[:, 0]
    first, second = first[triad], second[triad]
    pairs, pair_of = (other[first] * nodes + other[second]).unique(return_inverse=True)
    index = torch.zeros(pairs.numel(), dtype=torch.double, device=device)
    index.index_add_(0, pair_of, 1.0 / degree[centre[first]].double())

    joined = torch.isin(pairs, names)
    of_edge = torch.zeros(names.numel(), dtype=torch.double, device=device)
    of_edge[torch.searchsorted(names, pairs[joined])] = index[joined]

    # Pairs to join: so many of each graph, the likelier the higher their index.
    free = (~joined).nonzero()[:, 0]
    owner = graphs.graph_of_node[pairs[free] // nodes]
    rank = ranks(-index[free].log() - _gumbel(free.numel(), generator).to(device), group=owner)
    edges = torch.bincount(graphs.graph_of_node[low[simple]], minlength=len(graphs))
    budget = (share * edges - 1e-9).ceil().long()  # 0.15 * 20 is a little more than 3
    turn = torch.full((pairs.numel(),), -1, device=device)
    turn[free] = torch.where(rank < budget[owner], rank, -1)

    # One edge of their triads to move, the likelier the lower its index.
    here = (turn[pair_of] >= 0).nonzero()[:, 0]
    first, second, of = first[here], second[here], pair_of[here].repeat(2)
    moved = torch.cat([edge[first], edge[second]])
    to = torch.cat([other[second], other[first]])
    total = torch.zeros_like(index).index_add_(0, of, of_edge[moved])[of]
    weight = 1 - of_edge[moved] / torch.where(total > 0, total, 1.0)
    score = weight.clamp_min(0).log() + _gumbel(moved.numel(), generator).to(device)
    best = (ranks(-score, group=of) == 0).nonzero()[:, 0]
    # An edge that two pairs want goes to the pair drawn first.
    best = best[ranks(turn[of[best]], group=moved[best]) == 0]
    from_node = torch.full((names.numel(),), -1, device=device)
    to_node = from_node.clone()
    via = torch.cat([centre[first], centre[second]])
    from_node[moved[best]], to_node[moved[best]] = via[best], to[best]
    return torch.where(graphs.edge_index == from_node[edge_of_arc], to_node[edge_of_arc], graphs.edge_index)


def _gumbel(count: int, generator: torch.Generator) -> Tensor:
    """Noise that makes the largest of ``log weight + noise`` a draw by weight, and the k largest one without
    replacement.
    """
    return -(-(uniform(count, generator).clamp_min(1e-300)).log()).log()
