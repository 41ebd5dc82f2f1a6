import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

from epic import EPIC, FeatureCost, InputError, LearnedCost, UnitCost
from epic.augment import DropEdge, GMixup, MotifSwap, Vanilla
from epic.data import Dataset, load, stratified_split
from epic.data.splits import Split
from epic.graphs.convert import pack
from epic.paths.interpolation import embedded
from epic.train import Training, train
from epic.train.loop import Steps, with_features
from epic.train.metrics import score
from tests.augment.slow import SlowAtFirst
from tests.sample_graphs import random_graph


def lollipops(count=120):
    whole = load("lollipop")
    return Dataset("lollipop", whole.graphs.select(torch.arange(count)), "classes")


def epic(dataset, **options):
    return EPIC(UnitCost(), seed=1, degree_features=True, **options).fit(
        with_features(dataset.graphs, torch.arange(50))
    )


def plain_history(result):
    return [{k: v for k, v in line.items() if "seconds" not in k} for line in result.history]


@pytest.mark.parametrize("backbone", ["gin", pytest.param("gcn", marks=pytest.mark.slow)])
def test_lollipops_are_learned(backbone):
    dataset = lollipops(200)
    result = train(
        dataset,
        split=stratified_split(dataset.y),
        options=Training(epochs=25, batch_size=32),
        backbone=backbone,
        progress=False,
    )
    assert result.test > 0.9
    assert result.validation == max(h["validation"] for h in result.history)
    assert result.updates == 25 * len(range(0, 140, 32))
    parts = stratified_split(dataset.y)
    assert result.test == score(result.outputs["test"], dataset.y[parts.test], "classes")
    assert result.test_end > 0.9


def test_same_seed_same_numbers_whatever_the_workers():
    dataset = lollipops(60)
    split = stratified_split(dataset.y)
    before = torch.get_rng_state()
    runs = [
        train(
            dataset,
            split=split,
            method=epic(dataset),
            options=Training(epochs=3, batch_size=16),
            num_workers=w,
            progress=False,
        )
        for w in (0, 0, 2)
    ]
    assert torch.equal(before, torch.get_rng_state())
    assert runs[0].made == sum(line["made"] for line in runs[0].history) == 3 * len(split.train) // 2
    assert 0 < runs[0].making_seconds < runs[0].seconds
    assert plain_history(runs[0]) == plain_history(runs[1]) == plain_history(runs[2])
    other = train(
        dataset, split=split, method=epic(dataset), options=Training(epochs=3, batch_size=16, seed=1), progress=False
    )
    assert plain_history(runs[0]) != plain_history(other)


def test_the_first_call_of_a_method_is_not_timed():
    dataset = lollipops(60)
    split, options = stratified_split(dataset.y), Training(epochs=1)
    methods = [m(seed=0, degree_features=True) for m in (SlowAtFirst, DropEdge)]
    slow, fast = (train(dataset, split=split, method=m, options=options, progress=False) for m in methods)
    assert slow.making_seconds < SlowAtFirst.seconds
    assert plain_history(slow) == plain_history(fast)


SCRIPT = """
import sys, torch
torch.set_num_threads(1)
from tests.train.test_loop import *
import time
def slow(line):
    print("epoch", flush=True)
    time.sleep(0.2)
d = lollipops(60)
folder = sys.argv[1]
result = train(d, split=stratified_split(d.y), method=epic(d), options=Training(epochs=6, batch_size=16),
               checkpoint=folder + "/c.ckpt", history=folder + "/history.jsonl", progress=False,
               on_epoch_end=slow if sys.argv[2] == "slow" else None)
print(json.dumps([plain_history(result), result.test, result.best_epoch]))
"""


@pytest.mark.slow
def test_kill_9_and_resume_gives_the_same_numbers(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen([*command, "slow"], stdout=subprocess.PIPE, text=True) as run:
        for _ in range(4):
            assert run.stdout.readline() == "epoch\n"
        os.kill(run.pid, signal.SIGKILL)
    assert (tmp_path / "c.ckpt").exists()
    again = subprocess.run([*command, "fast"], check=True, capture_output=True, text=True)
    resumed = json.loads(again.stdout)
    dataset = lollipops(60)
    straight = train(
        dataset,
        split=stratified_split(dataset.y),
        method=epic(dataset),
        options=Training(epochs=6, batch_size=16),
        progress=False,
    )
    assert resumed == [plain_history(straight), straight.test, straight.best_epoch]
    assert not (tmp_path / "c.ckpt").exists()
    lines = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == list(range(6))


def test_a_checkpoint_of_another_run_or_a_damaged_one_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.unlink", lambda self, missing_ok=False: None)
    dataset, path = lollipops(60), tmp_path / "c.ckpt"
    split = stratified_split(dataset.y)
    train(dataset, split=split, options=Training(epochs=1), checkpoint=path, progress=False)
    with pytest.raises(InputError, match="belongs to other graphs or settings"):
        train(dataset, split=split, options=Training(epochs=1, seed=5), checkpoint=path, progress=False)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"c\.ckpt is damaged .*: delete it to start again"):
        train(dataset, split=split, options=Training(epochs=1), checkpoint=path, progress=False)


