"""``epic train``: one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from epic.cli.options import (
    ConfigFile,
    DataFolder,
    DatasetName,
    Device,
    Seed,
    SplitSeed,
    Target,
    TaskKind,
    check_device,
    make_folder,
    say_notes,
    settings_of,
    targets,
)


def train(
    dataset: DatasetName,
    target: Target = None,
    task: TaskKind = None,
    method: Annotated[str, typer.Option(help="Any name that `epic methods` lists.")] = "vanilla",
    set: Annotated[
        list[str] | None, typer.Option(help="Setting of the method, as NAME=VALUE; may be given many times.")
    ] = None,
    backbone: Annotated[str, typer.Option(help="gin or gcn.")] = "gin",
    pool: Annotated[str | None, typer.Option(help="sum or mean (default: sum; mean for molecules).")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Change of the backbone, as NAME=VALUE: hidden_channels, num_layers, dropout, pool, ..."),
    ] = None,
    cost: Annotated[Path | None, typer.Option(help="A cost from `epic fit`; without it, one is learned first.")] = None,
    learn: Annotated[
        list[str] | None,
        typer.Option(help="How EPIC's cost is learned, as NAME=VALUE: epochs, assignment, sinkhorn (k), backbone."),
    ] = None,
    fit_epochs: Annotated[
        int | None, typer.Option(help="Epochs of what a method other than EPIC learns first.", min=1)
    ] = None,
    ratio: Annotated[float | None, typer.Option(help="Augmented graphs for each original.", min=0)] = None,
    indicator: Annotated[
        bool, typer.Option("--indicator", help="Append EPIC's 'is augmented' node feature, as the paper does.")
    ] = False,
    noise: Annotated[
        float, typer.Option(help="Share of training and validation labels to corrupt.", min=0, max=1)
    ] = 0.0,
    epochs: Annotated[int, typer.Option(help="Epochs at most.", min=1)] = 100,
    batch_size: Annotated[int | None, typer.Option(help="Graphs in a batch (128; for molecules 32).", min=1)] = None,
    lr: Annotated[float, typer.Option(help="Adam's learning rate.")] = 1e-3,
    weight_decay: Annotated[float, typer.Option(help="Adam's weight decay.", min=0)] = 0.0,
    decay: Annotated[float, typer.Option(help="Factor of the learning rate every --decay-every epochs.")] = 0.5,
    decay_every: Annotated[int, typer.Option(help="0: the learning rate stays.", min=0)] = 0,
    patience: Annotated[
        int, typer.Option(help="Epochs without a better validation score to stop after; 0: never.")
    ] = 0,
    workers: Annotated[int, typer.Option(help="Processes that make batches; results do not depend on it.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="Folder for checkpoint, history and result.")] = Path("runs"),
    config: ConfigFile = None,
    data: DataFolder = None,
    seed: Seed = 0,
    split_seed: SplitSeed = 0,
    split: Annotated[
        str, typer.Option(help="official: the dataset's own where it has one; stratified: 70/10/20 in any case.")
    ] = "official",
    device: Device = "cpu",
) -> None:
    """Train and evaluate one classifier, with or without augmentation.

    Killed in the middle and started again with the same options, it goes on from its checkpoint, to the same result.

    Examples:

    epic train NCI1 --method epic --seed 0

    epic train NCI1 --method drop_edge --set p=0.3
    """
    from epic._checkpoint import identity
    from epic.cli.tensorboard import watcher
    from epic.train.config import run_config
    from epic.train.run import checksum, dataset_of, file_digest
    from epic.train.run import run as run_it

    settings = settings_of(set)
    if ratio is not None:
        settings["ratio"] = ratio
    if indicator:
        settings["indicator"] = True
    chosen = run_config(
        dataset=dataset,
        method=method,
        settings=settings,
        backbone=backbone,
        fit_epochs=fit_epochs,
        model={**settings_of(model, "--model"), **({} if pool is None else {"pool": pool})},
        epochs=epochs,
        batch_size=batch_size,
        lr=lr,
        weight_decay=weight_decay,
        decay=decay,
        decay_every=decay_every,
        patience=patience,
        noise=noise,
        split=split,
        split_seed=split_seed,
        seed=seed,
        target=targets(target),
        task=task,
        cost={**settings_of(learn, "--learn"), "file": None if cost is None else str(cost)},
    )
    check_device(device)
    loaded, _ = dataset_of(chosen, data)
    say_notes(loaded)
    # Other settings or other data, another folder: nothing is overwritten.
    what = identity(chosen.key, checksum(loaded), "" if cost is None else file_digest(cost))[:8]
    name = f"{loaded.name}-{method}-{backbone}-split{split_seed}-seed{seed}-{what}"
    folder = make_folder(out / name)
    chosen.save(folder / "config.yaml")
    record = run_it(
        chosen, folder, data=data, folder=folder, device=device, workers=workers, watch=watcher(folder / "tensorboard")
    )
    (folder / "result.json").write_text(json.dumps(record, indent=1) + "\n")
    metric = {"classes": "accuracy", "binary": "ROC-AUC", "values": "minus mean absolute error"}[loaded.task]
    typer.echo(
        f"{name}: test {metric} {record['test']:.4f} at the best validation epoch {record['best_epoch']} "
        f"(validation {record['validation']:.4f}); {record['seconds'] / record['epochs']:.2f} s an epoch"
    )
    typer.echo(f"wrote {folder}")
