"""``epic report``: results beside the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epic.cli.fields import listed
from epic.cli.messages import log
from epic.cli.options import (
    Epochs,
    OnlyBackbones,
    OnlyDatasets,
    OnlyMethods,
    Seeds,
    Tune,
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

    The page is one file that needs no network. Runs that are missing or failed are shown as such. Runs are shown as
    they were asked for, whatever the options of `epic reproduce` were; options here choose among them.

    Example: epic report main noise --results a.jsonl --results b.jsonl --out report.html
    """
    choose(form, ("html", "md", "csv", "latex"), "format")
    target = Path("report.html") if out is None and form == "html" else out
    if target is not None:
        need_writable(target)
    from epic.compare.store import Store
    from epic.paper import report as view
    from epic.paper.plans import load_plan, names
    from epic.paper.run_summary import called_plans, unshown

    every = [load_plan(n) for n in names()]
    rows = None if methods is None else tuple(need_some(listed(methods), "methods"))
    store = Store.merged(results or [Path("results/bench.jsonl")])
    kept = [c for r in store if isinstance(c := r.get("config"), dict)]
    known = dict.fromkeys((*(e.label for p in every for e in p.entries), *(c["method"] for c in kept if "method" in c)))
    for name in rows or ():
        choose(name, known, "method")
    chosen = None if datasets is None else tuple(map(whole_path, listed(datasets)))
    known = dict.fromkeys((*(d for p in every for d in p.datasets), *(str(c.get("dataset")) for c in kept)))
    for name in chosen or ():
        choose(name, known, "dataset in these results")
    only = {
        "datasets": chosen,
        "methods": rows,
        "backbones": None if backbones is None else tuple(listed(backbones)),
        "seeds": seeds,
        "epochs": epochs,
        "tune": tune,
    }
    found = called_plans(store, plans or (), **only)
    left = unshown(found, store)
    if left and not plans and all(value is None for value in only.values()):
        log.warning(f"{left} results are in no table here: they were made by epic compare, or by other code.")
    for name in plans or ():
        if not {name, *load_plan(name).parts} & {r.plan.name for r in found}:
            log.warning(f"nothing of {name} with these options")
    text = view.report(found, form)
    if target is None:
        typer.echo(text, nl=False)
        return
    target.write_text(text, encoding="utf-8")
    typer.echo(f"wrote {target}")
