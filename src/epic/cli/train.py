"""``epic train``: one run."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from epic.cli.options import DataFolder, DatasetName, Device, Seed, SplitSeed, check_device

METHODS = ("vanilla", "epic")


def train(
    dataset: DatasetName,
    method: Annotated[str, typer.Option(help="vanilla or epic.")] = "vanilla",
    backbone: Annotated[str, typer.Option(help="gin or gcn.")] = "gin",
    cost: Annotated[Path | None, typer.Option(help="A cost from `epic fit`; without it, one is learned first.")] = None,
    ratio: Annotated[float, typer.Option(help="Augmented graphs for each original.", min=0)] = 0.5,
    indicator: Annotated[bool, typer.Option(help="Append the paper's 'is augmented' node feature.")] = False,
    epochs: Annotated[int, typer.Option(help="Epochs at most.", min=1)] = 100,
    batch: Annotated[int | None, typer.Option(help="Graphs in a batch (128; for molecules 32).", min=1)] = None,
    learning_rate: Annotated[float, typer.Option(help="Adam's learning rate.")] = 1e-3,
    patience: Annotated[
        int, typer.Option(help="Epochs without a better validation score to stop after; 0: never.")
    ] = 0,
    workers: Annotated[int, typer.Option(help="Processes that make batches; results do not depend on it.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="Folder for checkpoint, history and result.")] = Path("runs"),
    data: DataFolder = None,
    seed: Seed = 0,
    split_seed: SplitSeed = 0,
    device: Device = "cpu",
) -> None:
    """Train and evaluate one classifier, with or without augmentation.

    Killed in the middle and started again with the same options, it goes on from its checkpoint, to the same result.

    Example: epic train NCI1 --method epic --seed 0
    """
    from epic.augment import EPIC
    from epic.checkpoint import identity
    from epic.cost import Cost, LearnedCost
    from epic.data import load
    from epic.data.splits import split_of
    from epic.errors import InputError, choose
    from epic.randomness import digest
    from epic.train import Training
    from epic.train import train as run
    from epic.train.loop import with_features

    choose(method, METHODS, "method")
    check_device(device)
    loaded = load(dataset, data)
    for note in loaded.notes[:6]:
        typer.echo(note, err=True)
    split = split_of(loaded.y, loaded.split, split_seed)
    size = batch or (32 if loaded.graphs.x is not None and not loaded.graphs.x.is_floating_point() else 128)
    options = Training(epochs=epochs, batch=size, learning_rate=learning_rate, patience=patience, seed=seed)
    content = digest(loaded.graphs.ptr, loaded.graphs.edge_index, loaded.y, split.train)
    chosen = [
        asdict(options),
        method,
        backbone,
        ratio,
        indicator,
        split_seed,
        None if cost is None else str(cost.resolve()),
    ]
    # Other settings or other data, another folder: nothing is overwritten, and no foreign cost is picked up.
    name = f"{loaded.name}-{method}-{backbone}-split{split_seed}-seed{seed}-{identity(chosen, content)[:8]}"
    folder = out / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error
    augment = None
    if method == "epic":
        graphs = with_features(loaded.graphs, split.train)
        training = graphs.select(split.train)
        prices = Cost.load(cost) if cost is not None else None
        if prices is None:
            prices = _learned(LearnedCost(), training, graphs.select(split.validation), folder, seed, device)
        degrees = True if loaded.graphs.x is None else None
        augment = EPIC(prices, ratio, indicator=indicator, seed=seed, degree_features=degrees).fit(training)
    result = run(
        loaded,
        split,
        augment,
        options=options,
        backbone=backbone,
        workers=workers,
        device=device,
        checkpoint=folder / "checkpoint.ckpt",
        history=folder / "history.jsonl",
    )
    record = {
        "dataset": loaded.name,
        "method": method,
        "backbone": backbone,
        "split_seed": split_seed,
        **asdict(options),
        "settings": None if augment is None else augment.settings(),
        **{k: v for k, v in asdict(result).items() if k not in ("history", "epochs")},
        "epochs_done": result.epochs,
    }
    (folder / "result.json").write_text(json.dumps(record, indent=1) + "\n")
    metric = {"classes": "accuracy", "binary": "ROC-AUC", "values": "minus mean absolute error"}[loaded.task]
    typer.echo(
        f"{name}: test {metric} {result.test:.4f} at the best validation epoch {result.best_epoch} "
        f"(validation {result.validation:.4f}); {result.seconds / result.epochs:.2f} s an epoch"
    )
    typer.echo(f"wrote {folder}")


def _learned(cost, training, validation, folder: Path, seed: int, device: str):  # type: ignore[no-untyped-def]
    """The cost of this run: learned once, then read from its folder when the run is started again."""
    from epic.cost import LearnedCost

    path = folder / "cost.safetensors"
    if path.exists():
        return LearnedCost.load(path)
    cost.fit(training, validation=validation, checkpoint=folder / "cost.ckpt", seed=seed, device=device)
    cost.to("cpu")  # augmentation runs there, in loader workers too
    cost.save(path)
    return cost
