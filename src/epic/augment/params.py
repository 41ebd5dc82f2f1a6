"""Hyper-parameters declared once, as attributes of a class.

A declaration gives the default, the values worth trying, the check and a line of help. The constructor, its signature
and documentation, ``get_params``, configs, the tuner and ``epic methods`` all read it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from typing_extensions import Self, dataclass_transform

from epic.errors import choose

Check = Callable[[Any, str], Any]
"""Takes a value and the name of its parameter, and returns the value to store or raises ``InputError``."""


@dataclass(frozen=True)
class Param:
    """A declared hyper-parameter; :func:`param` explains default, grid, check, help and kw_only."""

    default: Any
    grid: tuple[Any, ...] | None = None
    check: Check | None = None
    help: str | None = None
    kw_only: bool = True

    @property
    def choices(self) -> tuple[Any, ...]:
        """Return the values to try in tuning, the default first; empty if it is not tuned."""
        return (self.default, *(v for v in self.grid if v != self.default)) if self.grid else ()

    def completed(self, parent: Param | None) -> Param:
        """Return the parameter with what it leaves open taken from the one it redeclares."""
        if parent is None:
            return self
        grid = parent.grid if self.grid is None else self.grid
        return Param(self.default, grid, self.check or parent.check, self.help or parent.help, self.kw_only)


def param(
    *,
    default: Any,
    grid: tuple[Any, ...] | None = None,
    check: Check | None = None,
    help: str | None = None,
    kw_only: bool = True,
) -> Any:
    """Declare a hyper-parameter in the body of a class: ``p: float = param(default=0.2, check=share)``.

    A subclass that declares it again changes what it states and inherits the rest. A subclass that assigns a plain
    value fixes it: it is then no argument of the constructor.

    Args:
        default: Its value where none is given.
        grid: Values that tuning tries besides the default.
        check: Returns the value to store, or raises :class:`epic.InputError`; see :mod:`epic.augment.checks`.
        help: What it does, in a few words; it becomes the line on the argument in the documentation of the class.
        kw_only: Whether it must be given by name; False for the first parameter of a method at most.

    Returns:
        The declaration, which the class turns into an attribute.
    """
    return Param(default, grid, check, help, kw_only)


@dataclass_transform(kw_only_default=True, field_specifiers=(param,))
class Parameters:
    """Base of classes whose constructor arguments are the parameters declared in their body.

    It follows scikit-learn: ``get_params``, ``set_params`` and ``sklearn.base.clone`` work.

    >>> class Blur(Parameters):
    ...     width: float = param(default=1.0, grid=(2.0,), help="of the blur")
    >>> Blur(width=3.0), Blur.params["width"].choices
    (Blur(width=3.0), (1.0, 2.0))
    """

    params: ClassVar[Mapping[str, Param]] = {}
    """The declared parameters, those of the class itself first."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        inherited = {n: p for base in cls.__bases__ for n, p in getattr(base, "params", {}).items()}
        before = {n: p for base in reversed(cls.__mro__[1:]) for n, p in vars(base).get("params", {}).items()}
        own = {n: v.completed(before.get(n)) for n, v in vars(cls).items() if isinstance(v, Param)}
        kept = {n: own.get(n, p) for n, p in inherited.items() if n in own or n not in vars(cls)}
        cls.params = {**{n: p for n, p in own.items() if n not in kept}, **kept}
        for name, found in own.items():
            setattr(cls, name, found.default)
        by_place, by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        arguments = [
            inspect.Parameter(n, by_name if p.kw_only else by_place, default=p.default) for n, p in cls.params.items()
        ]
        lines = [f"    {n}: {p.help[:1].upper()}{p.help[1:]}." for n, p in cls.params.items() if p.help]
        if vars(cls).get("__doc__") and lines:
            cls.__doc__ = "\n".join([inspect.cleandoc(cls.__doc__ or ""), "", "Args:", *lines])
        cls.__signature__ = inspect.Signature(sorted(arguments, key=lambda a: a.kind))  # type: ignore[attr-defined]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        taken = inspect.signature(type(self))
        try:
            given = taken.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}. It takes {taken}") from None
        self._assign({**{n: p.default for n, p in self.params.items()}, **given})
        self.__post_init__()

    def __post_init__(self) -> None:
        """Set up what is not a parameter. Called once, after the parameters are set."""

    def check_params(self) -> None:
        """Raise ``InputError`` if parameters do not go together. Called whenever any of them was set."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as given to the constructor or to :meth:`set_params`."""
        return {name: getattr(self, name) for name in self.params}

    def set_params(self, **params: Any) -> Self:
        """Change parameters, with the same checks as in the constructor."""
        for name in params:
            choose(name, self.params, f"parameter of {type(self).__name__}")
        self._assign(params)
        return self

    def _assign(self, values: dict[str, Any]) -> None:
        checked = {n: v if (check := self.params[n].check) is None else check(v, n) for n, v in values.items()}
        for name, value in checked.items():
            setattr(self, name, value)
        self.check_params()

    def __repr__(self) -> str:
        given = {name: repr(value) for name, value in self.get_params().items()}
        shown = [f"{n}={v}" for n, v in given.items() if v != repr(self.params[n].default)]
        return f"{type(self).__name__}({', '.join(shown)})"
