"""EPIC: graphs from the edit paths between training graphs, with labels by the cost spent (Heo et al., IJCAI 2024)."""

from __future__ import annotations

import inspect
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from epic._io import read_tensors, write_tensors
from epic.augment.base import Augmentation, MethodInfo, need_bool
from epic.augment.pairs import PAIRS, draw_pairs
from epic.costs.base import AUGMENTER_FORM, Cost, check_kind, cost_from_state
from epic.costs.learned import LearnedCost
from epic.errors import InputError, choose
from epic.graphs.degrees import DegreeFeatures
from epic.graphs.packed import PackedGraphs, matrix
from epic.labels import mix
from epic.paths.edit_path import EditPath, edit_path
from epic.paths.interpolation import interpolate_pairs
from epic.paths.orders import ORDERS
from epic.random import Seed


class EPIC(Augmentation):
    """Add graphs from edit paths to every batch.

    >>> from epic.data import lollipop
    >>> from torch_geometric.loader import DataLoader
    >>> train = lollipop(40, seed=0)
    >>> augment = EPIC(ratio=0.5, seed=0).fit(train, epochs=1, progress=False)
    >>> batch = augment(next(iter(DataLoader(train, batch_size=8))))
    >>> batch.num_graphs, tuple(batch.y.shape)
    (12, (12, 4))

    ``cost``: what edits cost; None learns it in :meth:`fit`. ``ratio``: augmented graphs for each original one.
    ``order``: see :func:`epic.edit_path`. ``indicator`` appends a node feature that is 1 on augmented graphs and 0 on
    originals, as in the paper; test graphs then need :meth:`plain`. ``pairs``: which graphs of a batch may be paired.
    ``seed``: an int or a generator; the same batch then gives the same graphs, in whatever process.
    ``degree_features``: None looks whether ``x`` holds degrees, which are then computed anew after each edit.
    """

    about = MethodInfo(
        paper="Heo et al., EPIC: Graph Augmentation with Edit Path Interpolation via Learnable Cost, IJCAI 2024",
        changes="nodes, edges, features: a graph on the edit path of two",
        needs="fit: learns what edits cost",
        label="mixed by the share of cost spent",
        edge_attr="kept",
        cost="embedding of the graphs used, one assignment a graph",
    )
    grid = {"pairs": ("random", "different")}

    def __init__(
        self,
        cost: Cost | None = None,
        ratio: float = 0.5,
        order: str = "random",
        indicator: bool = False,
        pairs: str = "random",
        seed: Seed = None,
        *,
        num_classes: int | None = None,
        degree_features: bool | None = None,
        task: str | None = None,
    ) -> None:
        super().__init__(ratio, False, seed, num_classes=num_classes, degree_features=degree_features, task=task)
        if cost is not None and not isinstance(cost, Cost):
            raise InputError(f"cost must be an epic Cost such as UnitCost(), got {type(cost).__name__}")
        self._cost = cost
        self._cost_given = cost is not None
        self.order = choose(order, ORDERS, "order")
        self.pairs = choose(pairs, PAIRS, "pairs")
        self.indicator = need_bool(indicator, "indicator")

    @property
    def cost(self) -> Cost:
        if self._cost is None:
            raise InputError("EPIC has no cost yet: call fit(train), or pass cost=UnitCost()")
        return self._cost

    def prepare(self, graphs: PackedGraphs, **options: Any) -> None:
        """Learn costs, unless one that needs no learning was given; ``options`` go to :meth:`epic.LearnedCost.fit`."""
        cost = self._cost if self._cost_given and self._cost is not None else LearnedCost()
        if isinstance(cost, LearnedCost) and not cost.fitted:
            cost.fit(graphs, **{"seed": self._seed, **options})
        elif options:
            raise InputError(f"the cost was given ready, so fit takes no {', '.join(options)}")
        self._cost = cost

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        """One graph from the path of each of ``len(picked)`` pairs, which are drawn so that few graphs are embedded."""
        source, target = draw_pairs(graphs.y, len(graphs), picked.numel(), self.pairs, generator)
        if source.numel() == 0:
            return None
        return self._between(graphs, source, target, generator)

    def path(self, source: Data, target: Data, order: str | None = None, seed: Seed = None) -> EditPath:
        """The edit path between two graphs."""
        finish = None if self._degrees is None else self._degrees.refresh
        return edit_path(
            source,
            target,
            self.cost,
            order=order or self.order,
            seed=seed,
            num_classes=self.num_classes,
            finish=finish,
        )

    def _between(self, graphs: PackedGraphs, i: Tensor, j: Tensor, generator: torch.Generator) -> PackedGraphs:
        """One graph from the path of each pair (numbers on the CPU), label included."""
        made, share = interpolate_pairs(graphs, i, j, cost=self.cost, order=self.order, generator=generator)
        assert graphs.y is not None
        y = graphs.y
        one, other = (y.index_select(0, index.to(y.device)) for index in (i, j))
        return replace(made, y=mix(one, other, torch.from_numpy(share).to(y.device)))

    def _marked(self, graphs: PackedGraphs, new: Tensor) -> PackedGraphs:
        """Append the indicator feature, if wanted."""
        if not self.indicator:
            return graphs
        if graphs.x is None:
            raise InputError("indicator=True needs node features x to append to: add some, or pass indicator=False")
        x = matrix(graphs.x)
        column = new[graphs.graph_of_node, None].to(x.dtype)
        return replace(graphs, node={**graphs.node, "x": torch.cat([x, column], dim=1)})

    def save(self, path: str | Path) -> None:
        """Write cost and settings as safetensors."""
        check_kind(self.cost)
        tensors, header = self.cost.state()
        found = None if self._degrees is None else asdict(self._degrees)
        looked = {"looked": self._looked, "degrees": found}
        write_tensors(
            path,
            tensors,
            {"format": AUGMENTER_FORM, "kind": self.cost.kind, "augmenter": self.settings(), **looked, **header},
        )

    @classmethod
    def load(cls, path: str | Path) -> EPIC:
        """Read what :meth:`save` wrote."""
        tensors, header = read_tensors(path, AUGMENTER_FORM)
        cost = cost_from_state(tensors, header, path)
        try:
            given: dict[str, Any] = {"cost": cost} if "cost" in inspect.signature(cls).parameters else {}
            augmenter = cls(**given, **header["augmenter"])
            augmenter._cost = cost
            augmenter._looked = header["looked"]
            augmenter._degrees = None if header["degrees"] is None else DegreeFeatures(**header["degrees"])
        except (KeyError, TypeError) as error:
            raise InputError(f"{path} does not hold a complete augmenter ({error}): save it again") from error
        return augmenter
