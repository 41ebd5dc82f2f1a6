"""``epic fit``: learn costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from epic.cli.fields import options_from
from epic.cli.messages import log, progress
from epic.cli.options import DataFolder, Device, check_device, need_writable, opened
from epic.train.config import CostConfig, RunConfig


@options_from(RunConfig, "dataset", "target", "task", "split", "split_seed", "seed")
@options_from(CostConfig, "backbone", "assignment", "epochs", "sinkhorn", into="how", panel="Learning")
def fit(
    run: dict[str, Any],
    how: dict[str, Any],
    out: Annotated[Path, typer.Option(help="File to write the learned cost to.")],
    data: DataFolder = None,
    device: Device = "cpu",
) -> None:
    """Learn what edits cost from the training graphs of a dataset.

    Killed in the middle and started again with the same options, it goes on from its checkpoint, next to the output
    file.

    Example: epic fit NCI1 --out nci1.safetensors
    """
    need_writable(out, ".safetensors", besides=[run["dataset"]])
    check_device(device)
    from epic._io import alone
    from epic.costs import LearnedCost
    from epic.data.splits import need_parts, split_of

    loaded = opened(run, data)
    split = split_of(loaded.y, kind=run["split"], official=loaded.split, seed=run["split_seed"])
    need_parts(split, "train")
    train, validation = loaded.graphs.select(split.train), loaded.graphs.select(split.validation)
    log.info(f"{loaded.name}: {len(train)} graphs to learn from, {len(validation)} to validate on")
    with alone(out):
        cost = LearnedCost(backbone=how["backbone"]).fit(
            train,
            validation=validation,
            task=loaded.task,
            checkpoint=out.with_name(out.name + ".ckpt"),
            device=device,
            progress=progress(),
            **CostConfig(**how).learning(run["seed"]),
        )
        cost.to("cpu").save(out)
    typer.echo(str(cost))
    typer.echo(f"wrote {out}")
