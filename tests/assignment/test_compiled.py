"""The compiled solver against scipy's: the same answer, ties included, or results would depend on what is installed."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from epic.assignment import exact
from epic.cost import base
from epic.cost.euclidean import one_to_one, swaps
from epic.ragged import offsets

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


@given(sizes, st.integers(0, 2**31))
def test_links_are_those_of_whole_arrays(shapes, seed):
    rng = np.random.default_rng(seed)
    rows, columns = np.array(shapes).T
    first = [rng.integers(0, 50, len(shapes)) for _ in range(2)]
    partner = np.full(rows.sum(), -1)
    for start, n, m in zip(offsets(rows), rows, columns, strict=False):
        few = rng.integers(0, min(n, m) + 1)
        partner[start + rng.permutation(n)[:few]] = rng.permutation(m)[:few]
    given = [partner.copy(), partner.copy()]
    filled = [[np.full(size.sum(), -7) for size in (rows, columns, columns)] for _ in range(2)]
    for way, one, rest in zip((compiled.link, base._link), given, filled, strict=True):
        way(one, offsets(rows), offsets(columns), *first, *rest)
    for one, other in zip([given[0], *filled[0]], [given[1], *filled[1]], strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("precision", [torch.float, torch.double])
def test_prices_of_swaps_are_those_of_gathered_vectors(precision):
    generator = torch.Generator().manual_seed(0)
    h, k = (torch.randn(n, 37, generator=generator, dtype=precision) for n in (9, 7))
    k[2] = h[3]
    u, v = torch.tensor([0, 3, 8, 3]), torch.tensor([6, 2, 2, 0])
    nothing = torch.zeros(0)
    a, b = (base.NodeCosts(t, nothing, nothing, nothing) for t in (h, k))
    found = swaps(a, b, u, v)
    assert torch.equal(found, one_to_one(h[u], k[v]))
    assert found[1] == 0
    h.requires_grad_()
    swaps(a, b, u, v).sum().backward()
    assert h.grad is not None
    assert h.grad[0].norm() == pytest.approx(1, abs=1e-5)
