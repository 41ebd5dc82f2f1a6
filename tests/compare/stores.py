"""Results made up for tests: the keys are those of real plans, the scores are not."""

import numpy as np

from epic.compare.plan import TUNING_SEED, Entry
from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.paper.plans import PaperPlan

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
    return PaperPlan(**values)


def record(score, validation=0.5, epochs=4, task="classes"):
    """What a training run leaves behind."""
    steps = np.arange(1, epochs + 1) / epochs
    return {
        "task": task,
        "sizes": [70, 10, 20],
        "validation": validation,
        "test": score,
        "epochs": epochs,
        "updates": 3 * epochs,
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


def ready(plan, store):
    """Tasks that can be done now."""
    return Runs(plan, store).open


def tasks(plan, store):
    """All tasks that are known by now."""
    return list(Runs(plan, store))


def call_of(plan):
    """What a record says about the call that asked for it."""
    return {} if getattr(plan, "call", None) is None else {"call": plan.call.record()}


def fill(plan, path, score, failed=lambda c: None):
    """Carry out a plan of training runs: ``score(config)`` or None to leave a run out, ``failed(config)`` an error.

    Runs that choose settings like small shares and mean pooling.
    """
    store = Store(path)
    with store.writer() as writer:
        while todo := ready(plan, store):
            progress = False
            for task in todo:
                c = task.config
                if (error := failed(c)) is not None:
                    writer.add(task, {"error": error, "seconds_in_all": 1.0, **call_of(plan)})
                elif c["seed"] == TUNING_SEED:
                    liked = 1 - c["settings"].get("ratio", 0.5) + (c["model"].get("pool") == "mean")
                    writer.add(task, {**record(0.1, liked / 10), **call_of(plan)})
                elif (value := score(c)) is not None:
                    writer.add(task, {**record(value), **call_of(plan)})
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
        for task in tasks(plan, store):
            if (made := outcome(task.config)) is not None:
                writer.add(task, {**made, "seconds_in_all": 3.0, **call_of(plan)})
    return store
