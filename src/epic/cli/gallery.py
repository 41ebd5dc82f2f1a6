"""``epic gallery``: many paths on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epic.cli.options import DataFolder, DatasetName, Seed, Target, TaskKind, need_writable, say_notes, targets


def gallery(
    dataset: DatasetName,
    pairs: Annotated[int, typer.Option(help="Paths to show, half of them within a class.", min=1)] = 12,
    cost: Annotated[
        Path | None, typer.Option(help="A cost from `epic fit`; without it, operations are counted.")
    ] = None,
    order: Annotated[str, typer.Option(help="random, bfs (along the target) or connected.")] = "random",
    out: Annotated[Path, typer.Option(help="Page to write: .html.")] = Path("gallery.html"),
    target: Target = None,
    task: TaskKind = None,
    data: DataFolder = None,
    seed: Seed = 0,
) -> None:
    """Draw many small edit paths on one page, within and between classes, to judge a cost at a glance.

    Example: epic gallery NCI1 --pairs 12 --cost nci1.safetensors --out gallery.html
    """
    from epic.errors import InputError

    need_writable(out)
    if out.suffix.lower() != ".html":
        raise InputError(f"cannot write a gallery to {out}: the name must end in .html")
    from epic.costs import Cost, UnitCost
    from epic.data import load
    from epic.view.gallery import compared, exhibits, gallery_page

    loaded = say_notes(load(dataset, data, labels=targets(target), task=task))
    prices = UnitCost() if cost is None else Cost.load(cost)
    shown = exhibits(loaded, prices, pairs, order, seed)
    used = "Operations are counted." if cost is None else f"Costs from {cost.name}."
    title = f"{len(shown)} edit paths of {loaded.name}"
    out.write_text(gallery_page(shown, title, used, loaded.name), encoding="utf-8")
    typer.echo(compared(shown) or f"{len(shown)} paths")
    typer.echo(f"wrote {out}")
