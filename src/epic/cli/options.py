"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DatasetName = Annotated[
    str,
    typer.Argument(
        help="A TUDataset name (NCI1), an OGB name (ogbg-molbace), lollipop, a folder in TU format, a CSV of SMILES, "
        "or a .pt or .safetensors file of graphs.",
        show_default=False,
    ),
]
DataFolder = Annotated[
    Path | None, typer.Option("--data", help="Folder to look for data in first (else EPIC_DATA, else download).")
]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]
SplitSeed = Annotated[
    int, typer.Option(help="Seed of the stratified 70/10/20 split (OGB and scaffold splits are fixed).")
]
Device = Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, ...")]


def need_writable(path: Path) -> Path:
    """The path, or an error before any work is done."""
    from epic.errors import InputError

    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    return path


def check_device(device: str) -> None:
    """Refuse a device that is not here, before any work is done."""
    import torch

    from epic.errors import InputError

    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"cannot use the device {device!r} ({reason}): try cpu") from error
