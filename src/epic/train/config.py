"""Everything that decides the outcome of one run, checked before any work is done."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)
from typing_extensions import Self

from epic.augment import METHODS, method_class
from epic.costs.learning import Learning
from epic.errors import InputError, choose
from epic.nn.backbones import BackboneConfig
from epic.nn.layers import BACKBONES
from epic.train.loop import Training

RESULTS_VERSION = 3
"""Raised when results of the same config change on purpose, so that old ones are not taken for new."""


class CostConfig(BaseModel):
    """How the cost of EPIC is learned; ``file`` is one that is there already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str | None = None
    backbone: str = "gin"
    assignment: str = "sinkhorn"
    epochs: int = Field(40, ge=1)
    sinkhorn: int = Field(10, ge=1)

    def learning(self, seed: int) -> dict[str, Any]:
        """Options for ``LearnedCost.fit``."""
        options: dict[str, Any] = {
            "assignment": self.assignment,
            "epochs": self.epochs,
            "iterations": self.sinkhorn,
            "seed": seed,
        }
        Learning(**options)
        return options


class RunConfig(BaseModel):
    """One run is a pure function of this (and of the data).

    ``settings`` are arguments of the method's class; ``fit_epochs`` is how long a method that learns does so (None: as
    it is by default); ``form`` changes the backbone (pool, dropout, hidden_channels, num_layers); ``batch`` None is
    128, or 32 for molecules; ``noise`` corrupts that share of training and validation labels; ``split`` official is
    the dataset's own where it has one; ``checksum`` is the one that the dataset must have; ``target`` and ``task`` say
    how to read a CSV.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    dataset: str
    method: str = "vanilla"
    settings: dict[str, Any] = {}
    fit_epochs: int | None = Field(None, ge=1)
    backbone: str = "gin"
    form: dict[str, Any] = {}
    epochs: int = Field(100, ge=1)
    batch: int | None = Field(None, ge=1)
    lr: float = Field(1e-3, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    decay: float = Field(0.5, gt=0)
    decay_every: int = Field(0, ge=0)
    patience: int = Field(0, ge=0)
    noise: float = Field(0.0, ge=0, le=1)
    split: Literal["official", "stratified"] = "official"
    split_seed: int = 0
    seed: int = 0
    cost: CostConfig = CostConfig()
    checksum: str | None = None
    target: list[str] | None = None
    task: str | None = None
    recipe: int = RESULTS_VERSION

    @field_validator("method")
    @classmethod
    def _known_method(cls, value: str) -> str:
        return choose(value, METHODS, "method")

    @field_validator("backbone")
    @classmethod
    def _known_backbone(cls, value: str) -> str:
        return choose(value, BACKBONES, "backbone")

    @model_validator(mode="after")
    def _known_settings(self) -> Self:
        takes = [n for n in inspect.signature(method_class(self.method)).parameters if n not in ("cost", "seed")]
        for name in self.settings:
            choose(name, takes, f"setting of {self.method}")
        for name in self.form:
            choose(name, BackboneConfig.__dataclass_fields__, "option of the backbone")
        need_numbers(method_class(self.method), self.settings, self.method)
        need_numbers(BackboneConfig, self.form, "the backbone")
        try:
            method_class(self.method)(**self.settings)  # it refuses values that it cannot use
            BackboneConfig(**self.form)
        except TypeError as error:
            raise InputError(f"a value of {self.settings or self.form} has the wrong type ({error})") from error
        self.cost.learning(self.seed)
        return self

    @model_serializer(mode="wrap")
    def _without_blanks(self, values: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What says how to read a CSV is there only where it was said: other runs keep the key they had before."""
        return {k: v for k, v in values(self).items() if v is not None or k not in ("target", "task")}

    @property
    def key(self) -> str:
        """Names the run by what decides it."""
        text = json.dumps(self.model_dump(), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def training(self, batch: int) -> Training:
        """The part that the loop takes; ``batch`` where the config leaves it open."""
        names = ("epochs", "lr", "weight_decay", "decay", "decay_every", "patience", "seed")
        return Training(batch_size=self.batch or batch, **{n: getattr(self, n) for n in names})

    def save(self, path: Path) -> None:
        """Write as YAML, every value spelled out."""
        path.write_text(yaml.safe_dump(self.model_dump(), sort_keys=False))


def need_numbers(maker: Callable[..., Any], values: dict[str, Any], whose: str) -> None:
    """Refuse anything else where ``maker`` takes a number, which its default tells."""
    takes = inspect.signature(maker).parameters
    for name, value in values.items():
        if _is_number(takes[name].default) and not _is_number(value):
            raise InputError(f"{name} of {whose} must be a number, got {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def default_settings(method: str) -> dict[str, Any]:
    """What a method does unless told otherwise: a changed default is then another run."""
    takes = inspect.signature(method_class(method)).parameters
    known = ("cost", "seed", "classes", "degree_features", "task")
    return {n: p.default for n, p in takes.items() if n not in known}


def run_config(**values: Any) -> RunConfig:
    """A checked config with all settings of the method spelled out, or an error that says what is wrong and why."""
    method = values.get("method", "vanilla")
    if method in METHODS:
        values = {**values, "settings": {**default_settings(method), **values.get("settings", {})}}
    try:
        return RunConfig(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        reason = str(first["ctx"]["error"]) if "error" in first.get("ctx", {}) else first["msg"]
        own = "error" in first.get("ctx", {})  # our own words name the value already
        raise InputError(reason if own else f"{where}: {reason}, got {first['input']!r}") from error
