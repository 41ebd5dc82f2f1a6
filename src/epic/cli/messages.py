"""What commands say while they work: log messages and progress bars on stderr. Results go to stdout."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from typing import Literal

from rich.console import Console
from rich.table import Table

log = logging.getLogger("epic")


class _Plain(logging.Handler):
    """Write the bare message: no time, no level, no added line breaks."""

    def emit(self, record: logging.LogRecord) -> None:
        Console(stderr=True, soft_wrap=True).print(self.format(record), markup=False, highlight=False)


def configure(verbose: bool, quiet: bool) -> None:
    """Show messages of the package and warnings: all with ``verbose``, warnings alone with ``quiet``."""
    handler = _Plain()
    for logger in (log, logging.getLogger("py.warnings")):
        logger.handlers = [handler]
    log.setLevel(logging.DEBUG if verbose else logging.WARNING if quiet else logging.INFO)
    logging.captureWarnings(True)
    if not verbose:
        warnings.formatwarning = lambda message, *_, **__: str(message)


def progress() -> bool:
    """Whether to show progress bars."""
    return log.isEnabledFor(logging.INFO)


def show(
    titles: Iterable[str],
    rows: Iterable[Iterable[str]],
    *,
    title: str | None = None,
    justify: Literal["left", "right"] = "left",
    width: int = 150,
) -> None:
    """Print a table, at least ``width`` wide: a pipe or a narrow terminal would fold words beyond recognition."""
    table = Table(box=None, pad_edge=False, title=title)
    for at, name in enumerate(titles):
        table.add_column(name, overflow="fold", justify=justify if at else "left")
    for row in rows:
        table.add_row(*row)
    Console(width=max(Console().width, width)).print(table)
