"""The ``epic`` command: one file a verb. Heavy imports live inside the commands, so that --help answers at once."""

from __future__ import annotations

import sys
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


app.command("demo")(demo.demo)
app.command("datasets")(datasets.datasets)
app.command("methods")(methods.methods)
app.command("augment")(augment.augment)
app.command("fit")(fit.fit)
app.command("path")(path.path)
app.command("gallery")(gallery.gallery)
app.command("train")(train.train)
app.command("figures")(figures.figures)
app.command("quality")(quality.quality)
app.command("compare")(compare.compare)
app.command("reproduce")(reproduce.reproduce)
app.command("report")(report.report)


def main() -> None:
    """Run the command line; an input that cannot be used ends with its message and exit code 2."""
    try:
        app()
    except InputError as error:
        typer.echo(f"epic: {error}", err=True)
        sys.exit(2)
