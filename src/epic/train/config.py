"""Everything that decides the outcome of one run, checked before any work is done.

The command line makes its options from these models. So this file imports neither torch nor a room that does, except
inside the functions that check values.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from typing_extensions import Self

from epic.errors import InputError, choose

if TYPE_CHECKING:
    from epic.train.loop import Training

RESULTS_VERSION = 4
"""Raised when results of the same config change on purpose, so that old ones are not taken for new."""


class CostConfig(BaseModel):
    """How the cost of EPIC is learned, or the file that it is loaded from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str | None = Field(None, description="A cost from `epic fit`; without it, a cost is learned first.")
    backbone: str = Field("gin", description="Layers of the cost network: gin or gcn.")
    assignment: str = Field(
        "sinkhorn", description="How pairs are matched: sinkhorn (the paper) or hungarian (exact, three times as fast)."
    )
    epochs: int = Field(40, ge=1, description="Epochs of learning a cost, at most.")
    sinkhorn: int = Field(10, ge=1, description="Iterations of Sinkhorn.")

    def learning(self, seed: int) -> dict[str, Any]:
        """Return the options for ``LearnedCost.fit``."""
        from epic.costs.learning import Learning

        options = {"assignment": self.assignment, "epochs": self.epochs, "iterations": self.sinkhorn, "seed": seed}
        Learning(**options)  # type: ignore[arg-type]  # refuses values that it cannot use
        return options


