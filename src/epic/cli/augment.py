"""``epic augment``: graphs made ahead of training."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from epic.cli.options import (
    ConfigFile,
    DataFolder,
    DatasetName,
    Ray,
    Seed,
    SplitSeed,
    Target,
    TaskKind,
    make_folder,
    say_notes,
    settings_of,
    targets,
)


def augment(
    dataset: DatasetName,
    out: Annotated[Path, typer.Option(help="Folder for the shards.")],
    target: Target = None,
    task: TaskKind = None,
    count: Annotated[int, typer.Option(help="Graphs to make.", min=1)] = 10_000,
    method: Annotated[str, typer.Option(help="Any name that `epic methods` lists and that makes graphs.")] = "epic",
    set: Annotated[
        list[str] | None, typer.Option(help="Setting of the method, as NAME=VALUE; may be given many times.")
    ] = None,
    cost: Annotated[Path | None, typer.Option(help="A cost from `epic fit`; without it, one is learned first.")] = None,
    part: Annotated[
        str, typer.Option(help="train: use the training graphs of the split only; all: use every graph.")
    ] = "train",
    shard: Annotated[int, typer.Option(help="Graphs in a file; a multiple of 256.")] = 10_240,
    workers: Annotated[int, typer.Option(help="Processes to share the work (0: this one).", min=0)] = 0,
    ray: Ray = None,
    config: ConfigFile = None,
    data: DataFolder = None,
    seed: Seed = 0,
    split_seed: SplitSeed = 0,
) -> None:
    """Make augmented graphs and write them to disk, in shards that load as a PyG dataset.

    Stopped in the middle and started again with the same options, it makes only what is missing or damaged; the
    files are the same as those of an uninterrupted run, whatever the number of workers.

    Example: epic augment NCI1 --cost nci1.safetensors --count 100000 --out aug

    Then, in Python: from epic.data import Shards; graphs = Shards("aug")
    """
    from tqdm import tqdm

    from epic.augment import method_class
    from epic.augment.offline import ShardMaker, check_shard, write_shards
    from epic.data.shards import begin
    from epic.errors import InputError, choose
    from epic.random import digest
    from epic.train.config import run_config
    from epic.train.run import dataset_of, file_digest, setup

    choose(part, ("train", "all"), "part")
    chosen = run_config(
        dataset=dataset,
        method=method,
        settings=settings_of(set),
        split_seed=split_seed,
        seed=seed,
        target=targets(target),
        task=task,
        cost={"file": None if cost is None else str(cost)},
    )
    check_shard(shard)
    if not method_class(method).makes_graphs:
        raise InputError(f"{method} makes no graphs, so there is nothing to write: it acts while a model is trained")
    loaded, split = dataset_of(chosen, data)
    say_notes(loaded)
    graphs = loaded.graphs if part == "all" else loaded.graphs.select(split.train)
    manifest = {
        "count": count,
        "shard": shard,
        "dataset": loaded.name,
        "data": digest(graphs.ptr, graphs.edge_index, graphs.x, graphs.edge_attr, graphs.y),
        "part": part,
        "config": chosen.model_dump(exclude={"dataset", "cost"}),
        "cost": None if cost is None else file_digest(cost),
    }
    make_folder(out)
    missing = begin(out, manifest)
    left = sum(size for _, size in missing)
    if left < count:
        typer.echo(f"{count - left} of {count} graphs are there already")
    for name in (n for n, _ in missing if (out / n).exists()):
        typer.echo(f"{out / name} is damaged: it is made again", err=True)
    ready = setup(chosen, out / "costs", data=data)
    maker = ShardMaker(ready.method, graphs, seed, count, shard)
    start = time.perf_counter()
    with tqdm(total=count, initial=count - left, desc="augmenting", unit="graph") as bar:
        for size in write_shards(maker, out, [name for name, _ in missing], workers, ray):
            bar.update(size)
    speed = f", {left / (time.perf_counter() - start):.0f} graphs/s" if left else ""
    typer.echo(f"wrote {count} graphs in {len(list(out.glob('shard-*.safetensors')))} shards to {out}{speed}")
