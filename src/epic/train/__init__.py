"""Backbones, metrics, and one training loop for every method."""

from epic.nn.backbones import Backbone, backbone_for
from epic.train.loop import Result, Training, train
from epic.train.metrics import accuracy, roc_auc

__all__ = ["Backbone", "Result", "Training", "accuracy", "backbone_for", "roc_auc", "train"]
