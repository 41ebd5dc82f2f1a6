"""Options and checks that several commands share."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel, Field

from epic.cli.fields import NOT_OPTIONS
from epic.cli.messages import log, progress
from epic.errors import InputError, choose, need_some, reading

if TYPE_CHECKING:
    from epic.costs import Cost
    from epic.data import Dataset

DataFolder = Annotated[
    Path | None, typer.Option("--data", help="Folder to look for data in first (else EPIC_DATA, else download).")
]
Ray = Annotated[
    str | None,
    typer.Option("--ray", help="Address of a Ray cluster to work on, or `local` to start one here (extra `ray`)."),
]
CostFile = Annotated[
    Path | None, typer.Option("--cost", help="A cost from `epic fit`; without it, operations are counted.")
]
Order = Annotated[
    str,
    typer.Option(help="Order of edits: random, bfs (along the target), connected, or valid (for molecules)."),
]
Matching = Annotated[
    str, typer.Option(help="What is matched: nodes, as in the paper, or edges, so that few edges are edited.")
]
EdgePrice = Annotated[
    float | None,
    typer.Option(help="Price of an edge operation with --matching edges (default: the mean node price).", min=0),
]
Atoms = Annotated[
    str,
    typer.Option(
        help="Elements of the node labels in order, such as C,N,O, to draw molecules where the data has no names.",
        show_default=False,
    ),
]
Workers = Annotated[int, typer.Option(help="Processes, one thread each.", min=1)]
Retry = Annotated[bool, typer.Option("--retry", help="Do failed runs again.")]
Device = Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, ...")]


def _from_file(context: typer.Context, path: Path | None) -> Path | None:
    """Take defaults from a YAML file: the command line wins."""
    if path is None:
        return None
    known = {p.name: p for p in context.command.params if p.name not in (None, "config")}
    flags = {flag.lstrip("-").replace("-", "_"): p.name for p in known.values() for flag in p.opts}
    found: dict[str, Any] = {}
    for line, key, value in _config_values(path, known):
        name = choose(flags.get(key, key), known, f"option of epic {context.info_name} in {path}, line {line},")
        many = getattr(known[name], "multiple", False)
        if many and isinstance(value, dict):
            value = [f"{k}={json.dumps(v, default=str)}" for k, v in value.items()]
        elif isinstance(value, list) and not many:
            value = ",".join(map(str, value))
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{path}, line {line}: {key} is {value}, not a finite number")
        words = isinstance(value, list) and all(isinstance(v, str) for v in value)
        if not (words if many else isinstance(value, (str, int, float))):
            wanted = "a mapping such as {name: value}" if many else "one value"
            raise InputError(f"{path}, line {line}: {key} takes {wanted}, got {str(value)[:60]!r}")
        found[name] = value
    context.default_map = {**(context.default_map or {}), **found}
    return path


DEEPEST = 8
"""Mappings and lists inside each other in a config, at most."""
LONGEST = 1 << 17
"""Letters of a config, at most."""


def _config_values(path: Path, known: Mapping[Any, Any]) -> Iterator[tuple[int, str, Any]]:
    """Yield line, name and value of the options in a YAML file.

    Anchors and deep nesting are refused: a few lines of either could fill the memory.
    """
    import yaml

    try:
        with path.open(encoding="utf-8") as file:  # it may be a pipe, which has no size
            text, depth = file.read(LONGEST + 1), 0
        if len(text) > LONGEST:
            raise InputError(f"the config {path} has more than {LONGEST} letters: write lines such as `epochs: 50`")
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
                what = "anchors (&, *) are not understood" if depth <= DEEPEST else "this lies too deep"
                raise InputError(f"the config {path}, line {event.start_mark.line + 1}: {what}: write plain values")
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"cannot read the config {path}: {error}") from error
    if not isinstance(root, yaml.MappingNode):
        raise InputError(f"the config {path} must hold lines such as `epochs: 50`")

    def values(node: yaml.MappingNode, prefix: str) -> Iterator[tuple[int, str, Any]]:
        """Name the values of a mapping such as ``cost`` like their options: ``cost_epochs``."""
        for key, value in node.value:
            line = key.start_mark.line + 1
            with reading(f"the config {path}, line {line},", "write lines such as `epochs: 50`"):
                name = prefix + str(loader.construct_object(key, deep=True)).replace("-", "_")
                found = loader.construct_object(value, deep=True)
            if found is None or name in NOT_OPTIONS:  # the config of a finished run, which lies next to its result
                continue
            if isinstance(value, yaml.MappingNode) and any(str(k).startswith(f"{name}_") for k in known):
                yield from values(value, f"{name}_")
            else:
                yield line, name, found

    yield from values(root, "")


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="YAML file with any of these options by name (epochs: 50); the command line wins.",
        is_eager=True,
        callback=_from_file,
    ),
]


def opened(run: Mapping[str, Any], data: Path | None) -> Dataset:
    """Load the dataset that the options name, and tell what the reader had to leave out or change."""
    from epic.data import load

    loaded = load(run["dataset"], data=data, target=run["target"], task=run["task"], progress=progress())
    return tell_notes(loaded)


def tell_notes(dataset: Dataset) -> Dataset:
    """Tell what the reader of a dataset had to leave out or change."""
    for note in dataset.notes:
        log.warning(note)
    return dataset


def cost_from(file: Path | None) -> Cost:
    """Load the cost that ``--cost`` names; without it, operations are counted."""
    from epic.costs import Cost, UnitCost

    return UnitCost() if file is None else Cost.load(file)


class Only(BaseModel):
    """Which runs of the paper's plans to do or to show; None for all."""

    datasets: list[str] | None = Field(None, description="Only these datasets, separated by commas.")
    methods: list[str] | None = Field(None, description="Only these rows of the table.")
    backbones: list[str] | None = Field(None, description="Only these: gin, gcn.")
    seeds: int | None = Field(None, ge=1, le=1000, description="Training seeds (the paper: 5).")
    epochs: int | None = Field(None, ge=1, description="Epochs of a run.")
    tune: int | None = Field(
        None, ge=0, le=1000, description="Settings that every method may try on validation; 0: its defaults."
    )


