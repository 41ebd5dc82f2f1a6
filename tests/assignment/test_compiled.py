"""The compiled solver against scipy's: the same answer, ties included, or results would depend on what is installed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic.assignment import exact

compiled = pytest.importorskip("epic.assignment.compiled", reason="needs numba: pip install 'epic-graph[fast]'")

sizes = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8)


def laid_out(shapes, seed, values, dtype):
    """Blocks on the diagonal of a field whose other entries must not be read."""
    rows, columns = np.array(shapes).T.copy()
    rng = np.random.default_rng(seed)
    field = np.full((rows.sum(), columns.sum() + 1), np.nan, dtype=dtype)
    top, left = np.cumsum(rows) - rows, np.cumsum(columns) - columns
    for t, l, n, m in zip(top, left, rows, columns, strict=True):
        field[t : t + n, l : l + m] = rng.integers(-values, 2, (n, m)) if values else rng.normal(-0.5, 1, (n, m))
    return field, top, left, rows, columns


@given(sizes, st.integers(0, 2**31), st.sampled_from([0, 1, 3]), st.sampled_from([np.float32, np.float64]))
def test_it_gives_what_scipy_gives_to_the_last_tie(shapes, seed, values, dtype):
    blocks = laid_out(shapes, seed, values, dtype)
    ours, theirs = (np.full(blocks[3].sum(), -7) for _ in range(2))
    theirs[:] = -1
    assert compiled.solve(*blocks, ours) == exact.solve_each(*blocks, theirs) == -1
    assert ours.tolist() == theirs.tolist()


def test_larger_problems_too():
    blocks = laid_out([(60, 80), (80, 60), (70, 70)], 0, 4, np.float64)
    ours, theirs = np.full(blocks[3].sum(), -1), np.full(blocks[3].sum(), -1)
    compiled.solve(*blocks, ours)
    exact.solve_each(*blocks, theirs)
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("bad", [np.nan, -np.inf, -1e301])
def test_what_has_no_end_is_refused(bad):
    blocks = laid_out([(2, 3), (3, 2), (2, 2)], 0, 0, np.float64)
    blocks[0][4, 4] = bad
    assert compiled.solve(*blocks, np.full(7, -1)) == 1


def test_the_largest_numbers_that_are_taken_do_not_overflow():
    blocks = laid_out([(6, 7), (7, 6)], 0, 0, np.float64)
    blocks[0][:] *= 3e299
    ours, theirs = np.full(13, -1), np.full(13, -1)
    assert compiled.solve(*blocks, ours) == exact.solve_each(*blocks, theirs) == -1
    assert ours.tolist() == theirs.tolist()


def test_it_is_used_where_it_is_there():
    assert exact.compiled("solve") is compiled.solve


def test_without_a_folder_to_keep_it_in_it_is_compiled_anew(monkeypatch):
    tried = []

    def njit(signatures, cache=False, **options):
        tried.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(compiled, "njit", njit)
    assert compiled.fast("void()")(len) is len
    assert tried == [True, False]
