"""Many tasks on one machine or on many, behind one function."""

from epic.scale.execute import Outcome, execute

__all__ = ["Outcome", "execute"]
