"""The paper's claims against tables made up for them."""

import pytest

from epic.paper.findings import CLAIMS, findings
from epic.paper.plans import load_plan
from epic.paper.tables.types import Block, Cell, Row, Table

SETS = tuple("ABCDEF")


def table(name, rows, printed=None, title="GIN"):
    """A table whose rows have these means, with printed ones where they are given."""
    found = [
        Row(
            label,
            tuple(
                Cell(mean, 1.0, 5 if mean is not None else 0, 5, printed=None if printed is None else printed[label][i])
                for i, mean in enumerate(means)
            ),
        )
        for label, means in rows.items()
    ]
    return Table(name, name, "accuracy in percent", SETS, (Block(title, tuple(found)),))


def said(*tables):
    return {f.claim: f for f in findings({t.name: t for t in tables})}


BEST, NOISE, LEARNED, SINKHORN, ORDER = (c.text for c in CLAIMS)


def test_without_tables_nothing_is_said():
    assert findings({}) == []
    assert findings({"few": table("few", {"vanilla": [1.0] * 6})}) == []


def test_best_on_most_datasets_counts_places():
    paper = {"vanilla": [50.0] * 6, "flag": [51.0] * 6, "epic": [60.0, 60.0, 60.0, 60.0, 60.0, 40.0]}
    rows = {"vanilla": [70.0] * 6, "flag": [70.5] * 6, "epic": [71.0] * 4 + [70.2] * 2, "counts": [90.0] * 6}
    printed = {**paper, "counts": [None] * 6}
    found = said(table("main", rows, printed))[BEST]
    assert found.verdict == "holds"  # counts is no row of the paper
    assert "+0.2 points on average" in found.evidence[0]
    assert "above in 4 of 6 places; in the paper +5.7, above in 5 of 6" in found.evidence[0]
    assert "no place has all its runs" in found.evidence[1]  # molecules
    rows["flag"] = [71.5] * 6
    assert said(table("main", rows, printed))[BEST].verdict == "does not hold"


def test_places_without_all_runs_are_left_out():
    rows = {"vanilla": [70.0] * 6, "epic": [71.0, 71.1, 71.2, None, None, None]}
    printed = {"vanilla": [50.0] * 6, "epic": [60.0] * 6}
    found = said(table("main", rows, printed))
    assert found[BEST].verdict == "too few places to say"
    assert "above in 3 of 3 places" in found[BEST].evidence[0]
    assert found[NOISE].verdict == "not run"


def test_parts_of_a_claim_may_differ():
    spread = [0.0, 0.1, 0.2, 0.3, 0.1, 0.0]
    cost = {"unit": [60.0] * 6, "feature": [61.0] * 6, "learned": [59.0 + s for s in spread]}
    near = {"unit": [60.0] * 6, "feature": [50.0] * 6, "learned": [65.0 + s for s in spread]}
    title = "Nearest graph of each class; of equally near ones, the first"
    found = said(table("costs", cost), table("distance", near, title=title))[LEARNED]
    assert found.verdict == "costs: the opposite is seen; distance: holds"
    voted = said(table("distance", near, title="Nearest graph of each class; equally near ones vote"))[LEARNED]
    assert voted.verdict == "not run"


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        ([0.1, -0.2, 0.3, 0.0, -0.1, 0.2], "holds"),
        ([3.0, -4.0, 2.0, -1.0, 4.0, -3.0], "cannot be told"),
        ([2.0, 2.2, 2.1, 1.9, 2.3, 2.0], "does not hold"),
    ],
)
def test_orders_are_alike_if_the_whole_interval_is_near_zero(gaps, verdict):
    rows = {"random": [70.0] * 6, "bfs": [70.0 + g for g in gaps]}
    assert said(table("order", rows))[ORDER].verdict == verdict


def test_claims_name_rows_of_plans():
    for part in (p for claim in CLAIMS for p in claim.parts):
        plan = load_plan(part.plan)
        rows = {e.label for e in plan.entries} or set(plan.axes["cost"])
        assert {part.row, *part.others} <= rows
