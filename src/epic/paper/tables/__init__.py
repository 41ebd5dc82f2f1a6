"""Tables of a plan: what was measured beside what the paper prints."""

from epic.paper.tables.train import table_of
from epic.paper.tables.types import Block, Cell, Row, Table

__all__ = ["Block", "Cell", "Row", "Table", "table_of"]
