"""``epic figures``: the paper's figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epic.cli.messages import progress
from epic.cli.options import make_folder
from epic.errors import choose


def figures(
    out: Annotated[Path, typer.Option(help="Folder for the figures.")],
    results: Annotated[
        Path, typer.Option(help="Finished runs of `epic reproduce`; what is not there is measured now.")
    ] = Path("results/bench.jsonl"),
    format: Annotated[str, typer.Option(help="png, pdf or svg.")] = "png",
    only: Annotated[
        list[str] | None,
        typer.Option(help="edit_path, curves, correspondence, lollipop_costs or blur; may be given many times."),
    ] = None,
    graphs: Annotated[int, typer.Option(help="Lollipop graphs to learn from where no runs are there.", min=80)] = 600,
    epochs: Annotated[int, typer.Option(help="Epochs of that learning at most.", min=1)] = 40,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
) -> None:
    """Draw the paper's figures from real runs, each with a JSON file of the numbers in it.

    Numbers of finished runs are taken from the results; the rest is learned and measured now, on lollipop graphs, which
    needs no data. Each figure says which.

    Example: epic figures --out figures --format pdf
    """
    from epic.compare.store import Store
    from epic.paper.figure_data import FigureData
    from epic.paper.figures import FIGURES, FORMATS, draw

    choose(format, FORMATS, "format")
    names = [choose(name, FIGURES, "figure") for name in only or FIGURES]
    numbers = FigureData(Store(results), graphs=graphs, epochs=epochs, seed=seed, progress=progress())
    make_folder(out)
    for name in names:
        drawn = draw(name, numbers)
        picture, numbers_file = drawn.save(out, name, format)
        typer.echo(f"wrote {picture} and {numbers_file.name} ({drawn.source})")
