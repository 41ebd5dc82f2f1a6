"""Backbones, metrics, and one training loop for every method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Backbone", "Result", "Training", "accuracy", "backbone_for", "roc_auc", "train"]

if TYPE_CHECKING:
    from epic.nn.backbones import Backbone, backbone_for
    from epic.train.loop import Result, Training, train
    from epic.train.metrics import accuracy, roc_auc


def __getattr__(name: str) -> Any:
    # Loaded on first use: the command line reads `epic.train.config` and must not wait for torch.
    if name not in __all__:
        raise AttributeError(f"module 'epic.train' has no attribute {name!r}")
    from epic.nn.backbones import Backbone, backbone_for
    from epic.train.loop import Result, Training, train
    from epic.train.metrics import accuracy, roc_auc

    found = locals()
    globals().update({public: found[public] for public in __all__})
    return globals()[name]
