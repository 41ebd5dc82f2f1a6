"""All verbs of the ``epic`` command. Heavy imports live inside them, so that --help answers at once."""

from __future__ import annotations

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
