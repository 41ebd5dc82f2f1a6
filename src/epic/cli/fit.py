"""``epic fit``: learn costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epic.cli.options import (
    DataFolder,
    DatasetName,
    Device,
    Seed,
    SplitSeed,
    Target,
    TaskKind,
    check_device,
    need_writable,
    say_notes,
    targets,
)


def fit(
    dataset: DatasetName,
    out: Annotated[Path, typer.Option(help="File to write the learned cost to.")],
    target: Target = None,
    task: TaskKind = None,
    data: DataFolder = None,
    backbone: Annotated[str, typer.Option(help="gin or gcn.")] = "gin",
    assignment: Annotated[
        str, typer.Option(help="sinkhorn (as in the paper) or hungarian (exact; about twice as fast).")
    ] = "sinkhorn",
    epochs: Annotated[int, typer.Option(help="Epochs at most.", min=1)] = 40,
    seed: Seed = 0,
    split_seed: SplitSeed = 0,
    device: Device = "cpu",
) -> None:
    """Learn what edits cost from the training graphs of a dataset.

    Killed in the middle and started again with the same options, it goes on from its checkpoint beside the output file.

    Example: epic fit NCI1 --out nci1.safetensors
    """
    need_writable(out)
    check_device(device)
    from epic.costs import LearnedCost
    from epic.data import load
    from epic.data.splits import split_of

    loaded = say_notes(load(dataset, data, labels=targets(target), task=task))
    split = split_of(loaded.y, official=loaded.split, seed=split_seed)
    train, validation = loaded.graphs.select(split.train), loaded.graphs.select(split.validation)
    typer.echo(f"{loaded.name}: {len(train)} graphs to learn from, {len(validation)} to validate on")
    cost = LearnedCost(backbone=backbone).fit(
        train,
        validation=validation,
        checkpoint=out.with_name(out.name + ".ckpt"),
        assignment=assignment,
        epochs=epochs,
        seed=seed,
        device=device,
    )
    best = min(cost.history, key=lambda e: e.judged)
    cost.to("cpu").save(out)
    typer.echo(f"best epoch {best.epoch + 1} of {len(cost.history)}: {best}")
    typer.echo(f"wrote {out}")
