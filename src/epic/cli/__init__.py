"""The ``epic`` command: one file a verb. Heavy imports live inside the commands, so that --help answers at once."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from epic.cli import (
    augment,
    compare,
    datasets,
    demo,
    figures,
    fit,
    gallery,
    methods,
    path,
    quality,
    report,
    reproduce,
    train,
)
from epic.cli.messages import configure
from epic.errors import InputError

app = typer.Typer(
    help="Learned graph edit costs, edit paths, and graph augmentation along them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


@app.callback(invoke_without_command=True)
def _top(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more about what happens.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only results and warnings, no progress bars.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    configure(verbose, quiet)
    if version:
        from epic import __version__

        typer.echo(f"epic-graph {__version__}")
        raise typer.Exit


VERBS = {
    "Begin here": (demo.demo, datasets.datasets, methods.methods),
    "Your graphs": (compare.compare, train.train, augment.augment, quality.quality),
    "Costs and paths": (fit.fit, path.path, gallery.gallery),
    "The paper": (reproduce.reproduce, report.report, figures.figures),
}
for panel, verbs in VERBS.items():
    for verb in verbs:
        app.command(rich_help_panel=panel)(verb)


@contextmanager
def _one_interrupt() -> Iterator[None]:
    """Take Ctrl-C once: a second one would tear apart what is put away while the command ends."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return

    def take(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, take)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is take:
            signal.signal(signal.SIGINT, before)


def main() -> None:
    """Run the command line.

    An input that cannot be used, or a disk that cannot be written, ends with its message and exit code 2; Ctrl-C with a
    line and exit code 130.
    """
    try:
        with _one_interrupt():
            app()
    except InputError as error:
        typer.echo(f"epic: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        named = "" if error.filename is None else f" {error.filename}"
        typer.echo(f"epic: cannot read or write{named}: {error.strerror or error}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as end:
        code = end.code if isinstance(end, SystemExit) else 130
        if code == 130:
            typer.echo("epic: interrupted", err=True)
        sys.exit(code)
