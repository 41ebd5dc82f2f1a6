"""``epic path``: look at an edit path."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epic.cli.options import DataFolder, DatasetName, Seed, Target, TaskKind, need_writable, say_notes, targets


def path(
    dataset: DatasetName,
    source: Annotated[int, typer.Argument(help="Number of the source graph, from 0.", show_default=False)],
    target: Annotated[int, typer.Argument(help="Number of the target graph.", show_default=False)],
    cost: Annotated[
        Path | None, typer.Option(help="A cost from `epic fit`; without it, operations are counted.")
    ] = None,
    order: Annotated[str, typer.Option(help="random, bfs (along the target) or connected.")] = "random",
    out: Annotated[Path | None, typer.Option(help="Page with a slider (.html) or picture (.png, .svg, .pdf).")] = None,
    steps: Annotated[int, typer.Option(help="Graphs in a picture.", min=2)] = 6,
    column: Target = None,
    task: TaskKind = None,
    data: DataFolder = None,
    seed: Seed = 0,
) -> None:
    """Print the edit path between two graphs of a dataset, and draw it.

    Example: epic path NCI1 12 57 --cost nci1.safetensors --out path.html
    """
    from epic.costs import Cost, UnitCost
    from epic.data import load
    from epic.errors import InputError
    from epic.paths import edit_path
    from epic.paths.edit_path import SAVED_AS

    if out is not None:
        need_writable(out)
        if out.suffix.lower() not in SAVED_AS:
            raise InputError(f"cannot draw {out}: the name must end in {', '.join(SAVED_AS)}")
    loaded = say_notes(load(dataset, data, labels=targets(column), task=task))
    for number in (source, target):
        if not 0 <= number < len(loaded):
            raise InputError(f"there is no graph {number} in {loaded.name}: graphs run from 0 to {len(loaded) - 1}")
    prices = UnitCost() if cost is None else Cost.load(cost)
    found = edit_path(loaded.graphs.graph(source), loaded.graphs.graph(target), prices, order, seed, loaded.num_classes)
    typer.echo(str(found))
    for k, operation in enumerate(found.operations, 1):
        label = " ".join(f"{v:.2f}" for v in found.label(k).tolist())
        typer.echo(f"{k:>4}  {operation!s:<32} {found.fraction(k):>6.1%} of cost   label {label}")
    if out is not None:
        ends = (f"graph {source}", f"graph {target}")
        found.save(out, f"{loaded.name}: graph {source} to graph {target}", loaded.name, ends, steps)
        typer.echo(f"wrote {out}")
