"""epic-graph: learned graph edit costs, edit paths, and graph augmentation along them, for PyTorch Geometric."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Loaded on first use: `import epic` and `epic --help` must not wait for torch.
_HOME = {
    "EPIC": "epic.augment",
    "Cost": "epic.cost",
    "EditNeighbors": "epic.neighbors",
    "EditPath": "epic.path",
    "FeatureCost": "epic.cost",
    "InputError": "epic.errors",
    "LearnedCost": "epic.cost",
    "Operation": "epic.path",
    "UnitCost": "epic.cost",
    "edit_distance": "epic.path",
    "edit_path": "epic.path",
}

__all__ = [
    "EPIC",
    "Cost",
    "EditNeighbors",
    "EditPath",
    "FeatureCost",
    "InputError",
    "LearnedCost",
    "Operation",
    "UnitCost",
    "edit_distance",
    "edit_path",
]

if TYPE_CHECKING:
    from epic.augment import EPIC
    from epic.cost import Cost, FeatureCost, LearnedCost, UnitCost
    from epic.errors import InputError
    from epic.neighbors import EditNeighbors
    from epic.path import EditPath, Operation, edit_distance, edit_path


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'epic' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
