import pytest

from epic.compare.page import comparison_page, forest
from epic.compare.statistics import Comparison


def gap(difference, low, high):
    return Comparison(difference, low, high, 0.5, 1.0, 3, 3)


def test_a_forest_has_a_line_and_a_dot_for_each_method():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    forest(axes, {"a": gap(1.0, 0.5, 1.5), "b": gap(-1.0, -3.0, 1.0), "c": gap(0.2, None, None)})
    drawn = [(line.get_xdata(), line.get_ydata()) for line in axes.lines[:-1]]
    assert [list(x) for x, _ in drawn] == [[0.5, 1.5], [1.0], [-3.0, 1.0], [-1.0], [0.2, 0.2], [0.2]]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a", "b", "c"]
    colours = [axes.lines[i].get_color() for i in (0, 2)]
    assert colours[0] != colours[1], "an interval without zero is told apart"


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a & b"])
def test_whatever_a_name_holds_stays_text(text):
    page = comparison_page(
        text,
        about=text,
        banner=text,
        verdicts=[text],
        picture=(text, lambda axes: axes.set_xlabel(text)),
        table=[["method"], [text]],
        notes=[text],
        call={"command": text, "dataset": text},
    )
    assert text not in page
    assert page.count(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")) >= 8
    assert "<script" not in page
