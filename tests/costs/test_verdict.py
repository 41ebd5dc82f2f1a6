"""What learning says of its result, against scipy and the whole matrix of distances."""

import logging
import re

import pytest
import torch
from scipy.stats import binomtest

from epic import EPIC, FeatureCost, LearnedCost, UnitCost
from epic.costs import Cost
from epic.costs.verdict import interval
from epic.data import lollipop
from epic.graphs.convert import pack

WORDS = re.compile(
    r"learned a cost: epoch (\d+) of (\d+) ordered (\d+)% of the triplets of (\d+) held-out graphs "
    r"\(95% interval (\d+)% to (\d+)%\)"
)


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, logger="epic")
    return lambda: [(r.levelname, r.getMessage()) for r in caplog.records if r.name.startswith("epic")]


@pytest.mark.parametrize(("right", "count"), [(0, 7), (5, 9), (43, 100), (300, 300)])
def test_interval_is_wilsons(right, count):
    theirs = binomtest(right, count).proportion_ci(method="wilson")
    assert interval(right / count, count) == pytest.approx((theirs.low, theirs.high), abs=1e-6)


def test_fit_says_how_good_the_cost_is(said):
    graphs = lollipop(120, seed=0)
    held = pack(lollipop(40, seed=1))
    augment = EPIC().fit(graphs, validation=held, epochs=3, progress=False)
    cost = augment.cost_
    ((level, text),) = said()
    epoch, epochs, ordered, count, low, high = map(int, WORDS.match(text).groups())
    best = min(cost.history_, key=lambda e: e.judged)
    assert (level, epoch, epochs, ordered, count) == ("INFO", best.epoch + 1, 3, round(100 * best.ordered), 40)
    assert low < ordered <= high
    nearest = pack(graphs).y[cost.distances(held, graphs, progress=False).argmin(1)]
    right = (nearest == held.y).double().mean()
    largest = (held.y == pack(graphs).y.bincount().argmax()).double().mean()
    assert text.endswith(f"classify {right:.0%} of these graphs rightly, the largest class {largest:.0%}")


def test_a_cost_of_chance_labels_is_warned_about(said):
    graphs = lollipop(60, heads=(4,), seed=0)
    for graph, label in zip(graphs, torch.rand(60, generator=torch.Generator().manual_seed(0)), strict=True):
        graph.y = (label < 0.5).long().reshape(1)
    LearnedCost().fit(graphs, epochs=2, progress=False)
    ((level, text),) = said()
    assert level == "WARNING"
    high = float(re.search(r"to (\d+)%\)", text)[1])
    advice = "unit cost will serve you better" if high < 50 else "these graphs cannot tell it from chance"
    assert text.endswith(f"Chance is 50%: {advice}")


def test_nothing_held_out_and_nothing_learned_are_said(said):
    LearnedCost().fit(lollipop(20, seed=0), validation=0, epochs=1, progress=False)
    EPIC(UnitCost()).fit(lollipop(20, seed=0))
    ((level, one),) = said()  # nothing is learned by the second: it has nothing to say
    assert level == "WARNING"
    assert one.startswith("learned a cost without held-out graphs: the training loss chose epoch 1 of 1")


def test_every_cost_says_what_it_is():
    class Mine(Cost):
        def __init__(self):
            self.price = 2.0

        def embed(self, graphs): ...
        def substitution(self, source, target): ...

    assert [repr(c) for c in (UnitCost(), FeatureCost(), FeatureCost(edit=0.5), Mine())] == [
        "UnitCost()",
        "FeatureCost(edit=None)",
        "FeatureCost(edit=0.5)",
        "Mine(price=2.0)",
    ]
