import numpy as np
import pytest
from scipy import stats

from epic.paper.tables.types import Block, Cell, Row, marked, ranked


def test_ranks_and_marks_are_those_of_scipy():
    rng = np.random.default_rng(0)
    means = rng.integers(60, 70, (6, 4)).astype(float)  # many ties
    names = tuple("abcd")
    rows = tuple(Row(str(i), tuple(Cell(v, runs=1, expected=1) for v in row)) for i, row in enumerate(means))
    block = marked(ranked(Block("", rows), names))
    expected = stats.rankdata(-means, method="min", axis=0)
    assert [r.rank for r in block.rows] == pytest.approx(expected.mean(1).tolist())
    told = {1: "best", 2: "second"}
    assert [[c.mark for c in r.cells] for r in block.rows] == [[told.get(int(k)) for k in row] for row in expected]
