"""``epic compare``: which method helps on your graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epic.cli.options import (
    ConfigFile,
    DataFolder,
    DatasetName,
    Ray,
    Target,
    TaskKind,
    listed,
    say_notes,
    seconds_of,
    targets,
    whole_path,
)


def compare(
    dataset: DatasetName,
    target: Target = None,
    task: TaskKind = None,
    methods: Annotated[str, typer.Option(help="Methods to compare with vanilla, separated by commas.")] = "epic",
    backbone: Annotated[str, typer.Option(help="gin or gcn.")] = "gin",
    splits: Annotated[int, typer.Option(help="Stratified splits; three at least for a verdict.", min=1)] = 5,
    seeds: Annotated[int, typer.Option(help="Training seeds for each split.", min=1)] = 3,
    tune: Annotated[int, typer.Option(help="Settings that every method may try on validation.", min=0)] = 3,
    epochs: Annotated[int, typer.Option(help="Epochs of a run.", min=1)] = 100,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Begin no run after this time (45s, 30m, 2h), finish those that have begun, and tell what there is.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes, one thread each.", min=1)] = 1,
    ray: Ray = None,
    retry: Annotated[bool, typer.Option("--retry", help="Do failed runs again.")] = False,
    results: Annotated[Path, typer.Option(help="File that runs are kept in.")] = Path("compare.jsonl"),
    config: ConfigFile = None,
    data: DataFolder = None,
) -> None:
    """Say, with an interval, whether augmentation helps on a dataset or on a file of your own.

    Every method meets the same splits and the same initial weights, may try as many settings on validation, and takes
    the same number of gradient steps. Runs are kept: the same command goes on where it stopped, and more splits add to
    what is there. "No evidence that it helps" is a fine answer.

    Example: epic compare MUTAG --methods epic,submix,drop_edge --budget 30m
    """
    from rich.console import Console
    from rich.table import Table

    from epic.augment import METHODS
    from epic.compare.runner import carry_out, outlook
    from epic.compare.store import Store
    from epic.compare.study import comparison, lines, metric
    from epic.compare.task import Performer
    from epic.data import load
    from epic.errors import choose, need_some
    from epic.train.run import checksum

    names = [choose(n, METHODS, "method") for n in need_some(listed(methods), "methods")]
    limit = None if budget is None else seconds_of(budget)
    loaded = say_notes(load(dataset, data, labels=targets(target), task=task))
    plan = comparison(
        whole_path(dataset),
        names,
        backbone=backbone,
        splits=splits,
        seeds=seeds,
        tune=tune,
        epochs=epochs,
        checksum=checksum(loaded) if Path(dataset).exists() else None,
        target=targets(target),
        task=task,
    )
    store = Store(results)
    typer.echo(f"{loaded.name}: {outlook(plan, store, workers)}")
    perform = Performer(results.parent.resolve() / "costs", None if data is None else str(data.resolve()))
    whole = carry_out(
        plan,
        store,
        perform,
        workers=workers,
        ray=ray,
        retry=retry,
        budget=limit,
        say=lambda text: typer.echo(text, err=True),
    )
    table = Table(box=None, pad_edge=False)
    titles = ("method", "score", "difference", "95 % interval", "p", "runs", "epoch", "ms/graph", "settings", "verdict")
    for title in titles:
        table.add_column(title, overflow="fold")
    told = lines(plan, store)
    digits = ".4g" if loaded.task == "values" else ".2f"
    for line in told:
        gap = line.difference
        reach = (
            None
            if gap is None or gap.low is None or gap.high is None
            else f"{gap.low:+{digits}} to {gap.high:+{digits}}"
        )
        table.add_row(
            line.method,
            _number(line.score, digits),
            "-" if gap is None else _number(gap.difference, f"+{digits}"),
            reach or "-",
            "-" if gap is None else _number(gap.p, ".3f"),
            f"{line.runs}/{splits * seeds}",
            "-" if line.epoch is None else f"{line.seconds:.2f} s, {line.epoch:.2f}x",
            _number(line.graph, ".2f"),
            line.settings,
            line.verdict,
        )
    Console(width=max(Console().width, 150)).print(table)
    if any(line.score is not None for line in told):
        typer.echo(f"Score: {metric(plan, store)}, on the test graphs, mean over all runs.")
    typer.echo("Interval and p: corrected resampled t-test over splits; verdicts after Holm's correction over methods.")
    typer.echo("ms/graph: time to make one augmented graph, in the process that trains.")
    failed = sum(store.failed(t) is not None for t in plan.tasks(store))
    if failed:
        typer.echo(f"{failed} runs failed ({results} says why); --retry does them again.", err=True)
        raise typer.Exit(1)
    if not whole:
        typer.echo("Stopped before the end: run the same command again to go on.")


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
