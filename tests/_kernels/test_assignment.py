"""The compiled solver against scipy's: the same answer, ties included, or results would depend on what is installed."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from epic import InputError
from epic._kernels import backend
from epic.costs import FeatureCost
from epic.distance.pairs import Pairs, assign_pairs, node_edits, operation_costs
from epic.graphs.ragged import offsets
from epic.matching import exact
from epic.matching.reduced import EuclideanReducedCosts
from epic.matching.types import NodeCosts
from tests.conftest import without_numba

if not backend.enabled():
    pytest.skip("needs numba: pip install 'epic-graph[fast]'", allow_module_level=True)

from epic._kernels import assignment as compiled

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
    pairs = Pairs(cost, source=a, target=b, i=i, j=j)
    ours, prices = node_edits(pairs)
    with without_numba():
        theirs, others = node_edits(pairs)
    for name in ("source", "target", "source_ptr", "target_ptr", "partner", "origin"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist(), name
    assert torch.equal(prices.source, others.source)
    assert torch.equal(prices.target, others.target)
    kept = np.flatnonzero(ours.partner >= 0)
    at = ours.source[kept], ours.target[ours.partner[kept]]
    assert prices.source.numpy()[kept] == pytest.approx(
        np.linalg.norm(a.embedding.numpy()[at[0]] - b.embedding.numpy()[at[1]], axis=1), rel=1e-4, abs=1e-4
    )


def test_prices_that_are_learned_have_gradients():
    a = some_costs(0, [4, 3], 5, torch.float)
    h = a.embedding.requires_grad_()
    pairs = Pairs(FeatureCost(), source=a, target=a, i=torch.tensor([0]), j=torch.tensor([1]))
    matches = assign_pairs(pairs)
    assert (matches.partner >= 0).any()
    operation_costs(pairs, matches).distance.sum().backward()
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
    where = {"u": u, "n": n, "v": v, "m": m}
    assert (n * m * 98).max() > 2**19
    ours = EuclideanReducedCosts(nodes, nodes).assign(**where)
    with without_numba():
        theirs = EuclideanReducedCosts(nodes, nodes).assign(**where)
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
    reduced = EuclideanReducedCosts.__new__(EuclideanReducedCosts)
    reduced.source = reduced.target = np.zeros((97, 96))
    reduced.source_square = reduced.target_square = np.zeros(97)
    reduced.deletion, reduced.insertion = nodes.deletion.numpy(), nodes.insertion.numpy()
    one_node_first = (1, [3, 1, 0], [4, 1, 3])
    for bad, u, n in ((1, [3, 0, 3], [4, 3, 4]), (2, [3, 7, 0], [4, 90, 97]), one_node_first):
        with pytest.raises(InputError, match=f"pair {10 + bad} "):
            reduced.assign(u=np.array(u), n=np.array(n), v=np.array(u), m=np.array(n), first=10)
