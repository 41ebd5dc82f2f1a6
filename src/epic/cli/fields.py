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
    "Data": ("dataset", "target", "task", "split", "split_seed", "noise"),
    "Method": ("method", "settings", "fit_epochs"),
    "Cost of EPIC": ("cost",),
    "Classifier": ("backbone", "model"),
    "Training": ("epochs", "batch_size", "lr", "weight_decay", "decay", "decay_every", "patience"),
}
"""Groups of ``--help``."""
FLAGS = {"settings": "--set", "cost_file": "--cost"}
"""Options that are not named like their field."""
NOT_OPTIONS = ("checksum", "results_version")
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

    def decorate(verb: Callable[..., Any]) -> Callable[..., Any]:
        made = {name: (option, field) for name, option, field in _options(model, names, panel=panel)}
        for name, value in defaults.items():
            made[name][0].default = value
        own = inspect.signature(verb, eval_str=True)

        @wraps(verb)
        def command(**given: Any) -> Any:
            values = {name: _value(name, field, given.pop(name)) for name, (_, field) in made.items()}
            return verb(**{into: _nested(values, model)}, **given)

        kept = [p for p in own.parameters.values() if p.name != into]
        parameters = [
            *(inspect.Parameter(n, _BY_NAME, default=o, annotation=_type(f)) for n, (o, f) in made.items()),
            *(p.replace(kind=_BY_NAME) for p in kept),
        ]
        command.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return decorate


_BY_NAME = inspect.Parameter.KEYWORD_ONLY


def _options(
    model: type[BaseModel], names: tuple[str, ...], prefix: str = "", panel: str | None = None
) -> Iterator[tuple[str, Any, FieldInfo]]:
    for name, field in model.model_fields.items():
        whole = prefix + name
        group = panel or next((p for p, members in PANELS.items() if name in members), None)
        inner = _model_in(field)
        if inner is not None:
            chosen = () if not names or name in names else tuple(n for n in names if n.startswith(f"{whole}_"))
            if chosen or not names or name in names:
                yield from _options(inner, chosen, f"{whole}_", group)
        elif name not in NOT_OPTIONS and (not names or whole in names):
            yield whole, _option(whole, field, group), field


def _option(name: str, field: FieldInfo, panel: str | None) -> Any:
    if field.is_required():
        return typer.Argument(help=field.description, show_default=False)
    bounds = {
        key: getattr(m, at) for m in field.metadata for key, at in (("min", "ge"), ("max", "le")) if hasattr(m, at)
    }
    default = field.default
    if _holds(field, dict):
        bounds, default = {"metavar": "NAME=VALUE"}, None
    elif typing.get_origin(field.annotation) is typing.Literal:
        bounds = {"metavar": "|".join(typing.get_args(field.annotation))}
    flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
    return typer.Option(
        default, flag, help=field.description, rich_help_panel=panel, show_default=default is not None, **bounds
    )


def _type(field: FieldInfo) -> Any:
    """The type on the command line: lists are separated by commas."""
    if _holds(field, dict):
        return list[str] | None
    if _holds(field, list):
        return str | None
    return str if typing.get_origin(field.annotation) is typing.Literal else field.annotation


def _value(name: str, field: FieldInfo, given: Any) -> Any:
    if _holds(field, dict):
        return pairs(given or (), FLAGS.get(name, f"--{name}"))
    return listed(given) if _holds(field, list) and given is not None else given


def _holds(field: FieldInfo, kind: type) -> bool:
    """Whether a field is a ``kind``, or that or None."""
    return any(typing.get_origin(t) is kind for t in (field.annotation, *typing.get_args(field.annotation)))


def _model_in(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _nested(values: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Put ``cost_epochs`` and its like into a dict ``cost``."""
    found = dict(values)
    for name in (n for n, field in model.model_fields.items() if _model_in(field)):
        inner = {k: found.pop(k) for k in values if k.startswith(f"{name}_")}
        if inner:
            found[name] = {k.removeprefix(f"{name}_"): v for k, v in inner.items()}
    return found


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
