"""GREA: the part of each graph that explains its label, put into the surroundings of others."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Batch

from epic.augment import checks
from epic.augment.base import MethodInfo
from epic.augment.params import param
from epic.augment.training import TrainingMethod, need_parts
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs
from epic.nn.layers import BACKBONES, Encoder, FeatureSchema, Layer, feature_schemas
from epic.nn.messages import SortedEdges
from epic.random import derived, seeded


class GREA(TrainingMethod):
    """Learn which nodes matter, and predict the same label from them among the other nodes of any graph of the batch.

    Liu et al., Graph Rationalization with Environment-based Augmentations, KDD 2022. A small GNN, the separator, gives
    each node a gate between 0 and 1; the nodes' vectors from the backbone, pooled with the gates, are the rationale
    ``r`` of a graph, and with one minus the gates its environment ``e``. The loss is that of ``r``, plus that of all
    ``r_i + e_j`` with the label of graph i, plus how far the mean gate of a graph is from ``gamma``. Validation and
    test use ``r`` alone. In turns, the separator is trained for ``separator_epochs`` and the rest for
    ``predictor_epochs``; in a loop that never calls :meth:`on_epoch_start`, both are trained at the same time.

    Our choices: the three losses count alike; pooling is the backbone's own (a sum on TU sets, as in the paper; OGB's
    form takes means), so that ``r + e`` is what the backbone would have computed; the separator has the backbone's
    width and kind of messages; the averages of BatchNorm follow in both turns. Graphs are not changed, so edge
    attributes are kept; both networks use them.
    """

    info = MethodInfo(
        paper="Liu et al., Graph Rationalization with Environment-based Augmentations, KDD 2022",
        changes="vectors of whole graphs: rationale of one, environment of another",
        needs="fit: looks at the features; a model with nodes, pool, head",
        label="that of the rationale",
        cost="a second, small network; the head on all pairs of a batch",
    )

    gamma: float = param(
        default=0.4, grid=(0.1, 0.25, 0.55), check=checks.share, kw_only=False, help="wanted share of rationale nodes"
    )
    separator_epochs: int = param(default=1, check=checks.count, help="epochs in a row for the separator")
    predictor_epochs: int = param(default=3, check=checks.count, help="epochs in a row for the rest")
    separator_layers: int = param(default=2, check=checks.count, help="layers of the separator")

    _schemas: tuple[FeatureSchema, FeatureSchema | None] | None = None

    def prepare(self, graphs: PackedGraphs, **options: Any) -> None:
        """Note what features there are: the separator reads them."""
        super().prepare(graphs, **options)
        if graphs.x is None:
            raise InputError("GREA needs node features x, but the graphs have none: give them one-hot degrees")
        self._schemas = feature_schemas(graphs)

    def wrap_model(self, model: nn.Module) -> nn.Module:
        """Return the backbone with a separator; its first weights are a function of the method's seed."""
        need_parts(model, ("nodes", "pool", "head"), "GREA")
        if self._schemas is None:
            raise InputError("GREA has not seen the features that its separator reads: call fit(train) first")
        shape = getattr(model, "config", None)
        conv = getattr(shape, "conv", BACKBONES[0])
        width = getattr(shape, "hidden_channels", 64)
        with seeded(derived(self.seed_, "separator").initial_seed()):
            return Rationale(model, Separator(*self._schemas, conv, width, self.separator_layers))

    def on_epoch_start(self, model: nn.Module, epoch: int) -> None:
        """Let the separator learn, or everything else: a function of the epoch alone, so that a run can be resumed."""
        super().on_epoch_start(model, epoch)
        model = _rationale(model)
        now = epoch % (self.separator_epochs + self.predictor_epochs) < self.separator_epochs
        model.separator.requires_grad_(now)
        model.backbone.requires_grad_(not now)

    def on_train_end(self, model: nn.Module) -> None:
        """Leave nothing frozen behind."""
        model.requires_grad_(True)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        model = _rationale(model)
        batch = self.ensure_augmented(batch)
        r, e, gate = model.split(batch)
        pairs = (r[:, None] + e[None]).flatten(0, 1)
        alone = self.criterion(model.head(r), batch.y)
        replaced = self.criterion(model.head(pairs), batch.y.repeat_interleave(len(e), 0))
        size = torch.bincount(batch.batch, minlength=batch.num_graphs).clamp_min(1)
        mean = gate.new_zeros(batch.num_graphs).index_add(0, batch.batch, gate[:, 0]) / size
        return alone + replaced + (mean - self.gamma).abs().mean()


class Rationale(nn.Module):
    """A backbone that predicts from the rationale of a graph."""

    backbone: Any  # its parts were looked for before

    def __init__(self, backbone: nn.Module, separator: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.separator = separator

    def head(self, h: Tensor) -> Tensor:
        return self.backbone.head(h)

    def split(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Rationale and environment of each graph, and the gate ``[nodes, 1]`` between them."""
        gate = self.separator(batch)
        h = self.backbone.nodes(batch)
        return self.backbone.pool(gate * h, batch), self.backbone.pool((1 - gate) * h, batch), gate

    def embed(self, batch: Batch) -> Tensor:
        return self.split(batch)[0]

    def forward(self, batch: Batch) -> Tensor:
        return self.head(self.embed(batch))


class Separator(nn.Module):
    """A gate between 0 and 1 for each node, from a small GNN."""

    def __init__(self, nodes: FeatureSchema, edges: FeatureSchema | None, conv: str, width: int, layers: int) -> None:
        super().__init__()
        self.first = Encoder(nodes, width)
        self.layers = nn.ModuleList(Layer(conv, width, edges) for _ in range(layers))
        self.gate = nn.Sequential(
            nn.Linear(width, 2 * width), nn.BatchNorm1d(2 * width), nn.ReLU(), nn.Linear(2 * width, 1), nn.Sigmoid()
        )
        self.uses_edges = edges is not None

    def forward(self, batch: Batch) -> Tensor:
        h = self.first(batch.x, "x")
        attr = batch.edge_attr if self.uses_edges else None
        edges = SortedEdges(batch.edge_index, h.shape[0], batch.get("edge_weight"))
        for layer in self.layers:
            h = F.relu(layer(h, edges, attr))
        return self.gate(h)


def _rationale(model: nn.Module) -> Rationale:
    if not isinstance(model, Rationale):
        raise InputError(
            f"GREA needs the module that wrap_model(backbone) gives, but has a {type(model).__name__}: train that one"
        )
    return model
