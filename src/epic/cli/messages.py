"""What commands say while they work: log messages and progress bars on stderr. Results go to stdout."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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


@contextmanager
def silent(name: str) -> Iterator[None]:
    """Keep what the logger ``name`` says to itself, errors excepted, while the block runs."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def progress() -> bool:
    """Return whether to show progress bars."""
    return log.isEnabledFor(logging.INFO)


def show(titles: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None, width: int = 150) -> None:
    """Print a table, columns of numbers to the right.

    It is at least ``width`` wide: a pipe or a narrow terminal would fold words beyond recognition.
    """
    table = Table(box=None, pad_edge=False, title=title)
    for at, name in enumerate(titles):
        numbers = all(re.fullmatch(r"-|[\d.]+", row[at]) for row in rows)
        table.add_column(name, overflow="fold", justify="right" if at and numbers else "left")
    for row in rows:
        table.add_row(*row)
    Console(width=max(Console().width, width)).print(table)
