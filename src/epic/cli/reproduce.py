"""``epic reproduce``: the paper's tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from epic.cli.fields import options_from
from epic.cli.messages import log, progress
from epic.cli.options import ConfigFile, DataFolder, Only, Ray, Retry, Workers, narrowing, need_writable, tell_notes


@options_from(Only, into="only", panel="Only a part")
def reproduce(
    only: dict[str, Any],
    plan: Annotated[
        str,
        typer.Argument(
            help="Of the paper: main, lollipop, distance, costs, noise, order, sinkhorn, molecules or curves; all does "
            "them one after the other. Our own: few and study (does EPIC help?), and distance_exact (a cost learned "
            "through the exact assignment).",
            show_default=False,
        ),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="A few minutes: two small datasets, two seeds, few epochs, no tuning.")
    ] = False,
    workers: Workers = 1,
    ray: Ray = None,
    retry: Retry = False,
    dry: Annotated[bool, typer.Option("--dry", help="Only say what there is to do.")] = False,
    timed: Annotated[
        bool,
        typer.Option("--probe", help="Before that, time a short run of each method on each dataset (some minutes)."),
    ] = False,
    results: Annotated[Path, typer.Option(help="File that runs are kept in.")] = Path("results/bench.jsonl"),
    out: Annotated[Path | None, typer.Option(help="Page to write (default: the plan's name .html).")] = None,
    config: ConfigFile = None,
    data: DataFolder = None,
) -> None:
    """Run an experiment of the paper and show it next to the printed numbers.

    Finished runs are kept, one JSON line each: killed and started again, it does only what is missing, and files of two
    machines merge with `cat`. First it says how many runs there are and about how long the rest takes.

    Example: epic reproduce main --datasets BZR,COX2 --backbones gin --workers 2

    How long everything would take here: epic reproduce all --workers 2 --dry --probe
    """
    from epic._io import write_text
    from epic.compare.runner import carry_out, outlook, probe
    from epic.compare.runs import Runs
    from epic.compare.store import Store
    from epic.compare.task import Performer
    from epic.data import load
    from epic.paper.plans import ALL, Call
    from epic.paper.report import report
    from epic.paper.task_runners import TASK_RUNNERS

    asked = narrowing(only)
    # What is in a file or folder may change under its name.
    files = {name: load(name) for name in asked["datasets"] or () if Path(name).exists()}
    kept: dict[str, Any] = {
        "checksums": {name: found.graphs.digest() for name, found in files.items()},
        "classes": {name: found.class_counts for name, found in files.items() if found.class_names},
    }
    calls = [Call(name, quick=quick, **kept, **asked) for name in (ALL if plan == "all" else (plan,))]
    plans = [(call, chosen) for call in calls for chosen in call.plans()]
    store = Store(results)
    page = need_writable(out or Path(f"{plan}.html"), besides=[results, *(asked["datasets"] or ())])
    # A name that is wrong, or data that is not here, ends it before anything is written.
    for name in dict.fromkeys(d for _, p in plans for d in p.datasets):
        tell_notes(load(name, data=data, progress=progress()))
    folder = None if data is None else str(data.resolve())
    perform = Performer(results.parent.resolve() / "costs", folder, TASK_RUNNERS)
    how: dict[str, Any] = {"workers": workers, "ray": ray, "retry": retry, "progress": progress(), "say": log.warning}
    shown = []
    for call, chosen in plans:
        runs = Runs(chosen, store)
        times = probe(runs, perform, progress=progress()) if timed else None
        typer.echo(f"{chosen.name}: {outlook(runs, workers, times)}")
        if not dry:
            carry_out(runs, perform, call=call.record(), **how)
        shown.append(runs)
    if not dry:
        write_text(page, report(shown))
        typer.echo("\n" + report(shown, "text"))
        typer.echo(f"wrote {page}")
        failed = sum(len(runs.failed) for runs in shown)
        if failed:
            log.warning(f"{failed} runs failed (the page says why); --retry does them again")
            raise typer.Exit(1)
