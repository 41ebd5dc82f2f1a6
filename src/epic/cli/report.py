"""``epic report``: results beside the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epic.cli.options import Epochs, OnlyBackbones, OnlyDatasets, OnlyMethods, Seeds, Tune, narrowing, need_writable


def report(
    plans: Annotated[
        list[str] | None,
        typer.Argument(metavar="PLAN", help="main, noise, distance, ... (default: all that have results)."),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(help="File of finished runs; give it several times to merge (default: results/bench.jsonl)."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write (default: report.html; other formats are printed).")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="html, md, csv or latex.")] = "html",
    datasets: OnlyDatasets = None,
    methods: OnlyMethods = None,
    backbones: OnlyBackbones = None,
    seeds: Seeds = None,
    epochs: Epochs = None,
    tune: Tune = None,
) -> None:
    """Show what was measured beside what the paper prints: tables, differences, curves, and how they were made.

    The page is one file that needs no network. Runs that are missing or failed are shown as such. Runs that were made
    with other seeds, epochs or tuning than the plan's are found by the same options as `epic reproduce` had.

    Example: epic report main noise --results a.jsonl --results b.jsonl --out report.html
    """
    from epic.errors import choose

    choose(form, ("html", "md", "csv", "latex"), "format")
    target = Path("report.html") if out is None and form == "html" else out
    if target is not None:
        need_writable(target)
    from epic.bench.account import Merged, present
    from epic.view import report as view

    narrow = narrowing(datasets, methods, backbones, seeds=seeds, epochs=epochs, tune=tune)
    store = Merged(results or [Path("results/bench.jsonl")])
    text = view.report(store, present(store, plans or (), narrow), form)
    if target is None:
        typer.echo(text, nl=False)
        return
    target.write_text(text, encoding="utf-8")
    typer.echo(f"wrote {target}")
