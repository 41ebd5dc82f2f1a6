"""Costs learned from labelled graphs, the heart of EPIC (Heo et al. 2024)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from epic.costs.base import Cost
from epic.costs.learning import Epoch, Learning, learn
from epic.data.splits import hold_out
from epic.errors import InputError, choose
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs, PackedGraphs
from epic.matching.euclidean import euclidean
from epic.matching.types import NodeCosts
from epic.nn.cost_network import CostNetwork
from epic.nn.layers import BACKBONES, FeatureSchema
from epic.random import base_seed


class LearnedCost(Cost):
    """A substitution costs the distance of two node embeddings; a deletion or insertion, what one small network says of
    the node.

    ``backbone`` is ``gin`` or ``gcn``. Node features may be floats or integer categories; where graphs have no ``x``,
    degrees are used; edge attributes are used where present. Costs are always taken in evaluation mode, so they are a
    property of the graph and not of its batch.
    """

    kind = "learned"
    symmetric = True
    metric = "euclidean"

    def __init__(self, *, backbone: str = "gin", hidden_channels: int = 32, num_layers: int = 3) -> None:
        choose(backbone, BACKBONES, "backbone")
        for name, value in (("hidden_channels", hidden_channels), ("num_layers", num_layers)):
            if value < 1:
                raise InputError(f"{name} must be at least 1, got {value}")
        self.backbone, self.hidden_channels, self.num_layers = backbone, hidden_channels, num_layers
        self.history: list[Epoch] = []
        self.learning: Learning | None = None
        self._network: CostNetwork | None = None

    @property
    def fitted(self) -> bool:
        return self._network is not None

    @property
    def network(self) -> CostNetwork:
        if self._network is None:
            raise InputError("this cost has not been learned yet: call fit(graphs), or LearnedCost.load(path)")
        return self._network

    def fit(
        self,
        graphs: Graphs,
        *,
        validation: Graphs | float = 0.1,
        checkpoint: str | Path | None = None,
        progress: bool = True,
        device: torch.device | str | None = None,
        **options: Any,
    ) -> LearnedCost:
        """Learn from labelled graphs.

        ``validation`` is a share of the graphs to hold out (stratified; 0 for none) or graphs of your own; the epoch
        with the lowest validation loss is kept. ``checkpoint`` names a file written after every epoch: a killed run
        goes on from it, to the same result, and it is removed at the end. Further ``options`` are those of
        :class:`epic.costs.learning.Learning`.
        """
        settings = _learning(options)
        packed = pack(graphs)
        if packed.y is None:
            raise InputError("the graphs have no labels y: learning costs needs them")
        if isinstance(validation, (int, float)):
            stays, out = hold_out(packed.y, share=float(validation), least=2, seed=settings.seed)
            # Two of a class at least, or there is no triplet to validate on.
            train, held = (packed.select(stays), packed.select(out)) if out.numel() else (packed, None)
        else:
            train, held = packed, pack(validation)
        path = None if checkpoint is None else Path(checkpoint)
        nodes = (
            FeatureSchema("degree", (int(train.degree().max()) + 1,))
            if train.x is None
            else FeatureSchema.of(train.x, "x")
        )
        edges = None if train.edge_attr is None else FeatureSchema.of(train.edge_attr, "edge_attr")
        before = self._network
        with torch.random.fork_rng(devices=[]):
            # Initial weights come from the seed; torch.manual_seed would seed other devices too.
            torch.default_generator.manual_seed(settings.seed)
            self._network = CostNetwork(nodes, edges, self.backbone, self.hidden_channels, self.num_layers)
        if device is not None:
            self._network.to(device)
        try:
            history = learn(self, train, held, settings, path, progress)
        except BaseException:
            self._network = before  # a failed or interrupted fit leaves what was there
            raise
        self.history, self.learning = history, settings
        self._network.eval()
        return self

    def embed(self, graphs: PackedGraphs) -> NodeCosts:
        network = self.network
        device = network.device
        embedding, price = network(graphs if graphs.ptr.device == device else graphs.to(device))
        return NodeCosts(embedding, price, price, graphs.ptr.to(device))

    def substitution(self, source: Tensor, target: Tensor) -> Tensor:
        return euclidean(source, target)

    def to(self, device: torch.device | str) -> LearnedCost:
        self.network.to(device)
        return self

    def config(self) -> dict[str, Any]:
        network = self.network
        return {
            "backbone": self.backbone,
            "hidden_channels": self.hidden_channels,
            "num_layers": self.num_layers,
            "nodes": asdict(network.nodes),
            "edges": None if network.edges is None else asdict(network.edges),
        }

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        return dict(self.network.state_dict()), {
            "config": self.config(),
            "learning": None if self.learning is None else asdict(self.learning),
            "history": [asdict(e) for e in self.history],
        }

    @classmethod
    def from_state(cls, tensors: dict[str, Tensor], header: dict[str, Any]) -> LearnedCost:
        config = header["config"]
        cost = cls(**{n: config[n] for n in ("backbone", "hidden_channels", "num_layers")})
        nodes, edges = (
            None if c is None else FeatureSchema(c["kind"], tuple(c["sizes"]))
            for c in (config["nodes"], config["edges"])
        )
        assert nodes is not None
        precision = tensors["price.0.weight"].dtype
        cost._network = (
            CostNetwork(nodes, edges, cost.backbone, cost.hidden_channels, cost.num_layers).to(precision).eval()
        )
        cost._network.load_state_dict(tensors)
        cost.learning = None if header["learning"] is None else Learning(**header["learning"])
        cost.history = [Epoch(**e) for e in header["history"]]
        return cost


def _learning(options: dict[str, Any]) -> Learning:
    for name in options:
        choose(name, Learning.__dataclass_fields__, "option of fit")
    if "seed" in options:
        options = {**options, "seed": base_seed(options["seed"])}  # a generator will do, too
    return Learning(**options)
