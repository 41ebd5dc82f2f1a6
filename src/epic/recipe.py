"""Which code made a result."""

RECIPE = 2
"""Raised when results of the same config change on purpose, so that old ones are not taken for new."""
