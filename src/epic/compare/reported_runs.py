"""The runs that are reported of one method in one place of a table."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from epic.compare.plan import Entry, Group, Plan
from epic.compare.store import Store

METRICS = {"classes": "accuracy in percent", "binary": "ROC-AUC in percent", "values": "minus the mean absolute error"}


@dataclass(frozen=True)
class ReportedRuns:
    """``records[split][seed]``, None where a run is missing or failed; ``errors`` of those that failed; settings
    ``chosen`` in each split that has runs.
    """

    records: tuple[tuple[dict[str, Any] | None, ...], ...]
    errors: tuple[str, ...]
    chosen: tuple[str, ...]

    @property
    def settings(self) -> tuple[str, ...]:
        """Those that were chosen, each once."""
        return tuple(dict.fromkeys(self.chosen))

    @property
    def done(self) -> list[dict[str, Any]]:
        return [r for split in self.records for r in split if r is not None]

    @property
    def task(self) -> str:
        return next((r.get("task", "classes") for r in self.done), "classes")

    @property
    def scale(self) -> float:
        return 1.0 if self.task == "values" else 100.0

    @property
    def unit(self) -> str:
        return "units" if self.task == "values" else "points"

    @property
    def scores(self) -> np.ndarray:
        """Test scores ``[splits, seeds]``, NaN where there is no run."""
        return self.scale * np.array(
            [[math.nan if r is None else r["test"] for r in split] for split in self.records], dtype=float
        )

    @property
    def values(self) -> list[float]:
        return [self.scale * r["test"] for r in self.done]

    @property
    def sizes(self) -> tuple[int, int] | None:
        """Training and test graphs of a split."""
        return next(((r["sizes"][0], r["sizes"][2]) for r in self.done if "sizes" in r), None)

    @property
    def epoch_seconds(self) -> float | None:
        times = [r["seconds"] / r["epochs"] for r in self.done if r.get("epochs") and "seconds" in r]
        return float(np.mean(times)) if times else None


def reported_runs(plan: Plan, store: Store, entry: Entry, dataset: str, backbone: str, noise: float) -> ReportedRuns:
    """All splits and seeds of an entry; those whose settings are not chosen yet are missing."""
    records: list[tuple[dict[str, Any] | None, ...]] = []
    errors: list[str] = []
    chosen: list[str] = []
    for split in range(plan.splits):
        group = Group(dataset, backbone, noise, split)
        tasks = plan.final(group, entry, store)
        if tasks is None:
            records.append((None,) * plan.seeds)
            continue
        records.append(tuple(store.get(t) for t in tasks))
        errors += [e for t in tasks if (e := store.failed(t)) is not None]
        if any(records[-1]):
            plain, own = plan.plain_choice(group, store), plan.choice(group, entry, store)
            chosen.append(_told({**(plain or {}), **(own or {})}))
    return ReportedRuns(tuple(records), tuple(errors), tuple(chosen))


def _told(settings: dict[str, Any]) -> str:
    texts = (v if isinstance(v, str) else json.dumps(v) for v in settings.values())
    return ", ".join(f"{k} {v}" for k, v in zip(settings, texts, strict=True)) or "defaults"
