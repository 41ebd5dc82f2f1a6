"""Mixtures of classifiers from the outputs that their runs kept: blends and ensembles without further training."""

from __future__ import annotations

from typing import Any

import numpy as np

from epic.classifiers.calibration import Mixture
from epic.errors import InputError

UNIT = 1e-4
"""Outputs are kept as whole multiples of this probability."""


def mix_records(one: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any] | None:
    """Mix two runs on the same split; calibration and weight are fitted on its validation graphs.

    Args:
        one: The record of a run with ``outputs``, or None where it is not there yet.
        other: Another one.

    Returns:
        A record with scores of the mixture and the ``weight`` of the second run; None if a run is not there.

    Raises:
        InputError: A run kept no outputs, or the two were tested on different graphs.
    """
    if one is None or other is None:
        return None
    for record in (one, other):
        if "outputs" not in record or record["task"] != "classes":
            raise InputError("a mixture needs runs of classes that kept their outputs: run them with outputs: true")
    if any(one.get(k) != other.get(k) for k in ("labels", "graphs")):
        raise InputError("the two runs of a mixture were tested on different graphs")
    validation, test = (
        [np.log(np.maximum(UNIT * np.array(r["outputs"][part]), UNIT)) for r in (one, other)]
        for part in ("validation", "test")
    )
    truth = {part: np.array(one["labels"][part]).reshape(-1) for part in ("validation", "test")}
    mixture = Mixture.of(validation[0], validation[1], code=truth["validation"])
    mixed = {part: mixture(*sides) for part, sides in (("validation", validation), ("test", test))}
    scores = {part: float((said.argmax(1) == truth[part]).mean()) for part, said in mixed.items()}
    kept: dict[str, Any] = {k: one[k] for k in ("config", "labels", "graphs") if k in one}
    outputs = {part: np.rint(said / UNIT).astype(int).tolist() for part, said in mixed.items()}
    return {**kept, **scores, "outputs": outputs, "task": "classes", "sizes": one["sizes"], "weight": mixture.weight}
