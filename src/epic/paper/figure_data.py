"""Numbers for the paper's figures: from finished runs where there are any, else measured now on lollipops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from torch_geometric.data import Data

from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.costs.learned import LearnedCost
from epic.costs.learning import ASSIGNMENTS
from epic.data.dataset import Dataset
from epic.data.lollipop import HEADS, lollipop
from epic.graphs.convert import pack
from epic.paper.experiments.blur import frobenius
from epic.paper.experiments.curves import curves_run, validation_losses
from epic.paper.experiments.lollipop import Pattern, pattern
from epic.paper.plans import load_plan
from epic.paths.edit_path import EditPath, edit_path

Records = Iterable[Mapping[str, Any]]


class Numbers(NamedTuple):
    """Numbers, and where they come from in words that stand under a figure."""

    values: Any
    source: str


class FigureData:
    """What each figure draws.

    Where the store lacks the runs of a figure, a cost is learned once on lollipops and measured on others, as
    ``epic demo`` does.

    Args:
        store: Finished runs.
        graphs: Lollipops to learn from.
        unseen: Lollipops to measure on.
        epochs: Epochs of learning at most.
        pairs: Pairs of graphs for the distance between assignments.
        seed: An int makes the result reproducible.
        progress: Whether learning shows a progress bar.
    """

    def __init__(
        self,
        store: Store,
        *,
        graphs: int = 600,
        unseen: int = 120,
        epochs: int = 40,
        pairs: int = 1000,
        seed: int = 0,
        progress: bool = True,
    ) -> None:
        self.store, self.graphs, self.pairs = store, lollipop(graphs, seed=seed), pairs
        self.unseen = lollipop(unseen, seed=seed + 1)
        self.learning: dict[str, Any] = {"epochs": epochs, "seed": seed, "progress": progress}
        self.here = f"learned now on {graphs} lollipop graphs, {epochs} epochs at most, seed {seed}"

    @cached_property
    def cost(self) -> LearnedCost:
        """Learned on lollipops."""
        return LearnedCost().fit(self.graphs, **self.learning)

    def path(self) -> Numbers:
        """Return a path between two unseen lollipops of different classes with rather short tails."""
        return Numbers(self._between(self._pick(0, 0.25), self._pick(2, 0.25)), f"costs {self.here}")

    def positive_path(self) -> Numbers:
        """Return a path between two unseen lollipops of one class, one with a short and one with a long tail."""
        return Numbers(self._between(self._pick(1, 0.25), self._pick(1, 0.75)), f"costs {self.here}")

    def curves(self) -> Numbers:
        """Loss curves (:func:`loss_curves`) of datasets that have them for both assignments."""
        records, source = self._runs("curves")
        whole = {name: by for name, by in loss_curves(records).items() if set(by) >= set(ASSIGNMENTS)}
        if whole:
            return Numbers(whole, source)
        name, lollipops = "lollipop", Dataset("lollipop", pack(self.graphs), "classes")
        now = [
            {
                "config": {"dataset": name, "assignment": assignment},
                **curves_run(name, assignment=assignment, data=lollipops, **self.learning),
            }
            for assignment in ASSIGNMENTS
        ]
        return Numbers(loss_curves(now), self.here)

    def costs(self) -> Numbers:
        """Patterns of substitution costs, one for each seed."""
        records, source = self._runs("lollipop")
        if records:
            return Numbers(patterns(records), source)
        return Numbers([pattern(self.cost, self.unseen)], f"costs {self.here}, on {len(self.unseen)} unseen ones")

    def blur(self) -> Numbers:
        """Errors of the soft assignment (:func:`blur_errors`)."""
        records, source = self._runs("blur")
        if records:
            return Numbers(blur_errors(records), source)
        found = frobenius(self.cost, self.unseen, pairs=self.pairs, seed=self.learning["seed"])
        told = (
            f"costs {self.here}; {self.pairs} pairs of {len(self.unseen)} unseen ones. Many nodes of a lollipop are "
            "alike: the soft assignment spreads over them, and the error stays however large k is"
        )
        return Numbers({"lollipop": found}, told)

    def _pick(self, label: int, place: float) -> Data:
        """Return the unseen graph of a class at this place in the order of sizes (0 smallest, 1 largest)."""
        alike = sorted((g for g in self.unseen if int(g.y) == label), key=lambda g: g.num_nodes)
        return alike[int(place * len(alike))]

    def _between(self, source: Data, target: Data) -> EditPath:
        return edit_path(source, target, self.cost, seed=self.learning["seed"], num_classes=len(HEADS))

    def _runs(self, plan: str) -> tuple[list[dict[str, Any]], str]:
        """Finished runs of a plan, or else runs of its kind with other options; and where they are from."""
        source = f"runs of the plan {plan} in {self.store.path.name}"
        planned = Runs(load_plan(plan), self.store).records()[0]
        if planned:
            return planned, source
        others = [r for r in self.store if r.get("kind") == plan and "error" not in r]
        return others, f"{source}, with other options than the plan's"


def loss_curves(records: Records) -> dict[str, dict[str, list[dict[str, list[float]]]]]:
    """Return ``{dataset: {assignment: [{"training": [...], "validation": [...]}, one for each seed]}}``."""
    found: dict[str, dict[str, list]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        config = record["config"]
        lines = {"training": record["train_loss"], "validation": validation_losses(record)}
        found[config["dataset"]][config.get("assignment", "sinkhorn")].append(lines)
    return found


def patterns(records: Records) -> list[Pattern]:
    """Return the patterns of substitution costs, as far as they are whole."""
    fields = Pattern.__dataclass_fields__.keys()
    return [Pattern(**record["pattern"]) for record in records if record["pattern"].keys() == fields]


def blur_errors(records: Records) -> dict[str, dict[int, float]]:
    """Return ``{dataset: {iterations: error}}``, the mean over seeds."""
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        for k, error in record["frobenius"].items():
            found[record["config"]["dataset"]][int(k)].append(float(error))
    return {dataset: {k: float(np.mean(v)) for k, v in by.items()} for dataset, by in found.items()}
