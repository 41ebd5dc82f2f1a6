"""The paper's figure of learning curves: costs learned through Sinkhorn and through the exact assignment."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from epic.costs.learned import LearnedCost
from epic.data.catalog import load
from epic.data.dataset import Dataset
from epic.data.splits import split_of


def curves_run(
    dataset: str,
    *,
    assignment: str = "sinkhorn",
    seed: int = 0,
    epochs: int = 40,
    data: Dataset | str | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Record training and validation loss of every epoch, without early stop: the curves are what is wanted.

    ``data`` is the dataset itself, or the folder to look for it in.
    """
    loaded = data if isinstance(data, Dataset) else load(dataset, data=data, progress=progress)
    split = split_of(loaded.y, official=loaded.split, seed=0)
    start = time.perf_counter()
    cost = LearnedCost().fit(
        loaded.graphs.select(split.train),
        validation=loaded.graphs.select(split.validation),
        task=loaded.task,
        assignment=assignment,
        epochs=epochs,
        patience=epochs,
        seed=seed,
        progress=progress,
    )
    return {
        "train_loss": [e.loss for e in cost.history_],
        "validation_loss": [e.validation for e in cost.history_],
        "ordered": [e.ordered for e in cost.history_],
        "seconds": round(time.perf_counter() - start, 1),
        "data": loaded.graphs.digest(),
    }


def validation_losses(record: Mapping[str, Any]) -> list[float]:
    """Return the validation losses of a record, without epochs that have none."""
    return [loss for loss in record["validation_loss"] if loss is not None]
