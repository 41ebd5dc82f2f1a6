"""Claims against numbers made up for them, and the pooled test against hand, scipy and data without an effect."""

import numpy as np
import pytest
from scipy import stats

from epic.compare.claims import judge, table
from epic.compare.plan import Claim, Entry
from epic.compare.runs import Runs
from epic.compare.statistics import Comparison, crossed, paired, pooled
from epic.paper.report import report
from tests.compare.stores import fill, tiny

CLAIMS = (Claim(method="submix", aim=3.0, main=True), Claim(method="drop_edge"), Claim(method="ghost"))


def score(config):
    """Submix is 2 points better on A and 4 on B, by fold 0, 1, 2 points more; drop_edge is as good as plain."""
    better = {"A": 0.02, "B": 0.04}[config["dataset"]] + 0.01 * config["split_seed"]
    return 0.5 + (better if config["method"] == "submix" else 0.0) + 0.1 * (config["backbone"] == "gcn")


@pytest.fixture
def runs(tmp_path):
    plan = tiny(claims=CLAIMS, backbones=("gin", "gcn"), splits=3)
    return Runs(plan, fill(plan, tmp_path / "s.jsonl", score))


def test_claims_are_pooled_over_backbones_and_datasets(runs):
    main, extra = judge(runs)
    assert (main.claim.method, extra.claim.method) == ("submix", "drop_edge")  # an entry that is not there is left out
    assert main.all.difference == pytest.approx(4.0)  # mean of 2, 3, 4 and 4, 5, 6
    assert {d: c.difference for d, c in main.parts.items()} == pytest.approx({"A": 3.0, "B": 5.0})
    assert main.all.runs == 2 * 2 * 3 * 2  # datasets, backbones, splits, seeds
    assert extra.all.difference == 0.0 == extra.all.high
    assert "helps: +4.0 points" in main.verdict
    assert "higher on 2 of 2 datasets" in main.verdict
    assert main.verdict.endswith("the aim of +3.0 is reached")
    assert extra.verdict.startswith("no evidence that it helps")


def test_claims_are_pooled_over_sizes(tmp_path):
    def by_size(config):
        return score(config) + (0.02 if config["size"] == 40 and config["method"] == "submix" else 0.0)

    plan = tiny(claims=CLAIMS, sizes=(20, 40), splits=3)
    main, _ = judge(Runs(plan, fill(plan, tmp_path / "s.jsonl", by_size)))
    assert main.all.difference == pytest.approx(5.0)  # 4 with 20 graphs, 6 with 40
    assert main.all.runs == 2 * 2 * 3 * 2  # datasets, sizes, splits, seeds


def test_an_aim_may_be_missed(runs):
    hopeful = runs.plan.model_copy(update={"claims": (Claim(method="submix", aim=4.5),)})
    assert judge(Runs(hopeful, runs.store))[0].verdict.endswith("the aim of +4.5 is missed by 0.5")


def test_pages_and_tables_tell_the_claims(runs):
    rows = table(judge(runs))
    assert rows[1][0] == "submix against vanilla"
    assert rows[1][1] == "+4.0"
    assert rows[2][0].endswith("(extra)")
    for form in ("md", "html", "text"):
        text = report([runs], form=form)
        assert "named" in text or form == "text"
        assert "the aim of +3.0 is reached" in text


def test_runs_that_are_missing_say_so(tmp_path):
    plan = tiny(claims=CLAIMS, splits=1)
    half = Runs(plan, fill(plan, tmp_path / "s.jsonl", lambda c: score(c) if c["method"] != "submix" else None))
    assert [j.claim.method for j in judge(half)] == ["drop_edge"]
    assert judge(half)[0].verdict.startswith("too few runs to say")


def test_a_dataset_that_has_only_begun_is_left_out(tmp_path):
    plan = tiny(claims=CLAIMS, splits=4)
    begun = fill(plan, tmp_path / "s.jsonl", lambda c: score(c) if c["dataset"] == "A" or c["split_seed"] < 2 else None)
    main = judge(Runs(plan, begun))[0]
    assert list(main.parts) == ["A"]
    assert main.all.p is not None


