"""epic-graph: learned graph edit costs, edit paths, and graph augmentation along them, for PyTorch Geometric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "EPIC",
    "Cost",
    "Counterfactual",
    "EdgeCost",
    "EditBlend",
    "EditKernelClassifier",
    "EditNeighbors",
    "EditPath",
    "FeatureCost",
    "InputError",
    "LearnedCost",
    "Operation",
    "PackedGraphs",
    "UnitCost",
    "compare",
    "counterfactual",
    "edit_distance",
    "edit_path",
    "pack",
]

if TYPE_CHECKING:
    import epic.compare as compare
    from epic.augment import EPIC
    from epic.classifiers import EditBlend, EditKernelClassifier, EditNeighbors
    from epic.costs import Cost, EdgeCost, FeatureCost, LearnedCost, UnitCost
    from epic.errors import InputError
    from epic.graphs import PackedGraphs, pack
    from epic.paths import Counterfactual, EditPath, Operation, counterfactual, edit_distance, edit_path


def __getattr__(name: str) -> Any:
    # Loaded on first use: `import epic` and `epic --help` must not wait for torch.
    if name not in __all__:
        raise AttributeError(f"module 'epic' has no attribute {name!r}")
    import epic.compare as compare
    from epic.augment import EPIC
    from epic.classifiers import EditBlend, EditKernelClassifier, EditNeighbors
    from epic.costs import Cost, EdgeCost, FeatureCost, LearnedCost, UnitCost
    from epic.errors import InputError
    from epic.graphs import PackedGraphs, pack
    from epic.paths import Counterfactual, EditPath, Operation, counterfactual, edit_distance, edit_path

    found = locals()
    globals().update({public: found[public] for public in __all__})
    return globals()[name]


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
