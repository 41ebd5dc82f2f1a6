"""The bar moves inside runs."""

import io
import threading
import time
from pathlib import Path

import pytest
import torch
from tqdm import tqdm

from epic.compare.progress import moving
from epic.compare.task import Performer, Task
from epic.nn.fit_loop import FitLoop, FitOptions, _reporter, reporting


def test_shares_of_runs_in_hand_are_added(tmp_path):
    seen = []

    def half(config, costs, data):
        """Learn something, then train half-way, and wait until it is seen."""
        tell = _reporter.get()
        for what, share in (("learning costs", 0.25), ("learning costs", 0.5), ("training", 0.75)):
            tell(what, 1 if share < 0.5 else 2 if share == 0.5 else 1, 2)
            end = time.monotonic() + 20
            while abs(bar.n - 3 - share) > 1e-6 and time.monotonic() < end:
                time.sleep(0.05)
            seen.append(bar.n)
        return {}

    with tqdm(file=io.StringIO()) as bar:
        task = Task("train", {"seed": 0})
        with moving(Performer(Path(tmp_path), runners={"train": half}), bar) as (perform, moved):
            moved(None, 3, 10)
            perform(task)
            moved(task, 4, 10)
            assert (bar.n, bar.total) == (4, 10)
    assert seen == [3.25, 3.5, 3.75]


def test_a_plan_that_grows_does_not_overflow_the_bar(tmp_path):
    """A run in hand of a split that was added later: tqdm warned, in a thread of which nobody heard."""
    with tqdm(file=io.StringIO()) as bar, moving(Performer(Path(tmp_path)), bar) as (perform, moved):
        (perform.told / "run").write_text("0.2")
        moved(None, 3, 3)
        assert (bar.n, bar.total) == (3, 3)
        moved(None, 3, 4)
        assert bar.n == pytest.approx(3.2)


def test_a_bar_that_cannot_be_drawn_keeps_no_lock(tmp_path):
    class Broken(io.StringIO):
        def write(self, text):
            if text and broken:
                raise ValueError("cannot be drawn")
            return super().write(text)

    broken, free = False, threading.Event()

    def draw():
        with tqdm.get_lock():
            free.set()

    with tqdm(file=Broken()) as bar, moving(Performer(Path(tmp_path)), bar) as (_, moved):
        broken = True
        with pytest.raises(ValueError, match="cannot be drawn"):
            moved(None, 1, 3)
        broken = False
        threading.Thread(target=draw, daemon=True).start()
        assert free.wait(20)


def test_every_training_inside_reports():
    model, told = torch.nn.Linear(1, 1), []
    loop = FitLoop(model, FitOptions(epochs=3), judge=lambda line: line["loss"])
    parts = {"batches": lambda epoch: [torch.ones(2, 1)], "loss": lambda batch: model(batch).pow(2).mean()}
    with reporting(lambda *what: told.append(what)):
        loop.run(**parts, evaluate=lambda judged: {}, progress=False, description="a thing")
    assert told == [("a thing", k, 3) for k in (1, 2, 3)]
