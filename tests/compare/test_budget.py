"""A comparison in the time given, with a clock that only runs advance."""

import math
import re
from itertools import product
from types import SimpleNamespace

import pytest

from epic.compare.budget import Cut, least, sized, what_is_done, whole
from epic.compare.plan import Plan
from epic.compare.runner import carry_out
from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.compare.study import plan_of
from epic.compare.table import rows
from epic.compare.times import Times
from tests.compare.fake import noise

UPDATE = {"vanilla": 0.01, "drop_edge": 0.012, "epic": 0.02}
LEARNING, ONCE = 0.5, 0.4


class Clock:
    """A clock, and runs that take as long as they would: an update, an epoch of learning, and all else."""

    def __init__(self, slower=1.0):
        self.now, self.slower, self.longest, self.done, self.learned = 0.0, slower, 0.0, [], set()

    def __call__(self):
        return self.now

    def perform(self, task):
        c = task.config
        steps = c["epochs"] * 10 if c["epochs"] else c["updates"]
        seconds = steps * UPDATE[c["method"]] * (1.0 if task.kind == "probe" else self.slower)
        what = (c["split_seed"], c["seed"], task.kind)
        learning = c["cost"]["epochs"] * LEARNING if c["method"] == "epic" and what not in self.learned else 0.0
        self.learned |= {what} if c["method"] == "epic" else set()
        self.now += seconds + learning + ONCE
        self.longest = max(self.longest, seconds + learning + ONCE)
        self.done.append(task)
        score = 0.7 + 0.05 * noise([c["split_seed"], c["seed"]]) + 0.02 * noise([c["method"], c["split_seed"]])
        probe = {"learning_epoch": LEARNING if c["method"] == "epic" else 0.0} if task.kind == "probe" else {}
        common = {"task": "classes", "sizes": [70, 10, 20], "made": 1, "making_seconds": 0.1}
        lengths = {"updates": steps, "epochs": max(1, steps // 10), "seconds": seconds, "prepared": learning}
        return {"validation": score, "test": score, **common, **lengths, **probe}

    @property
    def runs(self):
        return [t for t in self.done if t.kind == "train"]


@pytest.fixture
def within(tmp_path, monkeypatch):
    """Carry out a plan within a budget; gives the clock, the runs and what was said."""

    def go(plan, budget, slower=1.0):
        clock, said = Clock(slower), []
        monkeypatch.setattr("epic.parallel.processes.time", SimpleNamespace(perf_counter=clock))
        runs = Runs(plan, Store(tmp_path / "r.jsonl"), paired=True)
        how = {"workers": 0, "progress": False, "clock": clock, "tell": said.append}
        finished = carry_out(runs, clock.perform, budget=budget, **how)
        return SimpleNamespace(clock=clock, runs=runs, said=said, finished=finished)

    return go


ASKED = plan_of("a", ["drop_edge", "epic"])
WHOLE = 5 * (3 * (5000 * sum(UPDATE.values()) + 3 * ONCE) + 9 * 5000 * sum(UPDATE.values()) / 3 + 4 * 40 * LEARNING)


@pytest.mark.parametrize("budget", [70, 150, 300, 700, 1500, 4000])
def test_a_budget_is_kept_and_answers(within, budget):
    found = within(ASKED, budget)
    assert found.clock.now <= budget + found.clock.longest
    table = rows(found.runs)
    assert len({row.runs for row in table}) == 1  # no half pairs
    assert len({t.config["updates"] for t in found.clock.runs}) == 1
    for row in table[1:]:
        assert row.difference.splits >= 3
        assert math.isfinite(row.difference.high - row.difference.low)
    assert all(said.startswith("To fit in") for said in found.said)
    assert re.search(f": {found.runs.plan.splits}( of 5)? splits", found.said[-1])  # of what was done
    assert found.said[-1].endswith("trained to the end.") == (found.runs.plan.options.get("updates", 5000) < 5000)
    assert not found.finished


def test_enough_time_cuts_nothing(within):
    found = within(ASKED, 2 * WHOLE)
    assert found.finished
    assert found.runs.plan == ASKED
    assert len(found.clock.runs) == ASKED.count()
    assert found.said[0].startswith("All that was asked for fits in")


def test_the_order_of_sacrifice_is_kept(tmp_path):
    """What is chosen is, of all cuts that fit, the one with most sizes, then updates, tuning, seeds and splits."""
    asked = plan_of("a", ["drop_edge", "epic"], splits=4, seeds=2, tune=2)
    store, times, clock = Store(tmp_path / "none.jsonl"), Times(), Clock()
    for entry in asked.entries:
        task, start = asked.example(entry), clock.now
        record = clock.perform(task)
        times.add({"kind": "train", "config": task.config, **record, "seconds_in_all": clock.now - start})

    def seconds(share, tune, seeds, splits):
        runs = seeds + tune  # of each method; plain training tries as many
        learned = (seeds + bool(tune)) * LEARNING * max(2, round(40 * share))
        return splits * (runs * (round(5000 * share) * sum(UPDATE.values()) + 3 * ONCE) + learned)

    every = list(product([0.5**k for k in range(6)], (2, 0), (2, 1), (4, 3)))
    for limit in (*range(100, 5000, 200), 10**6):
        found = sized(asked, store, times, seconds=limit, workers=1)
        best = max(c for c in every if c == every[-1] or seconds(*c) <= 0.9 * limit)
        assert (found.cut.share, found.cut.tune, found.cut.seeds, found.cut.splits) == best
        assert found.seconds == pytest.approx(seconds(*best))
    assert found.cut == whole(asked)
    too_short = sized(asked, store, times, seconds=20, workers=1)
    assert (too_short.cut, too_short.fits) == (least(asked), False)


def test_too_short_a_time_is_said_and_nothing_is_half(within):
    found = within(ASKED, 24)
    assert found.said[0].startswith("24 s is too little for a verdict. After timing, the smallest plan has 3 of 5")
    assert "--budget" in found.said[0]
    assert found.clock.now <= 24 + found.clock.longest
    assert len({row.runs for row in rows(found.runs)}) == 1


@pytest.mark.parametrize(
    ("budget", "says"),
    [(1.0, "1 s is too little for a verdict. After timing"), (0.0, "0 s is too little to time a run")],
)
def test_a_time_spent_on_probes_is_said(within, budget, says):
    found = within(ASKED, budget)
    assert len(found.said) == 1
    assert found.said[0].startswith(says)
    assert not found.clock.runs
    assert not found.finished


def test_runs_that_are_slower_than_probes_leave_no_half_pairs(within):
    found = within(ASKED, 300, slower=2.0)
    assert found.clock.now <= 300 + found.clock.longest
    assert len({row.runs for row in rows(found.runs)}) == 1


def test_methods_meet_a_split_before_the_next_begins(within):
    found = within(plan_of("a", ["drop_edge", "epic"], splits=4, seeds=2, tune=0), 9000)
    met = [(t.config["seed"], t.config["split_seed"]) for t in found.clock.runs]
    assert met == sorted(met)
    assert {met.count(cell) for cell in met} == {3}


def test_a_larger_budget_reuses_what_is_there(within):
    plan = plan_of("a", ["drop_edge", "epic"], seeds=1, tune=0, updates=200)
    small = within(plan, 130)
    assert small.said[0].startswith("To fit in 2 min: 3 of 5 splits, 1 seed, 200 updates: ")
    assert (small.runs.plan.splits, small.finished) == (4, False)  # there was time for one more
    assert small.said[1:] == ["To fit in 2 min: 4 of 5 splits, 1 seed, 200 updates: about 2 min."]
    large = within(plan, 600)
    assert large.finished
    assert not [t for t in large.clock.done if t.kind == "probe"]  # how long runs take is known
    assert len(small.clock.runs) + len(large.clock.runs) == plan.count() == len(large.runs.store)


def test_shorter_learning_leaves_other_runs_as_they_are(within):
    plan = plan_of("a", ["drop_edge", "epic"], seeds=1, tune=0, updates=200)
    small = within(plan, 60)
    assert {t.config["cost"]["epochs"] for t in small.clock.runs if t.config["method"] == "epic"} == {10}
    again = within(plan, 600).clock.runs
    done = {t.key for t in small.clock.runs if t.config["method"] != "epic"}
    assert done
    assert not done & {t.key for t in again}


def test_runs_are_stored_with_their_true_settings(within):
    found = within(ASKED, 300)
    stored = [(r["kind"], r["config"]) for r in found.runs.store]
    assert stored == [("train", t.config) for t in found.clock.runs]
    updates = {r["updates"] for r in found.runs.store}
    assert updates == {c["updates"] for _, c in stored} == {1250}


def test_a_curve_loses_sizes_last():
    plan = Plan(name="a", title="a", splits=10, sizes=(100, 200, 400, None), options={"epochs": 40})
    assert Cut(3, 1, 0, 0.125, 2).of(plan).sizes == (100, None)
    assert Cut(3, 1, 0, 0.125, 4).of(plan).sizes == plan.sizes
    cut = Cut(3, 1, 0, 0.125, 2)
    assert what_is_done(plan, cut) == "3 of 10 draws, 1 of 5 seeds, 5 of 40 epochs, 2 of 4 sizes"


def test_a_verdict_appears_early_and_narrows(tmp_path):
    plan = plan_of("a", ["drop_edge"], splits=5, seeds=2, tune=0)
    clock, runs, shown = Clock(), Runs(plan, Store(tmp_path / "r.jsonl"), paired=True), []
    how = {"workers": 0, "progress": False, "clock": clock}
    carry_out(runs, clock.perform, standing=lambda: shown.append(rows(runs)[1].difference) or "", **how)
    assert [d.splits for d in shown] == [1, 2, 3, 4, 5, 5, 5, 5, 5, 5]
    assert [d.runs for d in shown] == list(range(1, 11))
