"""``epic compare``: which method helps on your graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from epic.cli.fields import listed, options_from
from epic.cli.messages import log, progress
from epic.cli.options import ConfigFile, DataFolder, Ray, Retry, Workers, seconds_of, tell_notes
from epic.train.config import RunConfig


@options_from(RunConfig, "dataset", "target", "task", "backbone", "model", "cost", "fit_epochs", "epochs", "batch_size")
def compare(
    run: dict[str, Any],
    methods: Annotated[str, typer.Option(help="Methods to compare with vanilla, separated by commas.")] = "epic",
    splits: Annotated[int, typer.Option(help="Stratified splits; three at least for a verdict.", min=1)] = 5,
    seeds: Annotated[int, typer.Option(help="Training seeds for each split.", min=1)] = 3,
    tune: Annotated[int, typer.Option(help="Settings that every method may try on validation.", min=0)] = 3,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Begin no run after this time (45s, 30m, 2h), finish those that have begun, and tell what there is.",
            show_default=False,
        ),
    ] = None,
    workers: Workers = 1,
    ray: Ray = None,
    retry: Retry = False,
    results: Annotated[Path, typer.Option(help="File that runs are kept in.")] = Path("compare.jsonl"),
    config: ConfigFile = None,
    data: DataFolder = None,
) -> None:
    """Say, with an interval, whether augmentation helps on a dataset or on your own file.

    Every method meets the same splits and the same initial weights, may try as many settings on validation, and takes
    the same number of gradient steps. Runs are kept: the same command goes on where it stopped, and more splits add to
    what is there. "No evidence that it helps" is a fine answer.

    Example: epic compare MUTAG --methods epic,submix,drop_edge --budget 30m
    """
    from epic.compare.study import study
    from epic.train.config import run_config

    limit = None if budget is None else seconds_of(budget)
    run_config(**run)  # it refuses values that it cannot use
    asked = study(
        methods=listed(methods),
        results=results,
        data=data,
        progress=progress(),
        splits=splits,
        seeds=seeds,
        tune=tune,
        **run,
    )
    tell_notes(asked.dataset)
    log.info(f"{asked.dataset.name}: {asked.outlook(workers)}")
    whole = asked.run(workers=workers, ray=ray, retry=retry, budget=limit, progress=progress(), say=log.warning)
    for line in asked.lines():
        typer.echo(line)
    if asked.failed:
        log.warning(f"{asked.failed} runs failed ({results} says why); --retry does them again.")
        raise typer.Exit(1)
    if not whole:
        typer.echo("Stopped before the end: run the same command again to go on.")
