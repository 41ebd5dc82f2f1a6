"""Whether an augmented graph still looks like its class: the label filter of M-Evolve (Zhou et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from epic.costs.unit import row_codes
from epic.graphs.packed import PackedGraphs, matrix
from epic.nn.classify import class_scores

BUCKETS = 64
DEGREES = 10
HELD_OUT = 0.2
"""Share of the graphs of each class that the classifier is judged on."""

Classifier = Callable[[PackedGraphs], Tensor]
"""Graphs to probabilities ``[B, K]``."""


@dataclass(frozen=True)
class Reliability:
    """A graph of class k is reliable if its class probabilities agree with ``prototypes[k]``, the mean probabilities of
    the graphs of class k: their inner product has to exceed ``threshold``.
    """

    classifier: Classifier
    prototypes: Tensor
    threshold: float

    @staticmethod
    def of(classifier: Classifier, graphs: PackedGraphs, label: Tensor, num_classes: int) -> Reliability:
        """Find prototypes and threshold from graphs that the classifier was not trained on."""
        chance = classifier(graphs)
        hot = F.one_hot(label, num_classes).to(chance.dtype)
        count = hot.sum(0)[:, None]
        # The prototype of a class without graphs is its one-hot vector.
        prototypes = torch.where(
            count > 0,
            hot.T @ chance / count.clamp_min(1),
            torch.eye(num_classes, dtype=chance.dtype, device=chance.device),
        )
        value = (chance * prototypes[label]).sum(1)
        return Reliability(classifier, prototypes, best_threshold(value, chance.argmax(1) == label))

    def __call__(self, graphs: PackedGraphs, label: Tensor) -> Tensor:
        """Return which graphs may keep their label; those without one (-1) may."""
        chance = self.classifier(graphs)
        value = (chance * self.prototypes.to(chance.device)[label.clamp_min(0)]).sum(1)
        return (value > self.threshold) | (label < 0)


def best_threshold(value: Tensor, right: Tensor) -> float:
    """Return the threshold with the fewest mistakes: right graphs below it, or wrong ones above it.

    It lies half-way between two values, the lowest of equals; it is 0 or 1 only where that is better.

    >>> best_threshold(torch.tensor([0.25, 0.5, 0.75]), torch.tensor([False, True, True]))
    0.375
    """
    ends = torch.cat([value.new_tensor([0.0, 1.0]), value]).unique()
    found = torch.cat([(ends[1:] + ends[:-1]) / 2, value.new_tensor([0.0, 1.0])])
    low, high = value[right].sort().values, value[~right].sort().values
    mistakes = torch.searchsorted(low, found) + high.numel() - torch.searchsorted(high, found, right=True)
    return float(found[mistakes.argmin()])  # argmin gives the first


@dataclass(frozen=True)
class Descriptors:
    """A few hundred numbers of a graph, all cheap: its size, how often it has which node label, degree, and label with
    those of its neighbours (one round of Weisfeiler and Lehman), hashed into buckets.

    ``features`` is ``float`` (their mean is taken), ``int`` or ``none``; ``labels`` says whether rows of ``x`` are so
    few that they can be told apart as labels.
    """

    features: str
    labels: bool

    @staticmethod
    def of(graphs: PackedGraphs, use_x: bool = True) -> Descriptors:
        if graphs.x is None or not use_x:
            return Descriptors("none", False)
        few = row_codes(graphs.x).unique().numel() <= BUCKETS
        return Descriptors("float", few) if graphs.x.is_floating_point() else Descriptors("int", True)

    def __call__(self, graphs: PackedGraphs) -> Tensor:
        size, owner = graphs.sizes.clamp_min(1)[:, None], graphs.graph_of_node
        degree = graphs.degree()

        def histogram(bucket: Tensor, width: int) -> Tensor:
            found = torch.bincount(owner * width + bucket, minlength=len(graphs) * width)
            return found.view(len(graphs), width) / size

        color = degree if not self.labels or graphs.x is None else row_codes(graphs.x) + degree
        near = torch.zeros_like(color).index_add_(0, graphs.edge_index[0], _mixed(color)[graphs.edge_index[1]])
        parts = [size.log(), histogram(degree.clamp_max(DEGREES - 1), DEGREES)]
        parts.append(histogram(_mixed(color * 3 + near) & (BUCKETS - 1), BUCKETS))
        if graphs.x is not None and self.features == "float":
            x = matrix(graphs.x).float()
            parts.append(x.new_zeros(len(graphs), x.shape[1]).index_add_(0, owner, x) / size)
        elif graphs.x is not None and self.features == "int":
            parts.append(histogram(_mixed(row_codes(graphs.x)) & (BUCKETS - 1), BUCKETS))
        return torch.cat(parts, 1)


def _mixed(code: Tensor) -> Tensor:
    """Return codes whose low bits depend on all bits."""
    code = (code ^ (code >> 32)) * 0x5851F42D4C957F2D
    return code ^ (code >> 29)


@dataclass(frozen=True)
class Logistic:
    """Logistic regression on descriptors."""

    describe: Descriptors
    mean: Tensor
    scale: Tensor
    weight: Tensor
    bias: Tensor

    @staticmethod
    def fit(
        describe: Descriptors, graphs: PackedGraphs, label: Tensor, num_classes: int, decay: float = 0.01
    ) -> Logistic:
        """Minimise cross-entropy and ``decay`` times half the square of the weights; nothing is random."""
        value = describe(graphs)
        mean, scale = value.mean(0), value.std(0, unbiased=False)
        scale = torch.where(scale > 1e-6, scale, 1.0)
        value = (value - mean) / scale
        weight = torch.zeros(num_classes, value.shape[1], requires_grad=True)
        bias = torch.zeros(num_classes, requires_grad=True)
        optimizer = torch.optim.LBFGS([weight, bias], max_iter=100, line_search_fn="strong_wolfe")

        def closure() -> float:
            optimizer.zero_grad()
            with torch.enable_grad():
                loss = F.cross_entropy(value @ weight.T + bias, label) + decay / 2 * weight.square().sum()
                loss.backward()
            return float(loss.detach())

        optimizer.step(closure)
        return Logistic(describe, mean, scale, weight.detach(), bias.detach())

    def __call__(self, graphs: PackedGraphs) -> Tensor:
        value = (self.describe(graphs.to(self.mean.device)) - self.mean) / self.scale
        return (value @ self.weight.T + self.bias).softmax(1).to(graphs.ptr.device)


def probabilities(model: Callable, graphs: PackedGraphs) -> Tensor:
    """Return what a user's classifier of batches says; one output for two classes is the score of the second."""
    return class_scores(model, graphs).float().softmax(1).to(graphs.ptr.device)