def test_a_checkpoint_is_not_continued_with_another_cost(tmp_path, monkeypatch):
    """Same settings, same graphs; but the costs were learned with other seeds, or insertion has another price."""
    monkeypatch.setattr("pathlib.Path.unlink", lambda self, missing_ok=False: None)
    dataset, path = lollipops(60), tmp_path / "c.ckpt"
    split, graphs = stratified_split(dataset.y), with_features(dataset.graphs, torch.arange(50))
    learned = [LearnedCost(hidden_channels=4).fit(graphs, epochs=1, seed=s, progress=False) for s in (0, 0, 1)]

    def go(cost):
        method = EPIC(cost, seed=1, degree_features=True).fit(graphs)
        return train(dataset, split=split, method=method, options=Training(epochs=1), checkpoint=path, progress=False)

    assert plain_history(go(learned[0])) == plain_history(go(learned[1]))  # the same contents: it goes on
    for other in (learned[2], UnitCost()):
        with pytest.raises(InputError, match="belongs to other graphs or settings"):
            go(other)


@pytest.mark.parametrize("indicator", [False, True])
def test_indicator_reaches_model_and_test_graphs(indicator):
    dataset = lollipops(60)
    plain = with_features(dataset.graphs, torch.arange(42)).x.shape[1]
    seen = {True: set(), False: set()}

    class Spy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(1, 4))

        def forward(self, batch):
            marked = set(batch.x[:, -1].unique().tolist()) if batch.x.shape[1] > plain else None
            seen[self.training].add(None if marked is None else tuple(sorted(marked)))
            return self.weight.expand(batch.num_graphs, 4)

    split = Split(torch.arange(42), torch.arange(42, 48), torch.arange(48, 60))
    train(
        dataset,
        split=split,
        method=epic(dataset, indicator=indicator),
        model=Spy(),
        options=Training(epochs=1),
        progress=False,
    )
    assert seen == ({True: {(0.0, 1.0)}, False: {(0.0,)}} if indicator else {True: {None}, False: {None}})


def test_other_labels_and_other_models():
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, 4 + i % 5) for i in range(40)]
    for i, g in enumerate(graphs):
        g.y = torch.tensor([[float(i % 5 > 2), float("nan") if i % 3 else float(i % 5 < 2)]])  # by their size
    split = Split(torch.arange(24), torch.arange(24, 32), torch.arange(32, 40))
    tasks = Dataset("tasks", pack(graphs), "binary")
    assert (
        0
        <= train(tasks, split=split, method=EPIC(UnitCost(), seed=0), options=Training(epochs=2), progress=False).test
        <= 1
    )
    for g in graphs:
        g.y = torch.tensor([float(g.num_nodes)])
    values = Dataset("values", pack(graphs), "values")

    class Mine(torch.nn.Module):
        """Any module that takes a batch."""

        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(1, 1)

        def forward(self, batch):
            return self.linear(batch.ptr.diff()[:, None].float())

    result = train(values, split=split, model=Mine(), options=Training(epochs=60, lr=0.1), progress=False)
    assert result.test > -0.5


def test_patience_and_bad_options():
    dataset = lollipops(60)
    result = train(
        dataset,
        split=stratified_split(dataset.y),
        options=Training(epochs=50, batch_size=42, patience=2, lr=1e-9, average=0),
        progress=False,
    )
    assert result.epochs == result.best_epoch + 2
    with pytest.raises(InputError, match="epochs must be positive, got 0"):
        Training(epochs=0)
    with pytest.raises(InputError, match="9 to train, 3 to validate and 0 to test"):
        train(dataset, split=Split(torch.arange(9), torch.arange(9, 12), torch.arange(0)), progress=False)


