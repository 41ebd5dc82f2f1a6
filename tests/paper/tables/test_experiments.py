import numpy as np
import pytest

from epic.paper.plans import load_plan
from epic.paper.tables.render import to_markdown
from tests.compare.stores import fill, others
from tests.paper.tables.test_train import cells, table_of


def test_distance_table(tmp_path):
    plan = load_plan("distance")
    worth = {"unit": 60.0, "feature": 61.0, "learned": 75.0, "hungarian": 70.0}

    def outcome(c):
        if c["dataset"] != "BZR" or (c["cost"], c["seed"]) == ("unit", 4):
            return None
        base = worth[c["cost"]] + c["seed"]
        found = {"accuracy": base, "voted_accuracy": base + 2, "k_accuracy": base + 5, "k": 3 + 2 * c["seed"]}
        return {**found, "majority_accuracy": 79.0}

    store = others(plan, tmp_path / "r.jsonl", outcome)
    table = table_of(plan, store)
    one, voted, several, rest = (cells(table, i) for i in range(4))
    assert (one["learned", "BZR"].mean, one["learned", "BZR"].printed) == (77.0, 77.8)
    assert (one["learned", "BZR"].mark, one["learned", "BZR"].printed_mark) == ("best", "best")
    assert one["unit", "BZR"].count == "4/5"
    assert (voted["learned", "BZR"].mean, voted["learned", "BZR"].printed) == (79.0, 77.8)
    assert several["learned", "BZR"].mean == 82.0
    assert several["learned", "BZR"].settings == ("k 3, 5, 7, 9, 11",)
    assert several["learned", "BZR"].printed is None
    assert rest["majority class", "BZR"].mean == 79.0
    assert ("vanilla GIN", "BZR") not in rest
    assert not any("Vanilla GIN" in note for note in table.notes)
    splits = load_plan("splits", datasets=("BZR",))
    store = fill(splits, tmp_path / "r.jsonl", lambda c: 0.80 + 0.01 * c["split_seed"])
    rest = cells(table_of(plan, store), 3)
    assert rest["vanilla GIN", "BZR"].mean == pytest.approx(82.0)
    assert rest["vanilla GIN", "BZR"].printed == 87.07
    assert rest["vanilla GIN", "COX2"].count == "0/5"


@pytest.mark.parametrize("name", ["distance", "distance_exact"])
@pytest.mark.parametrize("options", [{}, {"quick": True}, {"epochs": 7}, {"seeds": 2}])
def test_plain_gin_stands_in_narrowed_distance_tables(tmp_path, options, name):
    plan, splits = load_plan(name, **options), load_plan("splits", **options)
    store = fill(splits, tmp_path / "r.jsonl", lambda c: 0.8)
    assert cells(table_of(plan, store), 3)["vanilla GIN", "COX2"].mean == pytest.approx(80.0)


def test_other_kinds(tmp_path):
    blur = load_plan("blur")
    made = {"frobenius": {str(k): 3.0 / k for k in range(1, 11)}}
    found = cells(table_of(blur, others(blur, tmp_path / "b", lambda c: made if c["dataset"] == "BZR" else None)))
    assert (found["BZR", "10"].mean, found["COX2", "10"].count) == (0.3, "0/1")
    curves = load_plan("curves")
    losses = {"train_loss": [1.0, 0.5, 0.25], "validation_loss": [0.9, 0.4, 0.6], "seconds": 61.4}
    table = table_of(curves, others(curves, tmp_path / "c", lambda c: losses))
    assert to_markdown(table).count("| sinkhorn | 0.250 | 0.400 | 1 | 61 |") == 1
    lollipop = load_plan("lollipop")
    parts = {f"{s}_{p}": 0.1 for s in ("negative", "positive") for p in ("head", "mixed", "tail")}
    store = others(lollipop, tmp_path / "l", lambda c: {"pattern": parts | {"negative_head": 0.9 + 0.01 * c["seed"]}})
    table = table_of(lollipop, store)
    head = cells(table)["head and head", "cost"]
    assert (head.mean, head.std, head.printed) == (
        pytest.approx(0.92),
        pytest.approx(np.std([0, 1, 2, 3, 4], ddof=1) / 100),
        0.97,
    )
    assert cells(table)["head and tail", "cost"].printed is None
    assert cells(table, 1)["head and tail", "cost"].printed == 0.8
