import numpy as np
import pytest
from scipy import stats

from epic.compare.curves import Curve, Point, curves, draw, sentences, table, worth
from epic.compare.runs import Runs
from epic.compare.statistics import paired
from epic.compare.store import Store
from epic.compare.study import plan_of
from tests.compare.stores import record


def curve(*scores, sizes=(100, 200, 400), label="vanilla"):
    return Curve(label, tuple(Point(n, s, 1.0, 3, None) for n, s in zip(sizes, scores, strict=True)))


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (60, (100, "=")),
        (65, (100 * 2**0.5, "=")),
        (70, (200, "=")),
        (72.5, (200 * 2**0.25, "=")),
        (59, (100, "<")),
        (81, (400, ">")),
    ],
)
def test_worth_grows_with_the_logarithm(score, expected):
    found = worth(curve(60, 70, 80), score)
    assert found == (pytest.approx(expected[0]), expected[1])


def test_a_curve_that_falls_is_levelled():
    assert worth(curve(60, 75, 70), 74) == (pytest.approx(100 * 2 ** (14 / 15)), "=")
    assert worth(curve(60, 75, 70), 76) == (400, ">")


@pytest.fixture
def runs(tmp_path):
    """Known scores: vanilla 60, 70, 80 and drop_edge 64, 70, 78 at 40, 80 and all graphs, draws 1 apart."""
    plan = plan_of("a", ["drop_edge"], sizes=[40, None, 80], splits=4)
    store = Store(tmp_path / "r.jsonl")
    level = {("vanilla", 40): 60, ("vanilla", 80): 70, ("vanilla", None): 80}
    level |= {("drop_edge", 40): 64, ("drop_edge", 80): 70, ("drop_edge", None): 78}
    found = Runs(plan, store)
    with store.writer() as writer:
        for task in found:
            c = task.config
            score = level[c["method"], c["size"]] + c["split_seed"] * (1 + 0.5 * (c["method"] == "drop_edge"))
            n = c["size"] or 160
            writer.add(task, {**record(score / 100), "sizes": [n * 7 // 8, n // 8, 100]})
    return found


def test_points_against_numbers_worked_out(runs):
    plain, other = curves(runs)
    assert [p.graphs for p in plain.points] == [40, 80, 160]
    assert [p.score for p in plain.points] == pytest.approx([61.5, 71.5, 81.5])
    assert plain.points[0].reach == pytest.approx(stats.t.ppf(0.975, 3) * np.std([0, 1, 2, 3], ddof=1) / 2)
    gap = paired(0.64 + 0.015 * np.arange(4), 0.6 + 0.01 * np.arange(4), 35, 100)
    assert other.points[0].difference.difference == pytest.approx(100 * gap.difference)
    assert other.points[0].difference.low == pytest.approx(100 * gap.low)
    assert all(p.difference is None for p in plain.points)


def test_the_table_and_what_it_says(runs):
    found = curves(runs)
    assert table(found) == [
        ("method", "40 graphs", "80 graphs", "160 graphs"),
        ("vanilla", "61.5", "71.5", "81.5"),
        ("drop_edge", "66.2 (+4.8)", "72.2 (+0.8)", "80.2 (-1.2)"),
    ]
    first, second, third = sentences(found)
    equal = 40 * 2 ** (4.75 / 10)
    assert first.startswith(f"drop_edge with 40 graphs is as good as plain training with {equal:.0f} (")
    assert "+4.8 points" in first
    assert "plain training with 84 (" in second
    assert "no evidence that it helps: -1.2 points" in third


def test_what_is_drawn_are_the_points(runs):
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    found = curves(runs)
    draw(axes, found)
    assert [line.get_ydata().tolist() for line in axes.lines] == [[p.score for p in c.points] for c in found]
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["vanilla", "drop_edge"]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["40", "80", "160"]