def test_the_budget_is_counted_in_updates():
    graphs = lollipops(60).graphs
    for size, updates, epochs, rounds in ((16, 1000, 250, 10), (60, 250, 250, 3), (7, 20, 2, 1), (60, 1, 1, 1)):
        steps = Steps(graphs, Vanilla(), Training(updates=updates, batch_size=size))
        assert (steps.epochs, steps.rounds) == (epochs, rounds)
        assert [e for r in range(rounds) for e in steps.epochs_of(r)] == list(range(epochs))
    assert Steps(graphs, Vanilla(), Training(epochs=7)).rounds == 7  # each is evaluated


@pytest.mark.parametrize("method", [GMixup, MotifSwap])
def test_what_a_method_learned_is_part_of_its_fingerprint(method):
    graphs = with_features(lollipops(60).graphs, torch.arange(60))
    one, same, other = (
        method(seed=1, degree_features=False).fit(graphs.select(torch.arange(*part))).fingerprint()
        for part in ((0, 40), (0, 40), (20, 60))
    )
    assert one == same
    assert one != other


@pytest.mark.parametrize("matching", ["nodes", "edges"])
@pytest.mark.parametrize("cost", [UnitCost(), FeatureCost(), LearnedCost()], ids=lambda c: type(c).__name__)
def test_training_graphs_are_embedded_once(cost, matching, monkeypatch):
    graphs = with_features(lollipops(40).graphs, torch.arange(40))
    if isinstance(cost, LearnedCost):
        cost = LearnedCost().fit(graphs, epochs=1, progress=False)
    method = EPIC(cost, ratio=1.0, matching=matching, degree_features=False).fit(graphs)
    steps = Steps(graphs, method, Training(updates=6, batch_size=16))
    monkeypatch.setattr(type(cost), "embed", None)
    found = [steps[s] for s in range(len(steps))]
    monkeypatch.undo()
    steps.graphs = graphs
    for number, batch in enumerate(found):
        again = steps[number]
        assert torch.equal(batch.x, again.x)
        assert torch.equal(batch.edge_index, again.edge_index)
        assert torch.allclose(batch.y, again.y, atol=1e-5)
        assert set(batch.keys()) == set(again.keys()), "node costs are not part of a batch"


def test_graphs_are_not_embedded_ahead_where_that_takes_much_memory(monkeypatch):
    graphs = with_features(lollipops(40).graphs, torch.arange(40))
    size = graphs.num_nodes * (graphs.x.shape[1] + 2)
    monkeypatch.setattr("epic.paths.interpolation.AHEAD", size)
    assert embedded(graphs, cost=FeatureCost()).node_costs["embedding"].shape == graphs.x.shape
    monkeypatch.setattr("epic.paths.interpolation.AHEAD", size - 1)
    assert embedded(graphs, cost=FeatureCost()) is graphs


def test_a_budget_in_updates_is_spent_whole():
    dataset = lollipops(60)
    options = Training(updates=40, batch_size=16)
    result = train(dataset, split=stratified_split(dataset.y), options=options, progress=False)
    assert (result.updates, result.epochs, len(result.history)) == (39, 13, 1)
    assert result.history[0]["epoch"] == 12
    assert set(result.history[0]) >= {"loss", "validation", "validation_loss", "updates"}


def test_degrees_come_from_training_graphs_alone():
    dataset = lollipops(8)
    small = with_features(dataset.graphs, torch.tensor([0, 4]))  # heads of 4 only: degrees to 4
    assert small.x.shape[1] == 5
    assert (small.x.sum(1) == 1).all()


def test_training_graphs_without_nodes_are_refused():
    graphs = pack([random_graph(np.random.default_rng(0), n, x=None, edge_width=None, y=[0]) for n in (0, 0, 3)])
    with pytest.raises(InputError, match="none of the 2 training graphs has a node"):
        with_features(graphs, torch.tensor([0, 1]))
    assert with_features(graphs, torch.tensor([0, 2])).x.shape[0] == 3


def test_labels_of_one_class_are_refused_before_training():
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, 4, y=[float(i < 16)]) for i in range(24)]
    split = Split(torch.arange(0, 12), torch.arange(12, 16), torch.arange(16, 24))
    started = []
    with pytest.raises(InputError, match="both classes, but the 4 to judge by are of one"):
        train(Dataset("sorted", pack(graphs), "binary"), split=split, progress=False, on_epoch_end=started.append)
    model = torch.nn.Linear(1, 1)
    model.forward = started.append
    with pytest.raises(InputError, match="both classes"):
        train(Dataset("sorted", pack(graphs), "binary"), split=split, model=model, progress=False)
    assert not started
