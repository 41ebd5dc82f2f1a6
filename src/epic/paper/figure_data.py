"""Numbers for the paper's figures: from finished runs where there are any, else measured now on lollipops."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch_geometric.data import Data

from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.costs.learned import LearnedCost
from epic.costs.learning import ASSIGNMENTS
from epic.data.lollipop import lollipop
from epic.data.splits import stratified_split
from epic.graphs.convert import pack
from epic.paper.experiments.blur import frobenius
from epic.paper.experiments.lollipop import Pattern, pattern
from epic.paper.plans import load_plan
from epic.paths.edit_path import EditPath, edit_path

CLASSES = 4
"""Of lollipops: the sizes of their heads."""


@dataclass(frozen=True)
class Numbers:
    """Numbers, and where they come from in words that stand under a figure."""

    source: str
    values: Any


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
        graphs: int = 600,
        unseen: int = 120,
        epochs: int = 40,
        pairs: int = 1000,
        seed: int = 0,
        progress: bool = True,
    ) -> None:
        self.store, self.graphs, self.epochs, self.pairs = store, graphs, epochs, pairs
        self.seed, self.progress = seed, progress
        self.unseen = lollipop(unseen, seed=seed + 1)

    @cached_property
    def cost(self) -> LearnedCost:
        """Learned on lollipops."""
        return LearnedCost().fit(
            lollipop(self.graphs, seed=self.seed), epochs=self.epochs, seed=self.seed, progress=self.progress
        )

    @property
    def here(self) -> str:
        """What was done now, for figures without finished runs."""
        return f"learned now on {self.graphs} lollipop graphs, {self.epochs} epochs at most, seed {self.seed}"

    def path(self) -> Numbers:
        """A path between two unseen lollipops of different classes with rather short tails."""
        return Numbers(f"costs {self.here}", self._between(self._pick(0, 0.25), self._pick(2, 0.25)))

    def positive_path(self) -> Numbers:
        """A path between two unseen lollipops of one class, one with a rather short and one with a rather long tail."""
        return Numbers(f"costs {self.here}", self._between(self._pick(1, 0.25), self._pick(1, 0.75)))

    def curves(self) -> Numbers:
        """``{dataset: {assignment: [{"training": [...], "validation": [...]}, one for each seed]}}``."""
        found: dict[str, dict[str, list]] = defaultdict(lambda: defaultdict(list))
        for record in self._records("curves"):
            config = record["config"]
            lines = {"training": record["train_loss"], "validation": record["validation_loss"]}
            found[config["dataset"]][config.get("assignment", "sinkhorn")].append(lines)
        whole = {name: dict(by) for name, by in found.items() if set(by) >= set(ASSIGNMENTS)}
        return Numbers(self._stored("curves"), whole) if whole else self._curves_now()

    def costs(self) -> Numbers:
        """Patterns of substitution costs, one for each seed."""
        done = [Pattern(**record["pattern"]) for record in self._records("lollipop")]
        if done:
            return Numbers(self._stored("lollipop"), done)
        return Numbers(f"costs {self.here}, on {len(self.unseen)} unseen ones", [pattern(self.cost, self.unseen)])

    def blur(self) -> Numbers:
        """``{dataset: {k: error}}``."""
        done = {r["config"]["dataset"]: _by_number(r["frobenius"]) for r in self._records("blur")}
        if done:
            return Numbers(self._stored("blur"), done)
        found = frobenius(self.cost, self.unseen, self.pairs, seed=self.seed)
        told = (
            f"costs {self.here}; {self.pairs} pairs of {len(self.unseen)} unseen ones. Many nodes of a lollipop are "
            "alike: the soft assignment spreads over them, and the error stays however large k is"
        )
        return Numbers(told, {"lollipop": found})

    def _pick(self, label: int, place: float) -> Data:
        """The unseen graph of a class at this place in the order of sizes (0 smallest, 1 largest)."""
        alike = sorted((g for g in self.unseen if int(g.y) == label), key=lambda g: g.num_nodes)
        return alike[int(place * len(alike))]

    def _between(self, source: Data, target: Data) -> EditPath:
        return edit_path(source, target, self.cost, seed=self.seed, num_classes=CLASSES)

    def _planned(self, plan: str) -> list[dict[str, Any]]:
        """Finished runs of a plan."""
        return Runs(load_plan(plan), self.store).records()[0]

    def _records(self, plan: str) -> list[dict[str, Any]]:
        """Finished runs of a plan; where there are none, runs of its kind with other options."""
        kind = load_plan(plan).kind
        return self._planned(plan) or [r for r in self.store if r.get("kind") == kind and "error" not in r]

    def _stored(self, plan: str) -> str:
        other = "" if self._planned(plan) else ", with other options than the plan's"
        return f"runs of the plan {plan} in {self.store.path.name}{other}"

    def _curves_now(self) -> Numbers:
        """Both assignments on the same small set. No early stop: the curves are what is wanted."""
        graphs = pack(lollipop(self.graphs, seed=self.seed))
        assert graphs.y is not None
        split = stratified_split(graphs.y, seed=self.seed)
        train, held = graphs.select(split.train), graphs.select(split.validation)
        lines: dict[str, list] = {}
        for assignment in ASSIGNMENTS:
            cost = LearnedCost().fit(
                train,
                validation=held,
                assignment=assignment,
                epochs=self.epochs,
                patience=self.epochs,
                seed=self.seed,
                progress=self.progress,
            )
            history = cost.history_
            lines[assignment] = [{"training": [e.loss for e in history], "validation": [e.validation for e in history]}]
        return Numbers(self.here, {"lollipop": lines})


def _by_number(errors: dict[str, float]) -> dict[int, float]:
    return {int(k): float(v) for k, v in errors.items()}
