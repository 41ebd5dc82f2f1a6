"""Costs learned from labelled graphs, the heart of EPIC (Heo et al. 2024)."""

from __future__ import annotations

import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from typing_extensions import Self

from epic._io import check_like
from epic.costs.base import Cost, euclidean
from epic.costs.learning import Epoch, Learning, learn
from epic.costs.triplets import split_graphs
from epic.data.dataset import Dataset
from epic.errors import InputError, choose, need_count
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs, PackedGraphs
from epic.labels import known_task, typed
from epic.matching.types import NodeCosts
from epic.nn.cost_network import CostNetwork
from epic.nn.layers import BACKBONES, KINDS, FeatureSchema, feature_schemas
from epic.random import Seed, base_seed, seeded


class _NotLearned(InputError, AttributeError):
    """An attribute that is there after ``fit`` only; ``hasattr`` understands it."""


class LearnedCost(Cost, nn.Module):
    """Costs that a small graph network learns from labels.

    A substitution costs the distance of two node embeddings; a deletion or insertion costs what the network says of the
    node. Node features may be floats or integer categories; degrees are used if graphs have no ``x``, and edge
    attributes if they are there. The network is in evaluation mode except in ``fit``, and ``train()`` does nothing: a
    cost is then a property of the graph and not of its batch.

    Args:
        backbone: ``gin`` or ``gcn``.
        hidden_channels: Width of each layer.
        num_layers: Number of layers.

    Attributes:
        network_: The :class:`epic.nn.cost_network.CostNetwork`, after :meth:`fit`.
        history_: One :class:`epic.costs.Epoch` for each epoch.
        learning_: The :class:`epic.costs.Learning` options that it was fitted with.
    """

    kind = "learned"
    symmetric = True
    metric = "euclidean"
    network_: CostNetwork

    def __init__(self, *, backbone: str = "gin", hidden_channels: int = 32, num_layers: int = 3) -> None:
        super().__init__()
        choose(backbone, BACKBONES, "backbone")
        for name, value in (("hidden_channels", hidden_channels), ("num_layers", num_layers)):
            need_count(value, name)
        self.backbone, self.hidden_channels, self.num_layers = backbone, hidden_channels, num_layers
        self.training = False
        self.history_: list[Epoch] = []
        self.learning_: Learning | None = None

    @property
    def _shape(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("backbone", "hidden_channels", "num_layers")}

    @property
    def fitted(self) -> bool:
        """Whether costs have been learned or loaded."""
        return "network_" in self._modules

    def fit(
        self,
        graphs: Graphs,
        *,
        validation: Graphs | float = 0.1,
        task: str | None = None,
        checkpoint: str | Path | None = None,
        progress: bool = True,
        device: torch.device | str | None = None,
        seed: Seed = 0,
        **options: Any,
    ) -> Self:
        """Learn costs from labelled graphs; the epoch with the lowest validation loss is kept.

        At the end a log message (level INFO) says which share of held-out triplets is in order. It is a warning if that
        is no better than chance.

        Args:
            graphs: Graphs with labels ``y`` of any kind.
            validation: A share of the graphs to hold out (stratified; 0 for none), or graphs.
            task: What the labels are, one of :data:`epic.labels.TASKS`; by default the dataset's, or inferred.
            checkpoint: File written after every epoch. A killed run goes on from it, to the same result; it is removed
                at the end.
            progress: Whether to show a progress bar.
            device: Where to learn, and where the network stays.
            seed: An int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed.
            **options: Fields of :class:`epic.costs.Learning`: ``epochs``, ``batch_size``, ``lr``, ``assignment``, ...

        Raises:
            InputError: The graphs have no labels, or labels that leave nothing to tell apart.
        """
        for name in options:
            choose(name, Learning.__dataclass_fields__, "option of fit")
        settings = Learning(seed=base_seed(seed), **options)
        task = graphs.task if task is None and isinstance(graphs, Dataset) else task
        train = pack(graphs)
        task = known_task(train.labels, task)
        train = replace(train, y=typed(train.labels, task))
        if isinstance(validation, (int, float)):
            train, validation = split_graphs(train, share=float(validation), seed=settings.seed)
        else:
            validation = pack(validation)
            validation = replace(validation, y=typed(validation.labels, task))
        with seeded(settings.seed):
            network = self._network(*feature_schemas(train)).to(device or "cpu")
        before = self._modules.get("network_")
        self.network_ = network
        try:
            options = {"options": settings, "task": task, "checkpoint": checkpoint, "progress": progress}
            self.history_ = learn(self, train=train, validation=validation, **options)
        except BaseException:
            del self.network_
            if before is not None:  # a failed or interrupted fit leaves what was there
                self.network_ = before  # type: ignore[assignment]
            raise
        self.learning_ = settings
        return self

    def train(self, mode: bool = True) -> Self:
        """Do nothing: costs are always taken in evaluation mode, and only :meth:`fit` trains the network."""
        return self

    def embed(self, graphs: PackedGraphs) -> NodeCosts:
        """Embed nodes by the network; one price stands for deletion and insertion (paper, section 3.2)."""
        network = self.network_
        device = network.device
        embedding, price = network(graphs if graphs.ptr.device == device else graphs.to(device))
        return NodeCosts(embedding, price, price, graphs.ptr.to(device))

    def substitution(self, source: Tensor, target: Tensor) -> Tensor:
        """Price substitutions by the Euclidean distance of embeddings, not squared."""
        return euclidean(source, target)

    def __getattr__(self, name: str) -> Any:
        if name == "network_" and not self.fitted:
            raise _NotLearned("this cost has not been learned yet: call fit(graphs), or LearnedCost.load(path)")
        return super().__getattr__(name)

    def __repr__(self) -> str:
        shape = ", ".join(f"{name}={value!r}" for name, value in self._shape.items())
        if not self.fitted:
            return f"{type(self).__name__}({shape}), not learned yet"
        best = min(self.history_, key=lambda e: e.judged, default=None)
        ordered = "" if best is None or best.ordered is None else f", orders {best.ordered:.0%} of held-out triplets"
        return f"{type(self).__name__}({shape}), learned in {len(self.history_)} epochs{ordered}"

    def config(self) -> dict[str, Any]:
        """Return what :meth:`from_state` makes the network from, as JSON values."""
        nodes, edges = self.network_.nodes, self.network_.edges
        return {**self._shape, "nodes": asdict(nodes), "edges": None if edges is None else asdict(edges)}

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        return dict(self.network_.state_dict()), {
            "config": self.config(),
            "learning": None if self.learning_ is None else asdict(self.learning_),
            "history": [asdict(e) for e in self.history_],
        }

    @classmethod
    def from_state(cls, tensors: dict[str, Tensor], header: dict[str, Any]) -> LearnedCost:
        shape = dict(header["config"])
        nodes, edges = (
            None if c is None else FeatureSchema(choose(c["kind"], KINDS, "kind of features"), tuple(c["sizes"]))
            for c in (shape.pop("nodes"), shape.pop("edges"))
        )
        assert nodes is not None
        cost = cls(**shape)
        if cost.num_layers > len(tensors):
            raise InputError(f"{cost.num_layers} layers in {len(tensors)} tensors")
        with torch.device("meta"):  # what the network would be, before memory is asked for
            check_like(tensors, cost._network(nodes, edges).state_dict())
        cost.network_ = cost._network(nodes, edges).to(tensors["price.0.weight"].dtype).eval()
        cost.network_.load_state_dict(tensors)
        cost.learning_ = None if header["learning"] is None else Learning(**header["learning"])
        cost.history_ = [Epoch(**e) for e in header["history"]]
        return cost

    def _network(self, nodes: FeatureSchema, edges: FeatureSchema | None) -> CostNetwork:
        return CostNetwork(nodes, edges, **self._shape)


def needs_learning(cost: Cost | None) -> bool:
    """Return whether a cost is still to be learned: none is given, or one that was not fitted."""
    return cost is None or (isinstance(cost, LearnedCost) and not cost.fitted)


def learned(cost: Cost | None, graphs: PackedGraphs, options: dict[str, Any], **defaults: Any) -> Cost:
    """Return the cost to use: as given, or where it needs learning, a copy fitted to graphs.

    Args:
        cost: What the user gave.
        graphs: Training graphs with labels.
        options: Options of :meth:`LearnedCost.fit` from the user.
        defaults: Further options, unless the user gives them.

    Raises:
        InputError: There are options, but nothing to learn.
    """
    if cost is None or needs_learning(cost):
        fresh: Any = LearnedCost() if cost is None else copy.deepcopy(cost)
        return fresh.fit(graphs, **{**defaults, **options})
    if options:
        raise InputError(f"the cost was given ready, so fit takes no {', '.join(options)}")
    return cost
