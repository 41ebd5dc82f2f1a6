"""Graph augmentation along edit paths."""

from epic.augment.epic import EPIC

__all__ = ["EPIC"]
