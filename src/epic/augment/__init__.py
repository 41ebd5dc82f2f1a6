"""Graph augmentation: EPIC, its rivals, and the controls, all with one face."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from epic.errors import choose

# Name on the command line (which is the file's) and class; in the order of the paper's tables.
METHODS = {
    "vanilla": "Vanilla",
    "drop_edge": "DropEdge",
    "drop_node": "DropNode",
    "subgraph": "Subgraph",
    "flag": "FLAG",
    "submix": "SubMix",
    "manifold_mixup": "ManifoldMixup",
    "g_mixup": "GMixup",
    "grea": "GREA",
    "s_mixup": "SMixup",
    "epic": "EPIC",
    "epic_unit": "EPICUnit",
    "epic_feature": "EPICFeature",
    "epic_no_indicator": "EPICNoIndicator",
    "ged_mixup": "GEDMixup",
    "graph_crop": "GraphCrop",
    "motif_swap": "MotifSwap",
    "graph_transplant": "GraphTransplant",
    "if_mixup": "IfMixup",
    "node_sam": "NodeSam",
}

if TYPE_CHECKING:
    from epic.augment.method import Method

_HOME = {"About": "method", "Method": "method", **{c: n for n, c in METHODS.items()}}
__all__ = sorted(_HOME)


def method_class(name: str) -> type[Method]:
    """The class of a method by its name on the command line."""
    choose(name, METHODS, "method")
    return getattr(importlib.import_module(f"epic.augment.{name}"), METHODS[name])


def __getattr__(name: str) -> Any:
    # One at a time: nobody should wait for twenty files to use one.
    if name not in _HOME:
        raise AttributeError(f"module 'epic.augment' has no attribute {name!r}")
    return getattr(importlib.import_module(f"epic.augment.{_HOME[name]}"), name)
