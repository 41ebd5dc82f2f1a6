import pytest

from epic import LearnedCost
from epic.data import lollipop, lollipop_graph
from epic.paper.experiments.blur import frobenius


def test_identical_head_nodes_explain_the_error_on_lollipops():
    """What the figure says of lollipops: m nodes that are alike leave about sqrt(m - 1), however long one iterates."""
    cost = LearnedCost().fit(lollipop(80, seed=0), epochs=4, seed=0, progress=False)
    twins = [lollipop_graph(6, 0), lollipop_graph(6, 0)]
    error = frobenius(cost, twins, pairs=4, iterations=(1, 10, 100))
    assert error[100] == pytest.approx(error[10], abs=1e-3)
    assert error[100] > 0.95 * 5**0.5
