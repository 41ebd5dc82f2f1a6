"""What figures show is what their JSON says, and that is what slow and plain computation gives."""

import json

import numpy as np
import pytest
import torch
from matplotlib.image import imread
from scipy.optimize import linear_sum_assignment

from epic import InputError, LearnedCost, edit_path
from epic.compare.store import Store
from epic.data import lollipop, lollipop_graph
from epic.distance.pairs import embed_all
from epic.graphs.convert import pack
from epic.paper.experiments.blur import frobenius
from epic.paper.experiments.lollipop import PRINTED, Pattern, pattern
from epic.paper.figure_data import FigureData
from epic.paper.figures import FIGURES, draw, draw_blur, draw_correspondence, draw_costs, draw_curves, draw_path


@pytest.fixture(scope="module")
def cost():
    return LearnedCost().fit(lollipop(80, seed=0), epochs=4, seed=0, progress=False)


def saved(drawn, folder, name):
    """The JSON beside a picture that is there and not blank."""
    picture, numbers = drawn.save(folder, name)
    pixels = imread(picture)[..., :3]
    dark = float((pixels.min(2) < 0.8).mean())
    assert 0.004 < dark < 0.7, dark
    found = json.loads(numbers.read_text())
    assert (found["figure"], found["source"]) == (name, drawn.source)
    return found


def slow_distance(cost, one, other):
    """Edit distance on the whole (n + m) square."""
    nodes = embed_all(cost, pack([one, other]))
    n, m = one.num_nodes, other.num_nodes
    square = np.zeros((n + m, n + m))
    square[:n, :m] = torch.cdist(nodes.embedding[:n].double(), nodes.embedding[n:].double()).numpy()
    square[:n, m:] = square[n:, :m] = 1e9
    square[range(n), range(m, m + n)] = nodes.deletion[:n].numpy()
    square[range(n, n + m), range(m)] = nodes.insertion[n:].numpy()
    return square[linear_sum_assignment(square)].sum()


def test_edit_path(cost, tmp_path):
    ends = lollipop_graph(4, 3, 0), lollipop_graph(6, 2, 2)
    drawn = draw_path(edit_path(*ends, cost, seed=0, num_classes=4), "here", steps=5)
    found = saved(drawn, tmp_path, "edit_path")
    assert found["distance"] == pytest.approx(slow_distance(cost, *ends), rel=1e-4)
    prices = [op["cost"] for op in found["operations"]]
    assert [s["step"] for s in found["steps"]][::4] == [0, len(prices)]
    bars = [axes for axes in drawn.figure.axes if axes.get_ylim() == (0, 1.35)]
    assert len(bars) == len(found["steps"]) == 5
    for step, axes in zip(found["steps"], bars, strict=True):
        share = sum(prices[: step["step"]]) / sum(prices)
        assert step["share"] == pytest.approx(share)
        assert step["label"] == pytest.approx([1 - share, 0, share, 0], abs=1e-6)
        assert [bar.get_height() for bar in axes.patches] == pytest.approx(step["label"])
    assert [(s["nodes"], s["edges"]) for s in found["steps"]][::4] == [(7, 6 + 3), (8, 15 + 2)]


def test_correspondence(cost, tmp_path):
    ends = lollipop_graph(5, 2, 1), lollipop_graph(5, 6, 1)
    drawn = draw_correspondence(edit_path(*ends, cost, seed=0, num_classes=4), "here")
    found = saved(drawn, tmp_path, "correspondence")
    pairs = found["substituted"]
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    assert found["distance"] == pytest.approx(slow_distance(cost, *ends), rel=1e-4)
    assert sum(found["kinds"].values()) == len(pairs)
    assert found["kinds"]["head-tail"] == sum(a < 5 <= b for a, b in pairs)
    assert found["kinds"]["head-head"] == sum(a < 5 and b < 5 for a, b in pairs)
    lines, source, *points, target, last = drawn.figure.axes[-1].collections
    places = [np.asarray(p.get_offsets()) for p in (*points, last)]
    for (a, b), (start, end) in zip(pairs, lines.get_segments(), strict=True):
        assert np.allclose(start, places[0][a])
        assert np.allclose(end, places[1][b])
    assert (len(source.get_segments()), len(target.get_segments())) == (10 + 2, 10 + 6)


