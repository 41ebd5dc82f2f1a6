"""The compiled solver against scipy's: the same answer, ties included, or results would depend on what is installed."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from epic import InputError
from epic.costs import FeatureCost, LearnedCost, base
from epic.graphs.ragged import offsets
from epic.matching import exact
from epic.matching.euclidean import EuclideanReducedCosts, _mean
from epic.matching.types import NodeCosts
from tests.conftest import without_numba

compiled = pytest.importorskip("epic._kernels.assignment", reason="needs numba: pip install 'epic-graph[fast]'")

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


def some_costs(seed, counts, width, precision):
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape):
        return torch.randn(*shape, generator=generator, dtype=precision)

    total = int(sum(counts))
    ptr = torch.from_numpy(offsets(np.array(counts, dtype=np.int64)))
    return NodeCosts(drawn(total, width), drawn(total).abs() + 2, drawn(total).abs() + 2, ptr)


@given(
    sizes,
    st.integers(0, 2**31),
    st.integers(1, 40),
    st.booleans(),
    st.sampled_from([torch.float, torch.double]),
)
def test_matches_and_prices_are_those_without_numba(shapes, seed, width, same, precision):
    a = some_costs(seed, [n for n, _ in shapes], width, precision)
    b = a if same else some_costs(seed + 1, [m for _, m in shapes], width, precision)
    i = torch.arange(len(shapes))
    j = torch.randperm(len(shapes), generator=torch.Generator().manual_seed(seed))
    cost = FeatureCost()
    if not same and a.embedding.numel() and b.embedding.numel():
        b.embedding[0] = a.embedding[-1]
    ours = cost.match(a, b, i, j)
    prices = cost.price(a, b, ours)
    with without_numba():
        theirs = cost.match(a, b, i, j)
        others = cost.price(a, b, theirs)
    for name in ("source", "target", "source_ptr", "target_ptr", "partner", "origin"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist(), name
    assert torch.equal(prices.source, others.source)
    assert torch.equal(prices.target, others.target)
    kept = np.flatnonzero(ours.partner >= 0)
    at = ours.source[kept], ours.target[ours.partner[kept]]
    assert prices.source.numpy()[kept] == pytest.approx(
        np.linalg.norm(a.embedding.numpy()[at[0]] - b.embedding.numpy()[at[1]], axis=1), rel=1e-4, abs=1e-4
    )


@pytest.mark.parametrize("kind", [FeatureCost, LearnedCost])
def test_a_cost_of_ones_own_sets_its_own_prices(kind):
    class Own(kind):
        def swaps(self, a, b, u, v):
            return torch.full(u.shape, 7.0)

    nodes = some_costs(0, [4, 3], 5, torch.float)
    matches = Own().match(nodes, nodes, torch.tensor([0]), torch.tensor([1]))
    patched = kind()
    patched.swaps = Own().swaps
    for cost in (Own(), patched):
        prices = cost.price(nodes, nodes, matches)
        assert set(prices.source.numpy()[matches.partner >= 0]) == {7.0}


def test_prices_that_are_learned_have_gradients():
    a = some_costs(0, [4, 3], 5, torch.float)
    h = a.embedding.requires_grad_()
    matches = FeatureCost().match(a, a, torch.tensor([0]), torch.tensor([1]))
    assert (matches.partner >= 0).any()
    FeatureCost().price(a, a, matches).distance.sum().backward()
    assert h.grad is not None
    assert h.grad[0].norm() == pytest.approx(float(matches.partner[0] >= 0), abs=1e-5)


@pytest.mark.parametrize("precision", [torch.float, torch.double])
def test_pairs_of_every_size(precision):
    """Single nodes and large graphs are multiplied by another library than the rest."""
    counts = [1, 2, 0, 7, 90, 64, 1, 33]
    nodes = some_costs(0, counts, 96, precision)
    nodes = NodeCosts(nodes.embedding, nodes.deletion + 5, nodes.insertion + 5, nodes.ptr)
    pairs = np.array([(s, t) for s in range(len(counts)) for t in range(len(counts))])
    where = [np.ascontiguousarray(a[pairs[:, k]]) for k in (0, 1) for a in (nodes.ptr.numpy(), np.array(counts))]
    u, n, v, m = where
    assert (n * m * 98).max() > 2**19
    ours = EuclideanReducedCosts(nodes, nodes).matched(*where)
    with without_numba():
        theirs = EuclideanReducedCosts(nodes, nodes).matched(*where)
    assert ours.tolist() == theirs.tolist()
    h = nodes.embedding.double()
    gain = (torch.cdist(h, h) - nodes.deletion[:, None] - nodes.insertion).numpy()
    for p, start in enumerate(offsets(n)[:-1]):
        block = np.minimum(gain[u[p] : u[p] + n[p], v[p] : v[p] + m[p]], 0)
        partner = ours[start : start + n[p]]
        kept = np.flatnonzero(partner >= 0)
        assert len(set(partner[kept])) == len(kept)
        assert block[kept, partner[kept]].sum() == pytest.approx(block[linear_sum_assignment(block)].sum(), rel=1e-3)


def test_the_pair_that_cannot_be_solved_is_named():
    nodes = some_costs(0, [3, 4, 90], 96, torch.double)
    nodes.deletion[1] = torch.nan
    gains = EuclideanReducedCosts.__new__(EuclideanReducedCosts)
    gains.left = gains.right = np.zeros((97, 98))
    gains.lost, gains.won = nodes.deletion.numpy(), nodes.insertion.numpy()
    one_node_first = (1, [3, 1, 0], [4, 1, 3])
    for bad, u, n in ((1, [3, 0, 3], [4, 3, 4]), (2, [3, 7, 0], [4, 90, 97]), one_node_first):
        with pytest.raises(InputError, match=f"pair {10 + bad} "):
            gains.matched(*(np.array(a) for a in (u, n, u, n)), 10)


@given(st.integers(1, 300), st.integers(1, 70), st.sampled_from([np.float32, np.float64]))
def test_means(count, width, precision):
    vectors = (np.random.default_rng(count).standard_normal((count, width)) * 100).astype(precision)
    with without_numba():
        expected = _mean(vectors)
    assert np.array_equal(_mean(vectors), expected)
    assert expected == pytest.approx(vectors.astype(np.float64).mean(0), rel=1e-3, abs=1e-3)
