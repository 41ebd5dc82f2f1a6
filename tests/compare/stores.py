"""Results made up for tests: the keys are those of real plans, the scores are not."""

import numpy as np

from epic.compare.plan import TUNING_SEED, Entry, Plan
from epic.compare.store import Store

VERSIONS = {"epic": "0.1", "torch": "2.13"}


def tiny(**changes):
    """Three methods on two datasets, two seeds, no tuning."""
    values = {
        "name": "tiny",
        "title": "A tiny table",
        "datasets": ("A", "B"),
        "entries": [Entry(label=n, method=n) for n in ("vanilla", "drop_edge", "submix")],
        "seeds": 2,
        **changes,
    }
    return Plan(**values)


def record(score, validation=0.5, epochs=4, task="classes"):
    """What a training run leaves behind."""
    steps = np.arange(1, epochs + 1) / epochs
    return {
        "task": task,
        "sizes": [70, 10, 20],
        "validation": validation,
        "test": score,
        "epochs": epochs,
        "seconds": 2.0 * epochs,
        "seconds_in_all": 10.0,
        "history": {
            "loss": (1 - steps / 2).tolist(),
            "validation": (validation * steps).tolist(),
            "test": (score * steps).tolist(),
        },
        "data": "same",
        "versions": VERSIONS,
    }


def fill(plan, path, score, failed=lambda c: None):
    """Carry out a plan of training runs: ``score(config)`` or None to leave a run out, ``failed(config)`` an error.

    Runs that choose settings like small shares and mean pooling.
    """
    store = Store(path)
    with store.writer() as writer:
        while todo := plan.ready(store):
            progress = False
            for task in todo:
                c = task.config
                if (error := failed(c)) is not None:
                    writer.add(task, {"error": error, "seconds_in_all": 1.0})
                elif c["seed"] == TUNING_SEED:
                    liked = 1 - c["settings"].get("ratio", 0.5) + (c["model"].get("pool") == "mean")
                    writer.add(task, record(0.1, liked / 10))
                elif (value := score(c)) is not None:
                    writer.add(task, record(value))
                else:
                    continue
                progress = True
            if not progress:
                break
    return store


def others(plan, path, outcome):
    """Carry out a plan of another kind: ``outcome(config)``."""
    store = Store(path)
    with store.writer() as writer:
        for task in plan.tasks(store):
            if (made := outcome(task.config)) is not None:
                writer.add(task, {**made, "seconds_in_all": 3.0})
    return store
