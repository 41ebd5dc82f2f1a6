"""``epic report``: results beside the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from epic.bench.plan import Plan

from epic.cli.options import (
    Epochs,
    OnlyBackbones,
    OnlyDatasets,
    OnlyMethods,
    Seeds,
    Tune,
    listed,
    narrowing,
    need_writable,
)


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
    from epic.errors import choose, need_some

    choose(form, ("html", "md", "csv", "latex"), "format")
    target = Path("report.html") if out is None and form == "html" else out
    if target is not None:
        need_writable(target)
    from epic.augment import METHODS
    from epic.bench.account import Merged, present
    from epic.bench.plan import load_plan, names
    from epic.view import report as view

    rows = None if methods is None else need_some(listed(methods), "methods")
    for name in rows or ():
        choose(name, {*METHODS, *(e.label for n in names() for e in load_plan(n).entries)}, "method")

    def narrow(plan: Plan) -> Plan | None:
        known = {*METHODS, *(e.label for e in plan.entries)}
        there = None if rows is None else ",".join(n for n in rows if plan.entries and n in known)
        if there == "":
            return None
        return narrowing(datasets, there, backbones, seeds=seeds, epochs=epochs, tune=tune)(plan)

    store = Merged(results or [Path("results/bench.jsonl")])
    found = present(store, plans or (), narrow)
    for name in plans or ():
        if not any(p.name == name for p in found):
            typer.echo(f"nothing of {name} with these options", err=True)
    text = view.report(store, found, form)
    if target is None:
        typer.echo(text, nl=False)
        return
    target.write_text(text, encoding="utf-8")
    typer.echo(f"wrote {target}")
