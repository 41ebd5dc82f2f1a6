"""Panels of lines and bars."""

import re

from matplotlib.figure import Figure

from epic.paper.panels import Line, bar_panel, line_chart, line_panel, rank_panel

EVIL = "<script>alert(1)</script>"


def test_lines_and_bars_are_where_they_belong():
    axes = Figure().add_subplot()
    lines = [Line("a", [0, 10], [1.0, 3.0], 1, [None, 0.5], True), Line("b", range(1000), range(1000), 2)]
    line_panel(axes, lines, "x", "y", bounds=(1.0, 3.0), ticks=[0, 10])
    one, many = axes.get_lines()
    assert (list(one.get_xdata()), list(one.get_ydata())) == ([0, 10], [1, 3])
    assert len(many.get_xdata()) == 60
    assert list(many.get_ydata())[::59] == [0, 999]
    assert [s.tolist() for s in axes.collections[0].get_segments()] == [[[0, 1], [0, 1]], [[10, 2.5], [10, 3.5]]]
    assert (axes.get_ylim(), list(axes.get_xticks())) == ((1, 3), [0, 10])
    assert one.get_color() != many.get_color()
    bars = Figure().add_subplot()
    bar_panel(bars, ["g", "h"], [0.8, None], [[1.0, 0.5], [0.25]])
    assert [b.get_height() for b in bars.patches] == [0.8, 0, 0.75, 0.25]
    assert [t.get_text() for t in bars.texts] == ["0.80", "0.75", "not\nprinted", "0.25"]


def test_a_chart_is_text_with_words_and_no_names_that_clash():
    svg = line_chart(EVIL, [Line(EVIL, [0, 1], [2.0, 3.0], 3)], "x <b>", "y")
    assert EVIL not in svg
    assert "x &lt;b&gt;" in svg
    assert 'aria-label="&lt;script&gt;' in svg
    assert ': 2 to 3"' in svg
    assert '<g class="line s3">' in svg
    assert "<style" not in svg
    other = line_chart("other", [Line("b", [0, 1], [2.0, 3.0], 3)], "x", "y")
    names = [set(re.findall(r' id="([^"]+)"', s)) for s in (svg, other)]
    assert not names[0] & names[1]


def test_bars_join_the_largest_groups_that_are_near():
    figure = Figure()
    axes = figure.subplots()
    rank_panel(axes, [(1.0, "a"), (2.0, "b"), (2.6, "c"), (4.5, "d")], 1.7)
    bars = [line.get_ydata() for line in axes.lines[1:]]
    assert [(round(low + 0.2), round(high - 0.2)) for low, high in bars] == [(0, 2)]  # d is 1.9 from c
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a", "b", "c", "d"]