def test_lollipop_costs(cost, tmp_path):
    graphs = lollipop(8, seed=1)
    found = saved(draw_costs([pattern(cost, graphs)], "here"), tmp_path, "lollipop_costs")
    sums: dict = {}
    where = [embed_all(cost, pack([g])).embedding.double() for g in graphs]
    for a, one in enumerate(graphs):
        for b, other in enumerate(graphs):
            if a == b:
                continue
            sign = "positive" if int(one.y) == int(other.y) else "negative"
            for u in range(one.num_nodes):
                for v in range(other.num_nodes):
                    part = {2: "head", 1: "mixed", 0: "tail"}[int(one.head[u]) + int(other.head[v])]
                    sums.setdefault(f"{sign}_{part}", []).append(float((where[a][u] - where[b][v]).norm()))
    means = {name: np.mean(values) for name, values in sums.items()}
    top = max(means.values())
    assert found["mean"] == pytest.approx({name: m / top for name, m in means.items()}, abs=1e-3)
    assert found["paper"] == {
        "negative_head": 0.97,
        "negative_mixed": None,
        "negative_tail": 0.04,
        "positive_head": 0.07,
        "positive_mixed": 0.8,
        "positive_tail": 0.2,
    }


def test_bars_are_means_over_seeds_beside_the_printed_values(tmp_path):
    two = [Pattern(1.0, 0.8, 0.2, 0.1, 0.7, 0.1), Pattern(1.0, 0.6, 0.4, 0.1, 0.9, 0.3)]
    drawn = draw_costs(two, "here")
    found = saved(drawn, tmp_path, "lollipop_costs")
    assert found["seeds"]["negative_mixed"] == [0.8, 0.6]
    for axes, sign in zip(drawn.figure.axes, ("negative", "positive"), strict=True):
        heights = [bar.get_height() for bar in axes.patches]
        parts = [f"{sign}_{part}" for part in ("head", "mixed", "tail")]
        assert heights[:3] == [getattr(PRINTED, p) or 0 for p in parts]
        assert heights[3:] == pytest.approx([np.mean([getattr(p, part) for p in two]) for part in parts])
    assert any(t.get_text() == "not\nprinted" for t in drawn.figure.axes[0].texts)
    with pytest.raises(InputError, match="no measured costs"):
        draw_costs([], "here")


def test_curves(tmp_path):
    runs = {"training": [0.9, 0.4, 0.2], "validation": [1.4, 0.5, 0.3]}
    other = {"training": [0.8, 0.3], "validation": [0.7, 0.6]}
    drawn = draw_curves({"NCI1": {"sinkhorn": [runs], "hungarian": [other]}}, "here")
    assert saved(drawn, tmp_path, "curves")["losses"]["NCI1"]["hungarian"] == [other]
    for axes, what in zip(drawn.figure.axes, ("training", "validation"), strict=True):
        first, second = axes.get_lines()
        assert (list(first.get_xdata()), list(first.get_ydata())) == ([0, 1, 2], runs[what])
        assert (list(second.get_xdata()), list(second.get_ydata())) == ([0, 1], other[what])
        assert axes.get_ylim()[0] == 0
        assert axes.get_ylim()[1] > 1.4  # nothing is cut off


def test_blur(cost, tmp_path):
    errors = frobenius(cost, lollipop(12, seed=1), pairs=20, iterations=(1, 2, 5))
    drawn = draw_blur({"lollipop": errors, "BZR": {5: 1.0, 1: 2.0}}, "here")
    found = saved(drawn, tmp_path, "blur")["frobenius"]
    assert found["lollipop"] == {str(k): v for k, v in errors.items()}
    one, two = drawn.figure.axes[0].get_lines()
    assert list(one.get_ydata()) == [errors[k] for k in (1, 2, 5)]
    assert (list(two.get_xdata()), list(two.get_ydata())) == ([1, 5], [2.0, 1.0])
    assert drawn.figure.axes[0].get_ylim()[1] > max(errors.values())


@pytest.mark.parametrize("name", list(FIGURES))
def test_all_are_drawn_without_any_runs(name, tmp_path, cost):
    numbers = FigureData(Store(tmp_path / "none.jsonl"), graphs=80, unseen=24, epochs=1, pairs=10, progress=False)
    numbers.cost = cost
    assert "learned now" in saved(draw(name, numbers), tmp_path, name)["source"]


def test_an_unknown_figure_is_refused(tmp_path):
    with pytest.raises(InputError, match="did you mean 'curves'"):
        draw("curvse", FigureData(Store(tmp_path / "none.jsonl")))
