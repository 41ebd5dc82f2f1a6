"""``epic quality``: how good augmented graphs are in themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from epic.cli.fields import listed, options_from
from epic.cli.messages import progress, show
from epic.cli.options import DataFolder, EdgePrice, Matching, check_edge_price, need_writable, tell_notes
from epic.errors import InputError, choose, need_some
from epic.train.config import RunConfig, default_settings, run_config


@options_from(RunConfig, "dataset", "target", "task", "cost", "split", "split_seed", "seed")
def quality(
    run: dict[str, Any],
    methods: Annotated[str, typer.Option(help="Names that `epic methods` lists, separated by commas.")] = "epic",
    graphs: Annotated[int, typer.Option(help="Training graphs to augment, once each.", min=2)] = 500,
    matching: Matching = "nodes",
    edge_price: EdgePrice = None,
    json: Annotated[Path | None, typer.Option(help="File to write the numbers to, too.")] = None,
    data: DataFolder = None,
) -> None:
    """Measure augmented graphs themselves, whatever a classifier makes of them.

    Interpolation error: how far a graph's distances to its two originals are from those that its label claims, in units
    of the distance between the originals; under the learned and the unit distance. '-' where a method does not mix two
    graphs. Disconnected: among graphs whose originals are connected.

    Example: epic quality NCI1 --methods drop_edge,submix,epic --cost nci1.safetensors
    """
    if json is not None:
        need_writable(json, ".json", besides=[run["dataset"], run["cost"]["file"]])
    from dataclasses import asdict
    from json import dumps

    from epic._io import write_text
    from epic.augment import METHODS
    from epic.compare.quality import COLUMNS, quality_of_originals, row
    from epic.compare.quality import quality as measure
    from epic.costs import Cost, UnitCost
    from epic.data.collection import cache_folder
    from epic.data.splits import need_parts
    from epic.train.run import cost_of, dataset_of, fitted
    from epic.view.names import dataset_names

    names = [choose(name, METHODS, "method") for name in need_some(listed(methods), "methods")]
    check_edge_price(edge_price, matching)
    asked: dict[str, Any] = {"matching": matching} if matching != "nodes" else {}
    asked |= {"edge_price": edge_price} if edge_price is not None else {}
    known = {name: {k: v for k, v in asked.items() if k in default_settings(name)} for name in names}
    if asked and not any(known.values()):
        raise InputError(f"--matching and --edge-price are for epic, and the methods are {', '.join(names)}")
    configs = [run_config(method=name, settings=known[name], **run) for name in names]
    loaded, split = dataset_of(configs[0], data)
    tell_notes(loaded)
    train = loaded.graphs.select(need_parts(split, "train").train)
    folder, seed, chemistry = cache_folder() / "costs", run["seed"], dataset_names(loaded).chemistry
    learned, _ = cost_of(configs[0].cost, loaded, split, seed, folder, progress=progress())
    distances: dict[str, Cost] = {"learned": learned, "unit": UnitCost()}

    how: dict[str, Any] = {"count": graphs, "seed": seed, "chemistry": chemistry}
    found = {"(originals)": quality_of_originals(train, **how)}
    for name, config in zip(names, configs, strict=True):
        method, _ = fitted(config, loaded, split, folder, progress=progress())
        found[name] = measure(method, train, costs=distances, **how)
    titles = ["method", *(f"error, {d}" for d in distances), *COLUMNS.values()]
    rows = [row(name, measured, list(distances)) for name, measured in found.items()]
    show(titles, rows, title=f"{loaded.name}, {min(graphs, len(train))} training graphs", width=110)
    if json is not None:
        write_text(json, dumps({name: asdict(m) for name, m in found.items()}, indent=1) + "\n")
        typer.echo(f"wrote {json}")
