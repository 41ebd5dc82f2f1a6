"""``epic quality``: how good augmented graphs are in themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epic.cli.options import (
    DataFolder,
    DatasetName,
    Seed,
    SplitSeed,
    Target,
    TaskKind,
    need_writable,
    say_notes,
    targets,
)


def quality(
    dataset: DatasetName,
    methods: Annotated[str, typer.Option(help="Names that `epic methods` lists, with commas between.")] = "epic",
    graphs: Annotated[int, typer.Option(help="Training graphs to augment, once each.", min=2)] = 500,
    cost: Annotated[
        Path | None, typer.Option(help="A cost from `epic fit`, to measure by; without it, one is learned first.")
    ] = None,
    epochs: Annotated[int, typer.Option(help="Epochs at most, where a cost is learned.", min=1)] = 40,
    json: Annotated[Path | None, typer.Option(help="File to write the numbers to, too.")] = None,
    target: Target = None,
    task: TaskKind = None,
    data: DataFolder = None,
    seed: Seed = 0,
    split_seed: SplitSeed = 0,
) -> None:
    """Measure augmented graphs themselves, whatever a classifier makes of them.

    Interpolation error: how far a graph's distances to its two originals are from those that its label claims, in units
    of the distance between the originals; under the learned and the unit distance. '-' where a method does not mix two
    graphs. Disconnected: among graphs whose originals are connected.

    Example: epic quality NCI1 --methods drop_edge,submix,epic --cost nci1.safetensors
    """
    if json is not None:
        need_writable(json)
    from json import dumps

    from rich.console import Console
    from rich.table import Table

    from epic.augment import METHODS
    from epic.compare.quality import COLUMNS, quality_of_originals, row
    from epic.compare.quality import quality as measure
    from epic.costs import UnitCost
    from epic.costs.base import Cost
    from epic.data.catalog import cache_folder
    from epic.errors import choose
    from epic.train.config import run_config
    from epic.train.run import cost_of, dataset_of, setup
    from epic.view.molecule import KNOWN

    names = [choose(name.strip(), METHODS, "method") for name in methods.split(",")]
    wanted = {"file": None if cost is None else str(cost), "epochs": epochs}
    same = {"dataset": dataset, "seed": seed, "split_seed": split_seed, "target": targets(target), "task": task}
    configs = [run_config(method=n, cost=wanted, **same) for n in names]
    loaded, split = dataset_of(configs[0], data)
    say_notes(loaded)
    train, held = loaded.graphs.select(split.train), loaded.graphs.select(split.validation)
    folder = cache_folder() / "costs"
    learned, _ = cost_of(configs[0].cost, train, held, seed, folder)
    distances: dict[str, Cost] = {"learned": learned, "unit": UnitCost()}
    chemistry = KNOWN.get(loaded.name)

    found = {"(originals)": quality_of_originals(train, graphs, seed, chemistry)}
    for name, config in zip(names, configs, strict=True):
        ready = setup(config, folder, data=data)
        found[name] = measure(ready.method, train, distances, graphs, seed, chemistry)
    table = Table(box=None, pad_edge=False, title=f"{loaded.name}, {min(graphs, len(train))} training graphs")
    for at, title in enumerate(["method", *(f"error, {d}" for d in distances), *COLUMNS.values()]):
        table.add_column(title, justify="right" if at else "left")
    for name, measured in found.items():
        table.add_row(*row(name, measured, list(distances)))
    Console(width=max(Console().width, 110)).print(table)
    if json is not None:
        from dataclasses import asdict

        json.write_text(dumps({name: asdict(m) for name, m in found.items()}, indent=1) + "\n")
        typer.echo(f"wrote {json}")