def narrowing(only: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the values of :class:`Only` into arguments of ``epic.paper.plans.Call``.

    Files and folders get their whole path: workers may have another working folder.
    """
    found = {k: tuple(need_some(v, k)) if isinstance(v, list) else v for k, v in only.items()}
    if found["datasets"] is not None:
        found["datasets"] = tuple(str(Path(d).resolve()) if Path(d).exists() else d for d in found["datasets"])
    return found


def make_folder(path: Path) -> Path:
    """Make the folder if need be, or fail before any work is done."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {path}: {error.strerror}") from error
    return path


def check_edge_price(edge_price: float | None, *ways: str) -> None:
    """Refuse a price of edges where none of the ways counts them."""
    if edge_price is not None and "edges" not in ways:
        raise InputError("--edge-price is for --matching edges: say that too, or leave it out")


def need_writable(path: Path, *suffixes: str, besides: Iterable[str | Path | None] = ()) -> Path:
    """Return the path, or fail before any work is done if it cannot be written or its name ends otherwise.

    Nor may it be, by whatever name, one of the files ``besides``, which the command reads or keeps.
    """
    for other in besides:
        if other is not None and path.is_file() and os.path.exists(other) and path.samefile(other):
            raise InputError(f"cannot write {path}: it is {other}, which is needed; name another file")
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(f"cannot write {path}: the name must end in {', '.join(suffixes)}")
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
        pass  # another process has just made it
    except (OSError, RuntimeError) as error:  # the latter by Python before 3.13, of links that form a circle
        raise InputError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error
    return path


def check_device(device: str) -> None:
    """Refuse a device that is not here, before any work is done."""
    import torch

    try:
        torch.zeros(1, device=device).item()  # the device meta has no values
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # all three are torch's ways of saying so
        reason = str(error).splitlines()[0]
        raise InputError(f"cannot use the device {device!r} ({reason}): try cpu") from error
