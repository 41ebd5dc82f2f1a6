"""``epic compare``: which method helps on your graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from epic.cli.fields import listed, options_from
from epic.cli.messages import log, progress, show
from epic.cli.options import ConfigFile, DataFolder, Ray, Retry, Workers, opened, seconds_of, whole_path
from epic.errors import choose, need_some
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
    """Say, with an interval, whether augmentation helps on a dataset or on a file of your own.

    Every method meets the same splits and the same initial weights, may try as many settings on validation, and takes
    the same number of gradient steps. Runs are kept: the same command goes on where it stopped, and more splits add to
    what is there. "No evidence that it helps" is a fine answer.

    Example: epic compare MUTAG --methods epic,submix,drop_edge --budget 30m
    """
    from epic.augment import METHODS
    from epic.compare.runner import carry_out, outlook
    from epic.compare.store import Store
    from epic.compare.study import comparison, lines, metric
    from epic.compare.task import Performer
    from epic.train.config import run_config
    from epic.train.run import checksum

    names = [choose(n, METHODS, "method") for n in need_some(listed(methods), "methods")]
    limit = None if budget is None else seconds_of(budget)
    run_config(**run)  # it refuses values that it cannot use
    loaded = opened(run, data)
    dataset = run.pop("dataset")
    plan = comparison(
        whole_path(dataset),
        names,
        splits=splits,
        seeds=seeds,
        tune=tune,
        checksum=checksum(loaded) if Path(dataset).exists() else None,
        **run,
    )
    store = Store(results)
    log.info(f"{loaded.name}: {outlook(plan, store, workers)}")
    perform = Performer(results.parent.resolve() / "costs", None if data is None else str(data.resolve()))
    whole = carry_out(
        plan,
        store,
        perform,
        workers=workers,
        ray=ray,
        retry=retry,
        budget=limit,
        progress=progress(),
        say=log.warning,
    )
    told = lines(plan, store)
    digits = ".4g" if loaded.task == "values" else ".2f"
    rows = []
    for line in told:
        gap = line.difference
        reach = (
            None
            if gap is None or gap.low is None or gap.high is None
            else f"{gap.low:+{digits}} to {gap.high:+{digits}}"
        )
        rows.append(
            (
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
        )
    titles = ("method", "score", "difference", "95 % interval", "p", "runs", "epoch", "ms/graph", "settings", "verdict")
    show(titles, rows)
    if any(line.score is not None for line in told):
        typer.echo(f"Score: {metric(plan, store)}, on the test graphs, mean over all runs.")
    typer.echo("Interval and p: corrected resampled t-test over splits; verdicts after Holm's correction over methods.")
    typer.echo("ms/graph: time to make one augmented graph, in the process that trains.")
    failed = sum(store.failed(t) is not None for t in plan.tasks(store))
    if failed:
        log.warning(f"{failed} runs failed ({results} says why); --retry does them again.")
        raise typer.Exit(1)
    if not whole:
        typer.echo("Stopped before the end: run the same command again to go on.")


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
