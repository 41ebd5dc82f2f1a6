import numpy as np
import pytest
import torch

from epic import InputError
from epic.matching import assign, sinkhorn


def costs(n, m, seed=0, dtype=torch.double, dear=1.0):
    rng = np.random.default_rng(seed)
    return tuple(torch.from_numpy(rng.random(s) * f).to(dtype) for s, f in (((n, m), 1.0), ((n,), dear), ((m,), dear)))


def log_domain(S, d, i, delta, iterations):
    """The plain iteration u = 1/(Kv + Kd), v = 1/(K'u + Ki) from v = 1, in logarithms: slow and safe."""
    S, d, i = (-c.double() / delta for c in (S, d, i))
    g = torch.zeros_like(i)
    for _ in range(iterations):
        f = -torch.logsumexp(torch.cat([S + g, d[:, None]], 1), 1)
        g = -torch.logsumexp(torch.cat([S + f[:, None], i[None]], 0), 0)
    return torch.exp(S + f[:, None] + g), torch.exp(d + f), torch.exp(i + g)


@pytest.mark.parametrize("iterations", [1, 2, 10, 11, 37])
@pytest.mark.parametrize("delta", [1e-3, 0.05, 1.0, 10.0])
@pytest.mark.parametrize("shape", [(5, 5), (1, 8), (30, 4), (1, 1)])
def test_float32_equals_the_plain_iteration_in_logarithms(shape, delta, iterations):
    S, d, i = costs(*shape, seed=1, dear=0.8)
    expected = log_domain(S, d, i, delta, iterations)
    found = sinkhorn(S.float(), d.float(), i.float(), delta=delta, iterations=iterations)
    # float32 costs move the exponent by about 1e-7 / delta.
    tolerance = 2e-5 + 1e-6 / delta
    for a, b in zip((found.plan, found.deleted, found.inserted), expected, strict=True):
        assert torch.allclose(a.double(), b, atol=tolerance)
    total = sum((c * x).sum() for c, x in zip((S, d, i), expected, strict=True))
    assert float(found.distance) == pytest.approx(float(total), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_full_matrix_with_unconstrained_dummies_is_the_same(scale):
    """Eq. (4): n + m rows and columns, of which only the first n rows and m columns have to sum to one."""
    S, d, i = (c * scale for c in costs(4, 6, seed=2))
    n, m, delta = 4, 6, 0.1 * scale
    K = torch.zeros(n + m, n + m, dtype=torch.double)
    K[:n, :m] = torch.exp(-S / delta)
    K[:n, m:] = torch.diag(torch.exp(-d / delta))
    K[n:, :m] = torch.diag(torch.exp(-i / delta))
    u, v = torch.ones(n + m, dtype=torch.double), torch.ones(n + m, dtype=torch.double)
    for _ in range(10):
        u[:n] = 1 / (K @ v)[:n]
        v[:m] = 1 / (K.T @ u)[:m]
    X = u[:, None] * K * v
    found = sinkhorn(S, d, i, delta=delta, iterations=10)
    assert torch.allclose(found.plan, X[:n, :m])
    assert torch.allclose(found.deleted, X[:n, m:].diag())
    assert torch.allclose(found.inserted, X[n:, :m].diag())


def test_columns_sum_to_one_always_and_rows_in_the_end():
    S, d, i = costs(12, 9, seed=3)
    early, late = sinkhorn(S, d, i, delta=0.05, iterations=1), sinkhorn(S, d, i, delta=0.05, iterations=3000)
    for found in (early, late):
        assert torch.allclose(found.plan.sum(0) + found.inserted, torch.ones(9, dtype=torch.double))
    assert torch.allclose(late.plan.sum(1) + late.deleted, torch.ones(12, dtype=torch.double), atol=1e-6)
    assert not torch.allclose(early.plan.sum(1) + early.deleted, torch.ones(12, dtype=torch.double), atol=1e-3)


@pytest.mark.slow
def test_tends_to_the_exact_distance():
    S, d, i = costs(8, 11, seed=4)
    exact = float(assign(S, d, i).distance)
    gaps = [
        float(sinkhorn(S, d, i, delta=delta, iterations=k).distance) - exact
        for delta, k in ((0.3, 50), (0.1, 300), (0.01, 5000), (0.001, 50_000))
    ]
    assert all(g > -1e-6 for g in gaps)
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3] - 1e-9
    assert gaps[3] < 1e-3


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (1, 3), (3, 1)])
@pytest.mark.parametrize("iterations", [1, 3, 10, 23])
def test_gradients(shape, iterations):
    inputs = [c.clone().requires_grad_() for c in costs(*shape, seed=5)]

    def everything(S, d, i):
        found = sinkhorn(S, d, i, delta=0.2, iterations=iterations)
        return found.plan, found.deleted, found.inserted, found.distance

    assert torch.autograd.gradcheck(everything, inputs)


def test_a_padded_batch_equals_single_pairs_gradients_too():
    sizes = [(0, 0), (0, 3), (4, 0), (1, 1), (2, 6), (6, 5)]
    S = torch.full((6, 6, 6), torch.nan, dtype=torch.double)
    d, i = torch.full((2, 6, 6), torch.nan, dtype=torch.double)
    for p, (n, m) in enumerate(sizes):
        S[p, :n, :m], d[p, :n], i[p, :m] = costs(n, m, seed=p)
    delta = torch.linspace(0.05, 0.5, 6, dtype=torch.double)
    S, d, i = (c.clone().requires_grad_() for c in (S, d, i))
    rows, columns = torch.tensor(sizes).T
    batch = sinkhorn(S, d, i, delta=delta, iterations=10, rows=rows, columns=columns)
    batch.distance.sum().backward()
    for p, (n, m) in enumerate(sizes):
        one = [c.clone().requires_grad_() for c in costs(n, m, seed=p)]
        found = sinkhorn(*one, delta=float(delta[p]), iterations=10)
        found.distance.backward()
        assert float(batch.distance[p].detach()) == pytest.approx(float(found.distance.detach()), abs=1e-12)
        assert torch.allclose(batch.plan[p, :n, :m], found.plan)
        assert batch.plan[p].sum() == batch.plan[p, :n, :m].sum()
        for whole, part, cut in ((S, one[0], (slice(n), slice(m))), (d, one[1], slice(n)), (i, one[2], slice(m))):
            assert torch.allclose(whole.grad[p][cut], part.grad)
            assert torch.isfinite(whole.grad[p]).all()


@pytest.mark.parametrize("delta", [1e-3, 10.0])
def test_very_uneven_sizes_stay_finite_in_float32(delta):
    S, d, i = (c.requires_grad_() for c in costs(4, 620, seed=6, dtype=torch.float32))
    found = sinkhorn(S, d, i, delta=delta, iterations=10)
    found.distance.backward()
    for value in (found.plan, found.distance, S.grad, d.grad, i.grad):
        assert torch.isfinite(value).all()
    assert (found.plan >= 0).all()
    assert (found.plan <= 1.001).all()


def test_equal_nodes_do_not_break_it():
    found = sinkhorn(torch.zeros(5, 5), torch.ones(5), torch.ones(5), delta=1e-3, iterations=10)
    assert float(found.distance) == pytest.approx(0.0, abs=1e-4)


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="delta must be positive, got 0"):
        sinkhorn(*costs(2, 2), delta=0.0)
    with pytest.raises(InputError, match="iterations must be at least 1"):
        sinkhorn(*costs(2, 2), delta=0.1, iterations=0)
