"""``epic compare``: which method helps on your graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from epic.cli.fields import listed, options_from, pairs
from epic.cli.messages import log, progress
from epic.cli.options import ConfigFile, DataFolder, Ray, Retry, Workers, need_writable, tell_notes
from epic.errors import InputError
from epic.train.config import RunConfig, run_config


@options_from(
    RunConfig,
    *("dataset", "target", "task", "backbone", "cost", "fit_epochs"),
    *("updates", "epochs", "batch_size", "lr"),
)
def compare(
    run: dict[str, Any],
    methods: Annotated[
        str, typer.Option(help="Methods to compare with vanilla, separated by commas.")
    ] = "epic_edges,epic",
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Your own network, package.module:Class (the current folder is searched too): called with the number "
            "of columns of x and of outputs, its forward takes a Batch or (x, edge_index, batch). Or a change of the "
            "backbone, for example pool=mean; repeatable.",
            rich_help_panel="Classifier",
            show_default=False,
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Learning curves: numbers of labelled graphs (one in eight validates), for example 100,200,400,all; "
            "the rest of the data is test.",
            show_default=False,
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            help="Stratified splits (default: 5), or draws of each size (10); three for a verdict.", min=1, max=1000
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Training seeds for each split (default: 3; with --sizes 1).", min=1, max=1000)
    ] = None,
    tune: Annotated[
        int | None,
        typer.Option(
            help="Settings that every method may try on validation (default: 3; with --sizes 0).", min=0, max=1000
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A quick look, no verdict: two splits, one seed, few epochs, no tuning."),
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Answer in this time (45s, 30m, 2h), to within a run: fewer splits, then fewer seeds, no tuning, "
            "shorter training, fewer sizes, in this order, as far as it takes.",
            show_default=False,
        ),
    ] = None,
    workers: Workers = 1,
    ray: Ray = None,
    retry: Retry = False,
    results: Annotated[Path, typer.Option(help="File that runs are kept in.")] = Path("compare.jsonl"),
    page: Annotated[Path | None, typer.Option(help="HTML page to write: verdict, plot and table.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Picture to write (.png, .pdf, .svg): curves, or differences with intervals.")
    ] = None,
    config: ConfigFile = None,
    data: DataFolder = None,
) -> None:
    """Say, with an interval, whether augmentation helps on a dataset or on your own file.

    Every method meets the same splits and the same initial weights, may try as many settings on validation, and takes
    the same number of gradient steps. Runs are kept: the same command goes on where it stopped, and more splits add to
    what is there. "No evidence that it helps" is a fine answer.

    Examples:

    epic compare MUTAG --methods epic,submix,drop_edge --budget 30m

    epic compare NCI1 --methods epic --sizes 100,200,400,1000,all --page curves.html

    epic compare mine.csv --methods epic,submix --model nets:MyNet --budget 5m --workers 2
    """
    from epic._io import PICTURES, write_text
    from epic.compare.study import study
    from epic.compare.times import seconds_of

    limit = None if budget is None else seconds_of(budget)
    for out, endings in ((page, (".html",)), (plot, PICTURES)):
        if out is not None:
            need_writable(out, *endings, besides=[results, run["dataset"]])
    own = [text for text in model or () if "=" not in text]
    changes = pairs([text for text in model or () if "=" in text], "--model")
    if len(own) + bool(changes) > 1:
        raise InputError(f"--model names one network, or changes the backbone, got {', '.join(model or ())}")
    run_config(**run, model=changes)  # it refuses values that it cannot use
    asked = study(
        methods=listed(methods),
        results=results,
        data=data,
        progress=progress(),
        sizes=None if sizes is None else [size_of(text) for text in listed(sizes)],
        splits=splits,
        seeds=seeds,
        tune=tune,
        quick=quick,
        model=own[0] if own else changes,
        **run,
    )
    tell_notes(asked.dataset)
    log.info(f"{asked.dataset.name}: {asked.outlook(workers)}")
    whole = asked.run(
        workers=workers, ray=ray, retry=retry, budget=limit, progress=progress(), say=log.warning, tell=log.info
    )
    for line in asked.lines():
        typer.echo(line)
    if page is not None:
        write_text(page, asked.page())
        typer.echo(f"wrote {page}")
    if plot is not None:
        asked.plot(plot)
        typer.echo(f"wrote {plot}")
    if asked.failed:
        log.warning(f"{asked.failed} runs failed ({results} says why); --retry does them again.")
        raise typer.Exit(1)
    if not whole:
        typer.echo("Some of the planned runs are missing. Run the command again, or give a larger --budget.")


def size_of(text: str) -> int | None:
    """Read a number of graphs, or all.

    >>> size_of("100"), size_of("all")
    (100, None)
    """
    if text == "all":
        return None
    if not text.isdecimal():
        raise InputError(f"--sizes takes numbers of graphs and the word all, got {text!r}")
    return int(text)
