import numpy as np
import pytest

from epic import InputError
from epic.classifiers.calibration import Mixture
from epic.compare.mixtures import mix_records
from epic.compare.plan import Entry, Plan
from epic.compare.runs import Runs
from epic.compare.store import Store


def record(share, labels, **more):
    """A run whose outputs are given as probabilities of class 1."""
    outputs = {p: [[round(1e4 * (1 - s)), round(1e4 * s)] for s in share[p]] for p in share}
    return {"outputs": outputs, "labels": labels, "task": "classes", "sizes": [8, 4, 4], "test": 0.5, **more}


LABELS = {"validation": [0, 1] * 20, "test": [0, 0, 1, 1]}
GOOD = {"validation": [0.2, 0.8] * 20, "test": [0.1, 0.3, 0.7, 0.9]}
NOISE = {"validation": [0.6, 0.6, 0.4, 0.4] * 10, "test": [0.9, 0.9, 0.1, 0.1]}


def test_noise_gets_no_weight_and_the_better_side_decides():
    mixed = mix_records(record(GOOD, LABELS), record(NOISE, LABELS))
    assert (mixed["weight"], mixed["validation"], mixed["test"]) == (0.0, 1.0, 1.0)
    assert mix_records(record(NOISE, LABELS), record(GOOD, LABELS))["weight"] == 1.0
    assert mix_records(None, record(GOOD, LABELS)) is None


def test_a_mixture_is_that_of_its_probabilities():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    sides = [rng.normal(size=(60, 3)) + 2 * np.eye(3)[y] for _ in range(2)]
    mixed = Mixture.of(*sides, code=y)
    assert mixed.losses[mixed.weight] == min(mixed.losses.values()) < min(mixed.losses[0.0], mixed.losses[1.0])
    soft = [np.exp(s / t) / np.exp(s / t).sum(1, keepdims=True) for s, t in zip(sides, mixed.temperatures, strict=True)]
    assert np.allclose(mixed(*sides), (1 - mixed.weight) * soft[0] + mixed.weight * soft[1])


def test_runs_that_cannot_be_mixed():
    with pytest.raises(InputError, match="different graphs"):
        mix_records(record(GOOD, LABELS), record(GOOD, {**LABELS, "test": [1, 1, 1, 1]}))
    with pytest.raises(InputError, match="outputs: true"):
        mix_records(record(GOOD, LABELS), {"task": "classes", "test": 1.0})


def test_an_entry_that_mixes_has_no_runs_of_its_own(tmp_path):
    plan = Plan(
        name="p",
        title="p",
        datasets=("a",),
        entries=(
            "vanilla",
            "flag",
            Entry(label="both", mix=("vanilla", "flag")),
            Entry(label="two", mix=("vanilla",) * 2),
        ),
        seeds=2,
        options={"outputs": True},
    )
    runs = Runs(plan, Store(tmp_path / "r.jsonl"))
    assert plan.count() == len(list(runs)) == 4
    with runs.store.writer() as writer:
        for task in runs:
            good = task.config["method"] == "flag" or task.config["seed"] == 1
            writer.add(task, record(GOOD if good else NOISE, LABELS))
    assert runs.reported(2, "a").records[0][0]["weight"] == 1.0
    first, second = runs.reported(3, "a").records[0]
    assert (first["weight"], second) == (1.0, None)
    assert runs.reported(3, "a").values == [100.0]
