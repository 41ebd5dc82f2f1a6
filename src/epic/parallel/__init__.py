"""Many tasks on one machine or on many, behind one function."""

from epic.parallel.processes import Outcome, execute, need_workers

__all__ = ["Outcome", "execute", "need_workers"]
