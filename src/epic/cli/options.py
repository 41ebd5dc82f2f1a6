"""Options that several commands share."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from epic.compare.plan import Plan
    from epic.data import Dataset

DatasetName = Annotated[
    str,
    typer.Argument(
        help="A TUDataset name (NCI1), an OGB name (ogbg-molbace), lollipop, a folder in TU format, a CSV of SMILES, "
        "or a .pt or .safetensors file of graphs.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="Column of a CSV to predict, or several with commas between (default: label, y, target or class).",
        show_default=False,
    ),
]
TaskKind = Annotated[
    str | None,
    typer.Option(
        "--task",
        help="What the labels of a CSV are: classes (0, 1, 2, ...), binary (0 or 1) or values (default: as they look).",
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
Ray = Annotated[
    str | None,
    typer.Option("--ray", help="Address of a Ray cluster to work on, or `local` to start one here (extra `ray`)."),
]
OnlyDatasets = Annotated[str | None, typer.Option("--datasets", help="Only these datasets, separated by commas.")]
OnlyMethods = Annotated[str | None, typer.Option("--methods", help="Only these rows of the table.")]
OnlyBackbones = Annotated[str | None, typer.Option("--backbones", help="Only these: gin, gcn.")]
Seeds = Annotated[int | None, typer.Option("--seeds", help="Training seeds (the paper: 5).", min=1)]
Epochs = Annotated[int | None, typer.Option("--epochs", help="Epochs of a run.", min=1)]
Tune = Annotated[
    int | None, typer.Option("--tune", help="Settings that every method may try on validation; 0: defaults.", min=0)
]
Device = Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, ...")]


def _from_file(context: typer.Context, path: Path | None) -> Path | None:
    """Take defaults from a YAML file: what is given on the command line goes before it."""
    if path is None:
        return None
    import yaml

    from epic.errors import InputError, choose

    try:
        values = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"cannot read the config {path}: {error}") from error
    if not isinstance(values, dict):
        raise InputError(f"the config {path} must hold lines such as `epochs: 50`")
    known = {p.name: p for p in context.command.params if p.name not in (None, "config")}
    found = {}
    if "results_version" in values and "set" in known:
        values = _of_a_run(values)
    for key, value in values.items():
        name = choose(str(key).replace("-", "_"), known, f"option of epic {context.info_name} in {path}")
        if isinstance(value, list) and not getattr(known[name], "multiple", False):
            value = ",".join(map(str, value))
        if isinstance(value, dict):  # settings of a method may be written as a mapping
            value = [f"{k}={json.dumps(v)}" for k, v in value.items()]
        found[name] = value
    context.default_map = {**(context.default_map or {}), **found}
    return path


def _of_a_run(values: dict[str, Any]) -> dict[str, Any]:
    """The resolved config that lies beside a result, in the words of the command line."""
    rest = {k: v for k, v in values.items() if k not in ("results_version", "checksum") and v is not None}
    rest["set"] = rest.pop("settings", {})
    learn = dict(rest.pop("cost", {}))
    rest |= {"cost": learn.pop("file", None), "learn": learn}
    return {k: v for k, v in rest.items() if v not in (None, {})}


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="YAML file with any of these options by name (epochs: 50); the command line goes before it.",
        is_eager=True,
        callback=_from_file,
    ),
]


def settings_of(pairs: list[str] | None, option: str = "--set") -> dict[str, Any]:
    """``["p=0.3", "mode=zero"]`` as a mapping; values are read as JSON where they can be."""
    from epic.errors import InputError

    found: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"{option} takes NAME=VALUE, got {pair!r}")
        try:
            found[name.replace("-", "_")] = json.loads(value)
        except ValueError:
            found[name.replace("-", "_")] = value
    return found


def listed(text: str) -> list[str]:
    """Names separated by commas.

    >>> listed("a, b,,c")
    ['a', 'b', 'c']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def targets(text: str | None) -> list[str] | None:
    """The columns that ``--target`` names."""
    return None if text is None else listed(text)


def say_notes(dataset: Dataset) -> Dataset:
    """Tell what a reader had to leave out or change, and give the dataset on."""
    for note in [n for n in dataset.notes if n != "degrees"][:6]:
        typer.echo(note, err=True)
    return dataset


def narrowing(
    datasets: str | None,
    methods: str | None,
    backbones: str | None,
    checksums: dict[str, str] | None = None,
    **rest: int | None,
) -> Callable[[Plan], Plan]:
    """What the options leave of a plan. One that compares no methods is left as it is by ``methods``. ``checksums`` are
    those of datasets that are files; None looks at the files.
    """
    names = None if datasets is None else tuple(map(whole_path, listed(datasets)))
    sums = _checksums(names or ()) if checksums is None else checksums

    def narrow(plan: Plan) -> Plan:
        return plan.narrowed(
            datasets=names if plan.datasets else None,
            methods=None if methods is None or not plan.entries else listed(methods),
            backbones=None if backbones is None else tuple(listed(backbones)),
            checksums=sums or None,
            **rest,
        )

    return narrow


def _checksums(datasets: Iterable[str]) -> dict[str, str]:
    """Of those that are files or folders."""
    files = [name for name in datasets if Path(name).exists()]
    if not files:
        return {}
    from epic.data import load
    from epic.train.run import checksum

    return {name: checksum(load(name)) for name in files}


def seconds_of(text: str) -> float:
    """A time such as 45s, 30m or 2h.

    >>> seconds_of("30m")
    1800.0
    """
    from epic.errors import InputError

    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    try:
        value = float(text[:-1]) if unit else float(text)
    except ValueError as error:
        raise InputError(f"a time is written 45s, 30m or 2h, got {text!r}") from error
    if not 0 <= value < math.inf:
        raise InputError(f"a time is a number from 0 up with s, m or h behind it, got {text!r}")
    return value * (unit or 1)


def whole_path(dataset: str) -> str:
    """A dataset that is a file or folder by its whole path: workers elsewhere have another working folder."""
    return str(Path(dataset).resolve()) if Path(dataset).exists() else dataset


def make_folder(path: Path) -> Path:
    """The folder, made if need be, or an error before any work is done."""
    from epic.errors import InputError

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {path}: {error.strerror}") from error
    return path


def need_writable(path: Path) -> Path:
    """The path, or an error before any work is done."""
    from epic.errors import InputError

    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    try:  # permissions do not tell all
        if not path.exists():
            end = path.resolve()  # what a link points to
            os.close(os.open(end, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            end.unlink(missing_ok=True)
        elif path.is_file():
            path.open("ab").close()
    except FileExistsError:
        pass  # another has just made it
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    return path


def check_device(device: str) -> None:
    """Refuse a device that is not here, before any work is done."""
    import torch

    from epic.errors import InputError

    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # all three are torch's ways of saying so
        reason = str(error).splitlines()[0]
        raise InputError(f"cannot use the device {device!r} ({reason}): try cpu") from error
