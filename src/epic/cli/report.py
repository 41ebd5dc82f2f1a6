"""``epic report``: results next to the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from epic.cli.fields import options_from
from epic.cli.messages import log
from epic.cli.options import Only, narrowing, need_writable
from epic.errors import choose


@options_from(Only, into="only", panel="Only a part")
def report(
    only: dict[str, Any],
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
    form: Annotated[str, typer.Option("--format", help="html, md, csv, latex, or text for a terminal.")] = "html",
) -> None:
    """Show what was measured next to what the paper prints: tables, differences, curves, and how they were made.

    The page is one file that needs no network. Runs that are missing or failed are shown as such. Runs are shown as
    they were asked for, whatever the options of `epic reproduce` were; options here choose among them.

    Example: epic report main noise --results a.jsonl --results b.jsonl --out report.html
    """
    from epic._io import write_text
    from epic.compare.store import Store
    from epic.paper import report as view
    from epic.paper.plans import load_plan, names
    from epic.paper.run_summary import called_plans, unshown

    asked = narrowing(only)
    choose(form, view.FORMATS, "format")
    target = Path("report.html") if out is None and form == "html" else out
    if target is not None:
        need_writable(target, besides=results or ())
    every = [load_plan(n) for n in names()]
    store = Store.merged(results or [Path("results/bench.jsonl")])
    kept = [c for r in store if isinstance(c := r.get("config"), dict)]
    known = {
        "methods": (*(e.label for p in every for e in p.entries), *(c["method"] for c in kept if "method" in c)),
        "datasets": (*(d for p in every for d in p.datasets), *(str(c.get("dataset")) for c in kept)),
    }
    for what, names_of in known.items():
        for name in asked[what] or ():
            choose(name, dict.fromkeys(names_of), f"{what[:-1]} in these results")
    found = called_plans(store, plans or (), **asked)
    left = unshown(found, store)
    if left and not plans and all(value is None for value in asked.values()):
        log.warning(f"{left} results are in no table here: they were made by epic compare, or by other code.")
    for name in plans or ():
        if not {name, *load_plan(name).parts} & {r.plan.name for r in found}:
            log.warning(f"nothing of {name} with these options")
    text = view.report(found, form)
    if target is None:
        typer.echo(text, nl=False)
        return
    write_text(target, text)
    if form == "html":
        typer.echo(view.report(found, "text"))
    typer.echo(f"wrote {target}")
