"""Options of the command line, made from the fields of a pydantic model."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from epic.errors import InputError

PANELS = {
    "Data": ("dataset", "target", "task", "split", "split_seed", "size", "noise"),
    "Method": ("method", "settings", "fit_epochs"),
    "Cost of EPIC": ("cost",),
    "Classifier": ("backbone", "model"),
    "Training": (
        *("updates", "epochs", "batch_size", "lr", "weight_decay", "schedule", "decay", "decay_every"),
        *("average", "patience"),
    ),
}
"""Groups of ``--help``."""
FLAGS = {"settings": "--set", "cost_file": "--cost"}
"""Options that are not named like their field."""
NOT_OPTIONS = ("checksum", "network", "results_version")
"""Fields that the code fills in."""


def options_from(
    model: type[BaseModel], *names: str, into: str = "run", panel: str | None = None, **defaults: Any
) -> Callable[[Callable], Callable]:
    """Give a verb one option for each field of a model, with its type, default, bounds and description.

    Fields of a model inside the model are named after both: ``cost.epochs`` becomes ``--cost-epochs``. A mapping
    becomes an option that is given as NAME=VALUE any number of times.

    Args:
        model: The model.
        names: Which fields (default: all).
        into: The parameter of the verb that gets the values, as a dict that the model can be made from.
        panel: The group of ``--help`` to put all of them in.
        defaults: Defaults of this verb, where they are not the model's.
    """

    panels = {name: panel for panel, members in PANELS.items() for name in members}
    leaves = {"_".join(path): (path, field) for path, field in _leaves(model)}
    made = {name: leaf for name, leaf in leaves.items() if not names or name in names or leaf[0][0] in names}

    def decorate(verb: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(verb)
        def command(**given: Any) -> Any:
            run: dict[str, Any] = {}
            for name, (path, field) in made.items():
                place = run
                for step in path[:-1]:
                    place = place.setdefault(step, {})
                place[path[-1]] = _value(name, field, given.pop(name))
            return verb(**{into: run}, **given)

        own = inspect.signature(verb, eval_str=True)
        parameters = [
            *(_parameter(n, field, panel or panels.get(path[0]), defaults) for n, (path, field) in made.items()),
            *(p.replace(kind=p.KEYWORD_ONLY) for p in own.parameters.values() if p.name != into),
        ]
        command.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return decorate


def _leaves(model: type[BaseModel], *path: str) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """Yield all fields of a model and of the models in it."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _leaves(kind, *path, name)
        elif name not in NOT_OPTIONS:
            yield (*path, name), field


def _parameter(name: str, field: FieldInfo, panel: str | None, defaults: dict[str, Any]) -> inspect.Parameter:
    kind: Any = field.annotation
    default = defaults.get(name, field.default)
    shown = {
        key: getattr(m, at) for m in field.metadata for key, at in (("min", "ge"), ("max", "le")) if hasattr(m, at)
    }
    if _holds(field, dict):
        kind, default, shown = list[str] | None, None, {"metavar": "NAME=VALUE"}
    elif _holds(field, list):
        kind = str | None
    elif typing.get_origin(kind) is typing.Literal:
        kind, shown = str, {"metavar": "|".join(typing.get_args(kind))}
    if field.is_required():
        option = typer.Argument(help=field.description, show_default=False)
    else:
        shown |= {"help": field.description, "rich_help_panel": panel, "show_default": default is not None}
        option = typer.Option(default, _flag(name), **shown)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)


def _flag(name: str) -> str:
    return FLAGS.get(name, f"--{name.replace('_', '-')}")


def _value(name: str, field: FieldInfo, given: Any) -> Any:
    if _holds(field, dict):
        return pairs(given or (), _flag(name))
    return listed(given) if _holds(field, list) and given is not None else given


def _holds(field: FieldInfo, kind: type) -> bool:
    """Tell whether a field is a ``kind``, or a ``kind`` or None."""
    return any(typing.get_origin(t) is kind for t in (field.annotation, *typing.get_args(field.annotation)))


def pairs(texts: typing.Iterable[str], option: str) -> dict[str, Any]:
    """Read NAME=VALUE texts; values are JSON where they can be.

    >>> pairs(["p=0.3", "mode=zero"], "--set")
    {'p': 0.3, 'mode': 'zero'}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"{option} takes NAME=VALUE, got {text!r}")
        try:
            found[name.replace("-", "_")] = json.loads(value)
        except ValueError:
            found[name.replace("-", "_")] = value
    return found


def listed(text: str) -> list[str]:
    """Split names at commas.

    >>> listed("a, b,,c")
    ['a', 'b', 'c']
    """
    return [name.strip() for name in text.split(",") if name.strip()]
