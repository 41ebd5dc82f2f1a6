"""``epic report``: results beside the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from epic.compare.plan import Plan

from epic.cli.fields import listed
from epic.cli.messages import log
from epic.cli.options import (
    Epochs,
    OnlyBackbones,
    OnlyDatasets,
    OnlyMethods,
    Seeds,
    Tune,
    narrowing,
    need_writable,
    whole_path,
)
from epic.errors import choose, need_some


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
    choose(form, ("html", "md", "csv", "latex"), "format")
    target = Path("report.html") if out is None and form == "html" else out
    if target is not None:
        need_writable(target)
    from epic.augment import METHODS
    from epic.compare.plan import load_plan, names
    from epic.paper import report as view
    from epic.paper.run_summary import Merged, present, unshown

    every = [load_plan(n) for n in names()]
    rows = None if methods is None else need_some(listed(methods), "methods")
    for name in rows or ():
        choose(name, dict.fromkeys((*METHODS, *(e.label for p in every for e in p.entries))), "method")
    store = Merged(results or [Path("results/bench.jsonl")])
    # As it was when it was run: a file may have changed since, or be on another machine.
    sums = {str(c.get("dataset")): c.get("checksum") for r in store if isinstance(c := r.get("config"), dict)}
    for name in () if datasets is None else map(whole_path, listed(datasets)):
        choose(name, dict.fromkeys((*(d for p in every for d in p.datasets), *sums)), "dataset in these results")

    def narrow(plan: Plan) -> Plan | None:
        known = {*METHODS, *(e.label for e in plan.entries)}
        asked = None if rows is None else ",".join(n for n in rows if plan.entries and n in known)
        if asked == "":
            return None
        files = {name: value for name, value in sums.items() if value is not None}
        return narrowing(datasets, asked, backbones, files, seeds=seeds, epochs=epochs, tune=tune)(plan)

    found = present(store, plans or (), narrow)
    left = unshown(found, store)
    if left and all(option is None for option in (plans, datasets, methods, backbones, seeds, epochs, tune)):
        log.warning(
            f"{left} results are in no table here: they were made with other datasets, seeds, epochs or tuning than "
            "the plans have (give these options to see them), by epic compare, or by other code."
        )
    for name in plans or ():
        if not any(p.name == name for p in found):
            log.warning(f"nothing of {name} with these options")
    text = view.report(store, found, form)
    if target is None:
        typer.echo(text, nl=False)
        return
    target.write_text(text, encoding="utf-8")
    typer.echo(f"wrote {target}")
