"""``epic augment``: graphs made ahead of training."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from epic.cli.fields import options_from
from epic.cli.messages import log, progress
from epic.cli.options import ConfigFile, DataFolder, Ray, make_folder, tell_notes
from epic.errors import InputError, choose
from epic.train.config import RunConfig, run_config


@options_from(
    RunConfig,
    *("dataset", "target", "task", "split", "split_seed", "method", "settings", "fit_epochs", "cost", "seed"),
    method="epic",
)
def augment(
    run: dict[str, Any],
    out: Annotated[Path, typer.Option(help="Folder for the shards.")],
    count: Annotated[int, typer.Option(help="Graphs to make.", min=1)] = 10_000,
    part: Annotated[
        str, typer.Option(help="train: use the training graphs of the split only; all: use every graph.")
    ] = "train",
    shard: Annotated[int, typer.Option(help="Graphs in a file; a multiple of 256.")] = 10_240,
    workers: Annotated[int, typer.Option(help="Processes to share the work (0: this one).", min=0)] = 0,
    ray: Ray = None,
    config: ConfigFile = None,
    data: DataFolder = None,
) -> None:
    """Make augmented graphs and write them to disk, in shards that load as a PyG dataset.

    Stopped in the middle and started again with the same options, it makes only what is missing or damaged; the
    files are the same as those of an uninterrupted run, whatever the number of workers.

    Example: epic augment NCI1 --cost nci1.safetensors --count 100000 --out aug

    Then, in Python: from epic.data import Shards; graphs = Shards("aug")
    """
    from tqdm import tqdm

    from epic._io import alone
    from epic.augment import find_method
    from epic.augment.generation import ShardMaker, check_shard, write_shards
    from epic.data.shards import begin
    from epic.data.splits import need_parts
    from epic.train.run import dataset_of, file_digest, fitted

    choose(part, ("train", "all"), "part")
    chosen = run_config(**run)
    check_shard(shard)
    if not find_method(chosen.method).cls.makes_graphs:
        raise InputError(
            f"{chosen.method} makes no graphs, so there is nothing to write: it acts while a model is trained"
        )
    loaded, split = dataset_of(chosen, data)
    tell_notes(loaded)
    need_parts(split, "train")
    graphs = loaded.graphs if part == "all" else loaded.graphs.select(split.train)
    file = chosen.cost.file
    manifest = {
        "count": count,
        "shard": shard,
        "dataset": loaded.name,
        "data": graphs.digest(),
        "part": part,
        "config": chosen.model_dump(exclude={"dataset": True, "cost": {"file"}}),
        "cost": None if file is None else file_digest(file),
    }
    make_folder(out)
    with alone(out):
        missing = begin(out, manifest)
        left = sum(size for _, size in missing)
        if left < count:
            log.info(f"{count - left} of {count} graphs are there already")
        for name in (n for n, _ in missing if (out / n).exists()):
            log.warning(f"{out / name} is damaged: it is made again")
        method, _ = fitted(chosen, loaded, split, out / "costs", progress=progress())
        maker = ShardMaker(method, graphs, chosen.seed, count, shard)
        start = time.perf_counter()
        with tqdm(total=count, initial=count - left, desc="augmenting", unit="graph", disable=not progress()) as bar:
            for size in write_shards(maker, out, [name for name, _ in missing], workers, ray):
                bar.update(size)
    speed = f", {left / (time.perf_counter() - start):.0f} graphs/s" if left else ""
    typer.echo(f"wrote {count} graphs in {len(list(out.glob('shard-*.safetensors')))} shards to {out}{speed}")
