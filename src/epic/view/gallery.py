"""Many small paths on one page, to judge a cost at a glance: are graphs of one class nearer than those of two?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from epic.augment.pairs import draw_pairs
from epic.costs.base import Cost
from epic.data.dataset import Dataset
from epic.errors import InputError
from epic.graphs.packed import matrix
from epic.paths.edit_path import EditPath, edit_path
from epic.random import Seed, base_seed, derived
from epic.view.frames import KINDS, frames
from epic.view.names import Names, names_of
from epic.view.page import render


@dataclass(frozen=True)
class Exhibit:
    """One path of a gallery: the numbers of its graphs, and ``same`` class, ``different`` or just ``random``."""

    path: EditPath
    source: int
    target: int
    kind: str


HEADS = {"same": "Same class", "different": "Different class", "random": "Random pairs"}


def exhibits(dataset: Dataset, cost: Cost, pairs: int = 12, order: str = "random", seed: Seed = 0) -> list[Exhibit]:
    """Paths between random graphs of a dataset, half of them within a class and half between classes.

    Real-valued targets and several tasks have no classes to compare: pairs are random.
    """
    if pairs < 1:
        raise InputError(f"pairs must be at least 1, got {pairs}")
    y = matrix(dataset.y)
    comparable = dataset.task != "values" and y.shape[1] == 1
    asked = {"same": -(-pairs // 2), "different": pairs // 2} if comparable else {"random": pairs}
    origin = base_seed(seed)
    made = []
    for kind, count in asked.items():
        # More are drawn than taken: partners then come from a larger pool, and few graphs appear twice.
        drawn = draw_pairs(dataset.y, len(dataset), 40 * count, kind, derived(origin, "gallery", kind))
        for i, j in zip(*(d[:count].tolist() for d in drawn), strict=True):
            path = edit_path(dataset.graphs.graph(i), dataset.graphs.graph(j), cost, order, origin, dataset.num_classes)
            made.append(Exhibit(path, i, j, kind))
    if not made:
        raise InputError(f"{dataset.name} has {len(dataset)} graphs, and no two to make a path between")
    return made


def gallery_page(shown: list[Exhibit], title: str, about: str = "", names: Names | str | None = None) -> str:
    """The page of a gallery."""
    called = names_of(names)
    return render(
        "gallery.html.j2",
        {"paths": [{**frames(e.path, called), **_words(e, called)} for e in shown]},
        title=title,
        about=" ".join(part for part in (about, compared(shown)) if part),
        groups=[(kind, HEADS[kind], _mean(shown, kind)) for kind in HEADS if any(e.kind == kind for e in shown)],
    )


def compared(shown: list[Exhibit]) -> str:
    """What the eye should check: mean distances within and between classes."""
    same, other = (_mean(shown, kind) for kind in ("same", "different"))
    if same is None or other is None:
        return ""
    ratio = f", {other / same:.2f} times as far" if same > 0 else ""
    return f"Mean distance {same:.4g} within a class, {other:.4g} between classes{ratio}."


def _mean(shown: list[Exhibit], kind: str) -> float | None:
    found = [e.path.distance for e in shown if e.kind == kind]
    return float(np.mean(found)) if found else None


def _words(e: Exhibit, names: Names) -> dict[str, Any]:
    kinds = [op.kind for op in e.path.operations]
    return {
        "kind": e.kind,
        "graphs": [e.source, e.target],
        "classes": [_class(e.path, k, names) for k in (0, len(e.path))],
        "counts": ", ".join(f"{kinds.count(k)} {k}" for k in KINDS if k in kinds) or "no operations",
    }


def _class(path: EditPath, k: int, names: Names) -> str:
    label = path.label(k)
    if label.numel() > 1:
        return names.class_name(int(label.argmax())) if bool((label == 1).sum() == 1) else ""
    value = float(label[0])
    if torch.isnan(label[0]):
        return "label missing"
    return names.class_name(int(value)) if value in (0.0, 1.0) else f"y = {value:.3g}"
