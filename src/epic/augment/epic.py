"""EPIC: graphs from the edit paths between training graphs, with labels by the cost spent (Heo et al., IJCAI 2024)."""

from __future__ import annotations

import inspect
import logging
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from epic._io import read_tensors, write_tensors
from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.findings import Findings
from epic.augment.mixtures import mixture
from epic.augment.params import param
from epic.augment.sampling import PAIRS, draw_pairs
from epic.costs.base import AUGMENTER_FORM, Cost, check_cost, check_kind, cost_from_state
from epic.costs.edge import EdgeCost
from epic.costs.learned import learned, needs_learning
from epic.distance.edges import MATCHINGS
from epic.errors import InputError, reading
from epic.graphs.packed import PackedGraphs, matrix
from epic.paths.edit_path import EditPath, edit_path
from epic.paths.interpolation import embedded, interpolate_pairs
from epic.paths.operations import ORDERS
from epic.random import Seed, digest

log = logging.getLogger(__name__)


class EPIC(Augmentation):
    """Add graphs from edit paths to every batch.

    Heo, Lee, Ahn and Kim, EPIC: Graph Augmentation with Edit Path Interpolation via Learnable Cost, IJCAI 2024. Two
    graphs of a batch are matched by the cheapest edit path between them, part of its operations are done, and the label
    is mixed by the share of the cost spent. What edits cost is learned from the labels.

    >>> from epic.data import lollipop
    >>> from torch_geometric.loader import DataLoader
    >>> train = lollipop(40, seed=0)
    >>> augment = EPIC(ratio=0.5).fit(train, epochs=1, progress=False)
    >>> batch = augment(next(iter(DataLoader(train, batch_size=8))))
    >>> batch.num_graphs, tuple(batch.y.shape)
    (12, (12, 4))

    A ``LearnedCost`` that is given and not learned yet stays as it is: :meth:`fit` trains a copy, and ``cost_`` is the
    result.
    """

    info = MethodInfo(
        paper="Heo et al., EPIC: Graph Augmentation with Edit Path Interpolation via Learnable Cost, IJCAI 2024",
        changes="nodes, edges, features: a graph on the edit path of two",
        needs="fit: learns what edits cost",
        label="mixed by the share of cost spent",
        cost="embedding of the graphs used, one assignment a graph",
    )
    mixes = True

    cost: Cost | None = param(default=None, check=check_cost, kw_only=False, help="what edits cost; None learns it")
    order: str = param(
        default="random", check=checks.one_of(ORDERS), help="order of the operations, see epic.edit_path"
    )
    indicator: bool = param(
        default=False,
        check=checks.flag,
        help="whether to append a node feature that is 1 on augmented graphs and 0 on originals, as in the paper; test "
        "graphs then need eval_batch",
    )
    pairs: str = param(
        default="random",
        grid=PAIRS[:2],
        check=checks.one_of(PAIRS),
        help="which graphs to pair: random, or of different or the same label",
    )
    matching: str = param(
        default="nodes",
        check=checks.one_of(MATCHINGS),
        help="what is matched: nodes, as in the paper, or edges, so that paths keep structure",
    )
    edge_price: float = param(
        default=1.0,
        check=checks.not_negative,
        help="price of an edge operation with matching=edges, as a multiple of the mean price of a deleted or inserted "
        "node",
    )
    replace = False

    _learned: Cost | None = None

    @property
    def cost_(self) -> Cost:
        """The given cost if it is ready, else the one learned in :meth:`fit`."""
        found = self._learned if self.cost is None or needs_learning(self.cost) else self.cost
        if found is None:
            raise InputError("EPIC has no cost yet: call fit(train), or pass cost=UnitCost()")
        return found

    @property
    def _edge_cost(self) -> EdgeCost | None:
        return None if self.matching == "nodes" else EdgeCost(self.edge_price, scale="nodes")

    def prepare(self, graphs: PackedGraphs, **options: Any) -> None:
        """Learn costs, unless a cost was given that is ready; ``options`` are those of :meth:`epic.LearnedCost.fit`."""
        found = learned(self.cost, graphs, options, seed=self.seed_, task=self.task_)
        if needs_learning(self.cost):
            self._learned = found
        else:
            log.debug("EPIC learns nothing in fit: its cost was given ready, %r", self.cost)

    def before_training(self, graphs: PackedGraphs) -> PackedGraphs:
        """Return training graphs with their node costs: these are embedded once, not in every epoch."""
        return embedded(graphs, cost=self.cost_)

    def fingerprint(self) -> str:
        tensors, header = self.cost_.state()
        own = header or vars(self.cost_)  # a cost that cannot be saved tells by its attributes
        params = {**self.get_params(), "seed": self.seed_, "cost": type(self.cost_).__qualname__}
        return f"EPIC({params}): {own} {digest(*tensors.values())}"

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        """Make one graph from the path of each of ``len(picked)`` pairs, label included."""
        i, j = draw_pairs(graphs.y, graphs=len(graphs), count=picked.numel(), pairs=self.pairs, generator=generator)
        if i.numel() == 0:
            return None
        made, share = interpolate_pairs(
            graphs, i=i, j=j, cost=self.cost_, order=self.order, generator=generator, edge_cost=self._edge_cost
        )
        return mixture(made, graphs.labels, graphs.titles, source=i, target=j, share=torch.from_numpy(share))

    def path(self, source: Data, target: Data, *, order: str | None = None, seed: Seed = 0) -> EditPath:
        """Return the edit path between two graphs.

        Args:
            source: Where the path begins.
            target: Where it ends.
            order: The order of operations; None takes that of the augmentation.
            seed: An int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed.
        """
        degrees = self.found_.degrees
        return edit_path(
            source,
            target,
            self.cost_,
            matching=self.matching,
            edge_cost=self._edge_cost,
            order=order or self.order,
            seed=seed,
            num_classes=self.num_classes_,
            finish=None if degrees is None else degrees.refresh,
        )

    def mark(self, graphs: PackedGraphs, new: Tensor) -> PackedGraphs:
        """Append the indicator feature, if wanted."""
        if not self.indicator:
            return graphs
        if graphs.x is None:
            raise InputError("indicator=True needs node features x to append to: add some, or pass indicator=False")
        x = matrix(graphs.x)
        column = new[graphs.graph_of_node, None].to(x.dtype)
        return replace(graphs, node={**graphs.node, "x": torch.cat([x, column], dim=1)})

    def save(self, path: str | Path) -> None:
        """Write parameters, cost and what was found in :meth:`fit` as safetensors."""
        check_kind(self.cost_)
        tensors, header = self.cost_.state()
        given = "none" if self.cost is None else "unlearned" if needs_learning(self.cost) else "ready"
        params = {**self.get_params(), "seed": self.seed_, "cost": given}
        about = {"format": AUGMENTER_FORM, "kind": self.cost_.kind, "params": params, "found": asdict(self.found_)}
        write_tensors(path, tensors, {**about, **header})

    @classmethod
    def load(cls, path: str | Path) -> EPIC:
        """Return what :meth:`save` wrote.

        Raises:
            InputError: If the file holds something else.
        """
        tensors, header = read_tensors(path, AUGMENTER_FORM)
        cost = cost_from_state(tensors, header, path)
        with reading(path):
            mode = header["params"].pop("cost")
            given = {"none": lambda: None, "ready": lambda: cost, "unlearned": lambda: _template(cost)}[mode]()
            augment = cls(cost=given, **header["params"])
            augment._learned, augment.found_ = cost, Findings.from_json(header["found"])
        return augment


def _template(cost: Cost) -> Cost:
    """Return a cost made with the same arguments, not learned."""
    return type(cost)(**{name: getattr(cost, name) for name in inspect.signature(type(cost)).parameters})
