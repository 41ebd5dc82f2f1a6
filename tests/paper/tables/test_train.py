"""Tables from stores whose scores are made up, against numbers worked out by hand or by scipy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from epic import InputError
from epic.compare import verdict
from epic.compare.plan import Entry
from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.paper import tables
from epic.paper.plans import load_plan
from epic.paper.printed import printed
from epic.paper.tables.render import to_markdown
from tests.compare.stores import fill, tiny


def table_of(plan, store):
    return tables.table_of(Runs(plan, store))


def differences(plan, store, *options):
    return verdict.differences(Runs(plan, store), *options)


SCORES = {("vanilla", "A"): 0.60, ("drop_edge", "A"): 0.65, ("submix", "A"): 0.50}
SCORES |= {("vanilla", "B"): 0.70, ("drop_edge", "B"): 0.72, ("submix", "B"): 0.74}


def score(c):
    return SCORES[c["method"], c["dataset"]] + 0.02 * c["seed"]


def cells(table, block=0):
    return {(r.label, d): c for r in table.blocks[block].rows for d, c in zip(table.columns, r.cells, strict=True)}


def test_mean_sample_deviation_marks_and_ranks(tmp_path):
    table = table_of(tiny(), fill(tiny(), tmp_path / "r.jsonl", score))
    found = cells(table)
    assert found["drop_edge", "A"].mean == pytest.approx(66.0)
    assert found["drop_edge", "A"].std == pytest.approx(np.std([65, 67], ddof=1))
    assert found["drop_edge", "A"].measured() == "66.00 (1.4)"
    assert found["drop_edge", "A"].seconds == 2.0
    assert [c.mark for c in found.values()] == [None, None, "best", None, None, "best"]  # three rows: no second best
    assert [r.rank for r in table.blocks[0].rows] == [2.5, 1.5, 2.0]
    assert table.blocks[0].ranked == ("A", "B")
    assert table.metric == "accuracy in percent"
    assert "sample standard deviation" in " ".join(table.notes)


def test_missing_and_failed_runs_show_and_are_not_ranked(tmp_path):
    def partial(c):
        if (c["method"], c["dataset"]) == ("drop_edge", "B"):
            return None if c["seed"] else 0.99
        return score(c)

    def failed(c):
        return "boom" if c["method"] == "submix" and c["dataset"] == "A" else None

    store = fill(tiny(), tmp_path / "r.jsonl", partial, failed)
    table = table_of(tiny(), store)
    found = cells(table)
    assert (found["submix", "A"].measured(), found["submix", "A"].count, found["submix", "A"].failed) == (
        "failed",
        "0/2",
        2,
    )
    assert (found["drop_edge", "B"].measured(), found["drop_edge", "B"].count) == ("99.00", "1/2")
    assert all(r.rank is None for r in table.blocks[0].rows)
    assert found["submix", "B"].mark == "best"  # among those that are complete
    assert found["drop_edge", "B"].mark is None  # though its one run is higher
    nothing = cells(table_of(tiny(), Store(tmp_path / "none.jsonl")))["vanilla", "A"]
    assert (nothing.measured(), nothing.count) == ("-", "0/2")
    text = to_markdown(table)
    assert "| submix | failed 0/2 | **75.00 (1.4)** |" in text
    assert "no dataset has all runs of every row yet" in text


def test_ranks_leave_out_what_is_not_complete(tmp_path):
    store = fill(tiny(), tmp_path / "r.jsonl", lambda c: None if c["dataset"] == "B" and c["seed"] else score(c))
    block = table_of(tiny(), store).blocks[0]
    assert block.ranked == ("A",)
    assert [r.rank for r in block.rows] == [2.0, 1.0, 3.0]


def test_chosen_settings_are_told_and_open_choices_are_missing(tmp_path):
    plan = tiny(entries=[Entry(label="vanilla", method="vanilla"), Entry(label="epic", method="epic")], tune=3)
    store = fill(plan, tmp_path / "r.jsonl", lambda c: 0.5)
    found = cells(table_of(plan, store))
    assert found["vanilla", "A"].settings == ("pool mean",)
    assert found["epic", "A"].settings == ("pool mean, ratio 0.2",)
    # Without the runs that choose, those that were chosen cannot be told from others.
    lines = [s for s in (tmp_path / "r.jsonl").read_text().splitlines() if '"seed": 1000' not in s]
    (tmp_path / "less.jsonl").write_text("\n".join(lines))
    less = cells(table_of(plan, Store(tmp_path / "less.jsonl")))
    assert {(c.mean, c.count) for c in less.values()} == {(None, "0/2")}


def test_differences_over_seeds_of_one_split(tmp_path):
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.02, (3, 2, 5))
    at = {"vanilla": 0, "drop_edge": 1, "submix": 2}

    def jitter(c):
        return 0.6 + float(noise[at[c["method"]], "AB".index(c["dataset"]), c["seed"]])

    plan = tiny(seeds=5)
    (first, second) = differences(plan, fill(plan, tmp_path / "r.jsonl", jitter))
    assert (first.label, second.label, first.baseline) == ("drop_edge", "submix", "vanilla")
    part = first.parts[1]
    test = stats.ttest_rel(noise[1, 1], noise[0, 1])
    assert part.found.p == pytest.approx(test.pvalue)
    assert part.found.difference == pytest.approx(100 * (noise[1, 1] - noise[0, 1]).mean())
    interval = test.confidence_interval(0.95)
    assert (part.found.low, part.found.high) == pytest.approx((100 * interval.low, 100 * interval.high))
    raw = sorted([part.found.p, second.parts[1].found.p])
    assert min(part.p, second.parts[1].p) == pytest.approx(min(1, 2 * raw[0]))  # Holm over the two methods
    assert part.over == "seeds"
    assert part.verdict.startswith("on one split: ")
    assert "helps" not in part.verdict
    assert first.verdict.startswith("too few datasets to speak of others: ")


def test_differences_over_splits_and_datasets(tmp_path):
    names = tuple("ABCDEFG")
    plan = tiny(datasets=names, splits=4, seeds=2)
    gain = {"vanilla": 0.0, "drop_edge": 0.05, "submix": -0.05}

    def better(c):
        wobble = 0.001 * ((c["split_seed"] * 7 + names.index(c["dataset"]) * 3) % 5) * (c["method"] != "vanilla")
        return 0.6 + 0.03 * c["split_seed"] + 0.01 * c["seed"] + gain[c["method"]] + wobble

    up, down = differences(plan, fill(plan, tmp_path / "r.jsonl", better))
    part = up.parts[0]
    gaps = [5 + 0.1 * ((s * 7) % 5) for s in range(4)]
    assert part.found.difference == pytest.approx(np.mean(gaps))
    assert part.over == "splits"
    error = np.sqrt((1 / 4 + 20 / 70) * np.var(gaps, ddof=1))  # sizes of the records: 70 train, 20 test
    assert part.found.statistic == pytest.approx(np.mean(gaps) / error)
    assert part.verdict.startswith("helps: +5.2 points, 95 % interval ")
    assert up.signed.p == pytest.approx(stats.wilcoxon([d.found.difference for d in up.parts]).pvalue)
    assert up.verdict.startswith("helps: +5.2 points on average over 7 datasets, higher on 7 ")
    assert down.verdict.startswith("hurts: -4.8 points on average over 7 datasets, higher on 0 ")
    assert up.p == pytest.approx(2 * up.signed.p)
    assert table_of(plan, Store(tmp_path / "r.jsonl")).blocks[0].rows[1].cells[0].difference == part


def test_verdicts_on_one_dataset_and_on_half_a_comparison(tmp_path):
    plan = tiny(datasets=("A",), splits=4, seeds=1)
    store = fill(plan, tmp_path / "r.jsonl", lambda c: None if c["split_seed"] > 1 else score(c))
    (first, _) = differences(plan, store)
    assert first.verdict == "too few runs to say: +5.0 points over 2 splits"
    assert (first.parts[0].found.difference, first.parts[0].found.splits) == (pytest.approx(5.0), 2)
    (_, none) = differences(plan.model_copy(update={"datasets": ("B",)}), store)
    assert none.verdict == "no finished runs yet"
    assert differences(plan, store, "submix")[0].label == "vanilla"
    with pytest.raises(InputError, match="unknown entry of the plan 'subnix'; did you mean 'submix'"):
        differences(plan, store, "subnix")


def test_printed_cells_stand_beside_measured_ones(tmp_path):
    plan = load_plan("main", methods=["vanilla", "epic"], datasets=("BZR", "COX2"), tune=0, seeds=2)
    store = fill(plan, tmp_path / "r.jsonl", lambda c: 0.8 if c["backbone"] == "gin" else None)
    table = table_of(plan, store)
    assert [b.title for b in table.blocks] == ["GIN"]
    assert "Not run: GCN." in table.notes
    cell = cells(table)["epic", "BZR"]
    assert (cell.printed, cell.printed_std, cell.printed_mark, cell.paper()) == (88.78, 3.3, "best", "88.78 (3.3)")
    vanilla, epic = table.blocks[0].rows
    assert (vanilla.printed_rank, epic.printed_rank) == (5.4, 1.1)
    assert (vanilla.matched_rank, epic.matched_rank) == (2.0, 1.0)
    assert (vanilla.rank, epic.rank) == (1.0, 1.0)  # equal scores share the better rank


@pytest.mark.parametrize(
    ("name", "label", "keys"),
    [
        ("costs", "feature", {"cost": "feature"}),
        ("order", "bfs", {"order": "bfs"}),
        ("sinkhorn", "8", {"k": 8}),
        ("noise", "submix", {"method": "submix", "noise": 0.4}),
    ],
)
def test_rows_find_their_printed_numbers(tmp_path, name, label, keys):
    plan = load_plan(name)
    table = table_of(plan, Store(tmp_path / "none.jsonl"))
    block = next(i for i, b in enumerate(table.blocks) if b.backbone == "gin" and keys.get("noise", 0.0) == b.noise)
    for dataset in plan.datasets:
        (known,) = [
            c for c in printed(name) if c.dataset == dataset and all(getattr(c, k) == v for k, v in keys.items())
        ]
        assert cells(table, block)[label, dataset].printed == known.mean


def test_real_values_are_not_percent(tmp_path):
    plan = tiny(datasets=("A",))
    store = fill(plan, tmp_path / "r.jsonl", lambda c: -0.25)
    for r in store:
        r["task"] = "values"
    table = table_of(plan, store)
    assert table.metric == "minus the mean absolute error"
    assert cells(table)["vanilla", "A"].mean == -0.25
    assert replace(cells(table)["vanilla", "A"], mean=None, runs=0).measured() == "-"


def test_a_baseline_of_ours_has_no_number_of_the_paper(tmp_path):
    plan = load_plan("main", datasets=("BZR",), methods=["vanilla", "counts"], backbones=("gin",), tune=0)
    found = cells(table_of(plan, fill(plan, tmp_path / "r.jsonl", lambda c: 0.8)))
    assert found["vanilla", "BZR"].printed is not None
    assert found["counts", "BZR"].printed is None


def test_a_row_may_be_of_some_datasets_only(tmp_path):
    rows = ("vanilla", "drop_edge", {"label": "submix", "method": "submix", "only": ["B"], "reason": "as a test"})
    plan = tiny(entries=rows)
    assert plan.count() == 2 * 2 * 2 + 2  # two seeds of two rows on two datasets, and of one row on one
    assert plan.example(plan.entries[2]).config["dataset"] == "B"
    store = fill(plan, tmp_path / "r.jsonl", score)
    assert len(store) == plan.count()
    table = table_of(plan, store)
    empty, there = cells(table)["submix", "A"], cells(table)["submix", "B"]
    assert (empty.mean, empty.expected, empty.count, empty.measured()) == (None, 0, "", "-")
    assert (there.runs, there.mark) == (2, None)
    assert table.blocks[0].ranked == ("A", "B")
    assert [r.rank for r in table.blocks[0].rows] == [2.0, 1.0, None]
    assert "submix: on B alone, as a test." in table.notes
