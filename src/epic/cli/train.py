"""``epic train``: one run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from epic.cli.fields import options_from
from epic.cli.messages import log, progress
from epic.cli.options import ConfigFile, DataFolder, Device, check_device, make_folder, tell_notes
from epic.train.config import RunConfig, run_config


@options_from(RunConfig)
def train(
    run: dict[str, Any],
    workers: Annotated[int, typer.Option(help="Processes that make batches; results do not depend on it.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="Folder for checkpoint, history and result.")] = Path("runs"),
    config: ConfigFile = None,
    data: DataFolder = None,
    device: Device = "cpu",
) -> None:
    """Train and evaluate one classifier, with or without augmentation.

    Killed in the middle and started again with the same options, it goes on from its checkpoint, to the same result. A
    run that is done is not done again.

    Examples:

    epic train NCI1 --method epic --set ratio=0.3 --model pool=mean

    epic train NCI1 --method drop_edge --set p=0.3 --seed 1
    """
    from epic._checkpoint import identity
    from epic._io import alone, write_text
    from epic.train.run import dataset_of, file_digest
    from epic.train.run import run as run_it

    chosen = run_config(**run)
    check_device(device)
    loaded, _ = dataset_of(chosen, data)
    tell_notes(loaded)
    log.debug(chosen.model_dump_json())
    # Other settings or other data, another folder: nothing is overwritten.
    cost = "" if chosen.cost.file is None else file_digest(chosen.cost.file)
    what = identity(chosen.key, loaded.graphs.digest(), cost)[:8]
    name = f"{loaded.name}-{chosen.method}-{chosen.backbone}-split{chosen.split_seed}-seed{chosen.seed}-{what}"
    folder = make_folder(out / name)
    result = folder / "result.json"
    with alone(folder):
        if result.exists():
            log.info(f"this run is done: remove {folder} to do it again")
        else:
            chosen.save(folder / "config.yaml")
            record = run_it(
                chosen,
                folder,
                data=data,
                folder=folder,
                device=device,
                num_workers=workers,
                progress=progress(),
                on_epoch_end=_on_epoch_end(folder / "tensorboard"),
            )
            write_text(result, json.dumps(record, indent=1) + "\n")
        record = json.loads(result.read_text(encoding="utf-8"))
    metric = {"classes": "accuracy", "binary": "ROC-AUC", "values": "minus mean absolute error"}[loaded.task]
    told = f"{name}: test {metric} {record['test']:.4f} (validation {record['validation']:.4f})"
    if "epochs" in record:
        told += (
            f", best after epoch {record['best_epoch']} of {record['epochs']}; {record['updates']} updates, "
            f"{1000 * record['seconds'] / record['updates']:.1f} ms each"
        )
    typer.echo(told)
    typer.echo(f"wrote {folder}")


def _on_epoch_end(folder: Path) -> Callable[[dict[str, Any]], None] | None:
    """Return a function that writes curves for TensorBoard after each epoch; None if that is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    writer: SummaryWriter | None = None

    def on_epoch_end(line: dict[str, Any]) -> None:
        nonlocal writer
        if writer is None:  # a run that goes on after a kill hides what it does again
            writer = SummaryWriter(str(folder), purge_step=line["updates"])
        for name in ("loss", "validation_loss", "validation"):
            writer.add_scalar(name, line[name], line["updates"])
        writer.flush()

    return on_epoch_end
