"""``epic path``: look at an edit path."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from epic.cli.fields import options_from
from epic.cli.options import CostFile, DataFolder, Order, cost_from, need_writable, opened
from epic.errors import InputError
from epic.train.config import RunConfig


@options_from(RunConfig, "dataset", "target", "task", "seed")
def path(
    run: dict[str, Any],
    start: Annotated[
        int, typer.Argument(metavar="SOURCE", help="Number of the source graph, from 0.", show_default=False)
    ],
    end: Annotated[int, typer.Argument(metavar="TARGET", help="Number of the target graph.", show_default=False)],
    cost: CostFile = None,
    order: Order = "random",
    out: Annotated[Path | None, typer.Option(help="Page with a slider (.html) or picture (.png, .svg, .pdf).")] = None,
    steps: Annotated[int, typer.Option(help="Graphs in a picture.", min=2)] = 6,
    data: DataFolder = None,
) -> None:
    """Print the edit path between two graphs of a dataset, and draw it.

    Example: epic path NCI1 12 57 --cost nci1.safetensors --out path.html
    """
    from epic.paths import edit_path
    from epic.paths.edit_path import SAVED_AS

    if out is not None:
        need_writable(out, *SAVED_AS)
    loaded = opened(run, data)
    for number in (start, end):
        if not 0 <= number < len(loaded):
            raise InputError(f"there is no graph {number} in {loaded.name}: graphs run from 0 to {len(loaded) - 1}")
    graphs = (loaded.graphs.graph(start), loaded.graphs.graph(end))
    found = edit_path(*graphs, cost_from(cost), order=order, seed=run["seed"], num_classes=loaded.num_classes)
    typer.echo(str(found))
    for k, operation in enumerate(found.operations, 1):
        label = " ".join(f"{v:.2f}" for v in found.label(k).tolist())
        typer.echo(f"{k:>4}  {operation!s:<32} {found.fraction(k):>6.1%} of cost   label {label}")
    if out is not None:
        ends = (f"graph {start}", f"graph {end}")
        title = f"{loaded.name}: graph {start} to graph {end}"
        found.save(out, title=title, names=loaded.name, ends=ends, steps=steps)
        typer.echo(f"wrote {out}")
