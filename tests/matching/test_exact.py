import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from epic import InputError
from epic._kernels import backend
from epic.matching import assign, assign_batch
from tests.conftest import without_numba


def full_problem(S: np.ndarray, d: np.ndarray, i: np.ndarray) -> float:
    """The classical (n+m) x (n+m) problem, zero in the corner."""
    n, m = S.shape
    big = 1e6
    C = np.zeros((n + m, n + m))
    C[:n, :m] = S
    C[:n, m:] = np.where(np.eye(n, dtype=bool), d[:, None], big)
    C[n:, :m] = np.where(np.eye(m, dtype=bool), i[None, :], big)
    return float(C[linear_sum_assignment(C)].sum())


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 9), st.integers(0, 9), st.floats(0.01, 5), st.integers(0, 2**31))
def test_reduced_problem_has_the_same_optimum(n, m, dear, seed):
    rng = np.random.default_rng(seed)
    S, d, i = rng.random((n, m)), rng.random(n) * dear, rng.random(m) * dear
    found = assign(*(torch.from_numpy(v) for v in (S, d, i)))
    assert float(found.distance) == pytest.approx(full_problem(S, d, i), abs=1e-9)
    match = found.match.numpy()
    kept = match[match >= 0]
    assert len(set(kept.tolist())) == kept.size
    spent = S[match >= 0, kept].sum() + d[match < 0].sum() + np.delete(i, kept).sum()
    assert spent == pytest.approx(float(found.distance), abs=1e-9)


def test_a_ragged_batch_equals_single_pairs():
    rng = np.random.default_rng(0)
    sizes = [(0, 0), (0, 4), (3, 0), (1, 1), (7, 2), (2, 7), (6, 6)]
    S = torch.full((len(sizes), 7, 7), torch.nan)  # padding must never be read
    d, i = torch.full((len(sizes), 7), 99.0), torch.full((len(sizes), 7), 99.0)
    for p, (n, m) in enumerate(sizes):
        S[p, :n, :m] = torch.from_numpy(rng.random((n, m)))
        d[p, :n], i[p, :m] = torch.from_numpy(rng.random(n)), torch.from_numpy(rng.random(m))
    rows, columns = torch.tensor(sizes).T
    batch = assign_batch(S, d, i, rows=rows, columns=columns)
    for p, (n, m) in enumerate(sizes):
        one = assign(S[p, :n, :m], d[p, :n], i[p, :m])
        assert float(batch.distance[p]) == pytest.approx(float(one.distance), abs=1e-6)
        assert batch.match[p, :n].tolist() == one.match.tolist()
        assert (batch.match[p, n:] == -1).all()


def test_gradient_is_that_of_the_minimum():
    torch.manual_seed(0)
    S, d, i = (torch.rand(*s, dtype=torch.double, requires_grad=True) for s in ((4, 5), (4,), (5,)))
    assert torch.autograd.gradcheck(lambda *c: assign(*c).distance, (S, d, i))


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("bad", [torch.nan, -torch.inf, -1e305])
def test_costs_that_are_not_numbers_are_refused(bad):
    S = torch.ones(3, 2, 2, dtype=torch.double)
    S[1, 0, 1] = bad
    with pytest.raises(InputError, match="the costs of pair 1 hold NaN or infinity, or are beyond 1e"):
        assign_batch(S, torch.ones(3, 2), torch.ones(3, 2))


@pytest.mark.usefixtures("both_ways")
def test_infinity_forbids_a_substitution():
    S = torch.tensor([[torch.inf, 0.5], [torch.inf, torch.inf]])
    found = assign(S, torch.ones(2), torch.ones(2))
    assert (found.match.tolist(), float(found.distance)) == ([1, -1], 2.5)


@pytest.mark.usefixtures("both_ways")
def test_other_types_and_no_pairs():
    S = torch.tensor([[0.25, 4.0], [4.0, 0.5]])
    for kind in (torch.half, torch.float, torch.double):
        assert assign(S.to(kind), torch.ones(2, dtype=kind), torch.ones(2, dtype=kind)).match.tolist() == [0, 1]
    none = assign_batch(torch.zeros(0, 3, 2), torch.zeros(0, 3), torch.zeros(0, 2))
    assert (none.match.shape, none.distance.shape) == ((0, 3), (0,))


def test_sizes_beyond_the_costs_are_refused():
    with pytest.raises(InputError, match="between 0 and the 2 x 2"):
        assign_batch(
            torch.ones(1, 2, 2), torch.ones(1, 2), torch.ones(1, 2), rows=torch.tensor([2]), columns=torch.tensor([9])
        )


def test_without_numba_scipy_solves():
    with without_numba():
        assert not backend.enabled()
        assert assign(torch.tensor([[0.1, 5.0]]), torch.ones(1), torch.ones(2)).match.tolist() == [0]
