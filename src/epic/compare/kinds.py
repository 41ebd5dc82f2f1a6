"""What the kinds of tasks do. Each is a pure function of its config and gives a record that JSON can hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Kind = Callable[[dict[str, Any], Path, str | None], dict[str, Any]]


def train(config: dict[str, Any], costs: Path, data: str | None) -> dict[str, Any]:
    """Train and evaluate one classifier."""
    from epic.train.config import run_config
    from epic.train.run import run

    record = run(run_config(**config), costs, data=data, progress=False)
    for name in ("key", "config"):
        del record[name]
    return record


def distance(config: dict[str, Any], costs: Path, data: str | None) -> dict[str, Any]:
    """Nearest neighbours by edit distance, on the split that the seed names.

    The paper prints a deviation for unit cost, in which nothing is random but the split.
    """
    from epic.paper.experiments.distance import distance_run

    rest = _arguments(config)
    return distance_run(rest.pop("dataset"), **rest, split_seed=config["seed"], data=data)


def blur(config: dict[str, Any], costs: Path, data: str | None) -> dict[str, Any]:
    """How far the soft assignment is from the exact one, by the number of Sinkhorn iterations."""
    from epic.paper.experiments.blur import blur_run

    return blur_run(**_arguments(config), costs=costs, data=data)


def curves(config: dict[str, Any], costs: Path, data: str | None) -> dict[str, Any]:
    """Loss curves of learning costs."""
    from epic.paper.experiments.curves import curves_run

    return curves_run(**_arguments(config), data=data)


def lollipop(config: dict[str, Any], costs: Path, data: str | None) -> dict[str, Any]:
    """Learned substitution costs by head and tail."""
    from epic.paper.experiments.lollipop import lollipop_run

    return lollipop_run(**_arguments(config))


def _arguments(config: dict[str, Any]) -> dict[str, Any]:
    """What the functions take: all but what only tells runs of other code, or of other contents of a file, apart."""
    return {k: v for k, v in config.items() if k not in ("results_version", "checksum")}


KINDS: dict[str, Kind] = {"train": train, "distance": distance, "blur": blur, "curves": curves, "lollipop": lollipop}