def test_a_claim_may_be_against_any_entry(tmp_path):
    entries = [Entry(label=n, method=n) for n in ("vanilla", "submix")]
    plan = tiny(entries=entries, claims=(Claim(method="vanilla", against="submix"),), splits=3)
    assert judge(Runs(plan, fill(plan, tmp_path / "s.jsonl", score)))[0].all.difference == pytest.approx(-4.0)


def test_pooled_by_hand():
    one, two = paired([1.0, 2.0, 3.0], np.zeros(3), 8, 1), paired([0.0, 1.0, 5.0, 2.0], np.zeros(4), 8, 1)
    a, b = (1 / 3 + 1 / 8) * 1.0, (1 / 4 + 1 / 8) * np.var([0, 1, 5, 2], ddof=1)
    error, free = np.sqrt(a + b) / 2, (a + b) ** 2 / (a**2 / 2 + b**2 / 3)
    found = pooled([one, two, Comparison(None, None, None, None, None, 0, 0)])
    assert found.difference == 2.0
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, free, 2.0, error))
    assert found.p == pytest.approx(2 * stats.t.sf(2 / error, free))
    assert (found.splits, found.runs) == (7, 7)


def test_pooled_without_spread_or_runs():
    same = Comparison(0.0, 0.0, 0.0, 1.0, 0.0, 3, 3, free=2)
    assert pooled([same, same]).p == 1.0
    assert pooled([]).difference is None
    assert pooled([same, Comparison(2.0, None, None, None, None, 1, 1)]).p is None


def test_pooled_of_one_dataset_is_that_dataset():
    one = paired([1.0, 2.0, 4.0], np.zeros(3), 8, 1)
    found = pooled([one])
    assert (found.low, found.high, found.p) == pytest.approx((one.low, one.high, one.p))


@pytest.mark.slow
def test_pooled_calls_no_effect_in_a_twentieth():
    """Eight datasets whose ten folds are drawn without an effect: graph by graph right as often either way."""
    rng = np.random.default_rng(0)
    worlds, datasets, graphs = 1000, 8, 200
    called = 0
    for _ in range(worlds):
        gap = rng.normal(0, 0.3, (datasets, graphs)).reshape(datasets, 10, -1).mean(2)
        gap = gap + rng.normal(0, 0.01, gap.shape)
        called += pooled([paired(row, np.zeros(10), 160, 20) for row in gap]).p < 0.05
    assert 0 < called <= stats.binom.ppf(0.9999, worlds, 0.05)


def test_draws_are_judged_by_what_each_graph_gains(tmp_path):
    """Ten draws of 40 of 200 graphs, of which submix gets right what plain training gets wrong in one of ten."""
    rng = np.random.default_rng(0)
    plan = tiny(claims=CLAIMS[:1], sizes=(40,), splits=10, seeds=1, datasets=("A",), options={"outputs": True})
    store = fill(plan, tmp_path / "s.jsonl", score)
    runs = Runs(plan, store)
    gains = np.full((10, 200), np.nan)
    for task in runs:
        record = store.get(task)
        draw = np.random.default_rng(task.config["split_seed"])
        test = draw.permutation(200)[40:]
        right = draw.random(160) < 0.6
        if task.config["method"] == "submix":
            gained = ~right & (rng.random(160) < 0.25)
            gains[task.config["split_seed"], test] = 100.0 * gained
            right = right | gained
        record |= {
            "config": task.config,
            "sizes": [35, 5, 160],
            "test": right.mean(),
            "graphs": {"test": test.tolist()},
            "labels": {"test": [0] * 160},
            "outputs": {"test": [[10_000, 0] if r else [0, 10_000] for r in right]},
        }
    (main,) = judge(runs)
    by_hand = crossed(np.nanmean(gains, 1), np.zeros(10), gains)
    assert (main.all.difference, main.all.low, main.all.p) == pytest.approx(
        (by_hand.difference, by_hand.low, by_hand.p)
    )
    assert main.all.low > 0