class RunConfig(BaseModel):
    """The config of one run: its outcome is a pure function of this and of the data."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    dataset: str = Field(
        description="A TUDataset name (NCI1), an OGB name (ogbg-molbace), lollipop, a folder in TU format, a CSV of "
        "SMILES, or a .pt or .safetensors file of graphs.",
    )
    target: list[str] | None = Field(
        None,
        description="Column of a CSV to predict, or several separated by commas (default: label, y, target or class).",
    )
    task: str | None = Field(
        None,
        description="What the labels of a CSV are: classes (0, 1, 2, ...), binary (0 or 1) or values (default: as they "
        "look).",
    )
    split: Literal["official", "stratified", "folds"] = Field(
        "official",
        description="official: the dataset's own split if it has one, by scaffold for a file of molecules; stratified: "
        "always 70/10/20; folds: 80/10/10, numbers 0 to 9 being the ten folds of one shuffle.",
    )
    split_seed: int = Field(0, ge=0, description="Number of the split; official splits and scaffold splits have one.")
    size: int | None = Field(
        None, ge=8, description="Labelled graphs to draw, one in eight to validate with; the rest is test."
    )
    noise: float = Field(0.0, ge=0, le=1, description="Share of training and validation labels to corrupt.")
    checksum: str | None = Field(None, description="Checksum that the dataset must have.")

    method: str = Field("vanilla", description="Any name that `epic methods` lists.")
    settings: dict[str, Any] = Field({}, description="Setting of the method, for example ratio=0.3; repeatable.")
    fit_epochs: int | None = Field(
        None, ge=1, description="Epochs of what a method other than EPIC learns first (default: the method's)."
    )
    cost: CostConfig = Field(CostConfig(), description="How the cost of EPIC is learned.")

    backbone: str = Field(
        "gin",
        description="The classifier: a network (gin, gcn), edit distances (kernel, neighbors), or a baseline (counts "
        "of labels and sizes; ecfp, a random forest on circular fingerprints).",
    )
    model: dict[str, Any] = Field(
        {},
        description="Change of the backbone, for example pool=mean, dropout=0.2, hidden_channels=32, num_layers=3; "
        "repeatable.",
    )
    network: str | None = Field(
        None, description="A network of your own instead of the backbone: package.module:Class@digest of its source."
    )

    updates: int = Field(5000, ge=1, le=10**9, description="Gradient updates, as nearly as whole epochs allow.")
    epochs: int | None = Field(None, ge=1, le=10**9, description="Epochs of training, instead of --updates.")
    batch_size: int = Field(32, ge=1, description="Graphs in a batch.")
    lr: float = Field(3e-3, gt=0, description="Learning rate of Adam.")
    weight_decay: float = Field(0.0, ge=0, description="Weight decay of Adam.")
    schedule: Literal["cosine", "step"] = Field(
        "cosine", description="cosine: the learning rate falls to nothing; step: see --decay-every."
    )
    decay: float = Field(0.5, gt=0, description="Factor of the learning rate every --decay-every evaluations.")
    decay_every: int = Field(
        0, ge=0, description="Evaluations between decays (one in about 100 updates); 0: a constant learning rate."
    )
    average: float = Field(
        0.99, ge=0, lt=1, description="What a moving average of the weights keeps at an update; 0: no averaging."
    )
    patience: int = Field(
        0, ge=0, description="Stop after this many updates without a better validation score; 0: never."
    )
    seed: int = Field(0, description="Seed of everything random except the split.")
    outputs: bool = Field(
        False,
        description="Keep the numbers, labels and probabilities (in units of 0.0001) of validation and test graphs "
        "with the result.",
    )
    results_version: int = Field(RESULTS_VERSION, description="Version of the code that results depend on.")

    @model_validator(mode="after")
    def _known_settings(self) -> Self:
        from epic.augment import find_method
        from epic.nn.layers import BACKBONES
        from epic.train.baselines import BASELINES
        from epic.train.distances import DISTANCES

        choose(self.backbone, (*BACKBONES, *DISTANCES, *BASELINES), "backbone")
        preset = find_method(self.method)
        for name in self.settings.keys() - preset.fixed.keys():
            choose(name, default_settings(self.method), f"setting of {self.method}")
        preset.create(**self.settings)
        if self.method != "vanilla" and not self.is_network:
            raise InputError(
                f"{self.backbone} is not trained in steps, so {self.method} cannot augment its graphs: leave the "
                "method out, or take gin or gcn"
            )
        check_model(self.model)
        self.cost.learning(self.seed)
        return self

    @model_serializer(mode="wrap")
    def _without_own_network(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave ``network`` out where there is none: runs that are older than the field keep their keys."""
        return {k: v for k, v in handler(self).items() if k != "network" or v is not None}

    @property
    def is_network(self) -> bool:
        """Whether the classifier is a network."""
        from epic.nn.layers import BACKBONES

        return self.network is not None or self.backbone in BACKBONES

    @property
    def key(self) -> str:
        """A name of the run, made from all that decides it."""
        text = json.dumps(self.model_dump(), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def training(self) -> Training:
        """Return the part that the training loop takes."""
        from epic.train.loop import Training

        return Training(**{field.name: getattr(self, field.name) for field in fields(Training)})

    def save(self, path: Path) -> None:
        """Write as YAML, every value spelled out."""
        from epic._io import write_text

        write_text(path, yaml.safe_dump(self.model_dump(), sort_keys=False))


def check_model(changes: dict[str, Any]) -> None:
    """Refuse changes of the backbone that it does not know or cannot use."""
    from epic.nn.backbones import BackboneConfig

    defaults = {name: field.default for name, field in BackboneConfig.__dataclass_fields__.items()}
    for name, value in changes.items():
        number = type(defaults[choose(name, defaults, "option of the backbone")]) in (int, float)
        if number and type(value) not in (int, float):
            raise InputError(f"{name} of the backbone must be a number, got {value!r}")
    BackboneConfig(**changes)


def default_settings(method: str) -> dict[str, Any]:
    """Return the hyper-parameters that a method declares, with their defaults."""
    from epic.augment import find_method

    given_by_the_run = ("cost", "seed", "num_classes", "degree_features", "task")
    return {name: p.default for name, p in find_method(method).params.items() if name not in given_by_the_run}


def run_config(**values: Any) -> RunConfig:
    """Return a checked config in which all settings of the method are spelled out.

    A changed default of a method is then another run.

    Raises:
        InputError: If a value cannot be used. The message is one sentence with the value and the reason.
    """
    try:
        method = values.get("method", "vanilla")
        return RunConfig(**{**values, "settings": {**default_settings(method), **values.get("settings", {})}})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden" and where in values:
            choose(where, RunConfig.model_fields, "option")
        own = first.get("ctx", {}).get("error")  # our own words name the value already
        raise InputError(str(own) if own else f"{where}: {first['msg']}, got {first['input']!r}") from error
