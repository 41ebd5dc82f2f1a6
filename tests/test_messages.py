import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from epic.messages import Groups, Routes, collect, fetch, spread

edges = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30))
)


def case(drawn):
    n, pairs = drawn
    index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
    rng = np.random.default_rng(len(pairs))
    return index, n, torch.from_numpy(rng.normal(size=(n, 3))), torch.from_numpy(rng.normal(size=(len(pairs), 3)))


@given(edges)
def test_sums_equal_those_of_single_edges(drawn):
    index, n, h, message = case(drawn)
    routes = Routes(index, n)
    near, ended = torch.zeros_like(h), torch.zeros_like(h)
    for e, (u, v) in enumerate(index.t().tolist()):
        near[v] += h[u]
        ended[v] += message[e]
    assert torch.allclose(spread(h, routes), near)
    assert torch.allclose(collect(message, routes.by_end), ended)
    assert torch.equal(fetch(h, routes.by_start), h[index[0]])
    assert torch.allclose(spread(h, routes.back), torch.zeros_like(h).index_add(0, index[0], h[index[1]]))


@pytest.mark.parametrize("count", [0, 1, 9])
def test_gradients_of_first_and_second_order(count):
    generator = torch.Generator().manual_seed(count)
    index = torch.randint(5, (2, count), generator=generator)
    routes = Routes(index, 5)
    h = torch.randn(5, 2, dtype=torch.double, generator=generator, requires_grad=True)
    message = torch.randn(count, 2, dtype=torch.double, generator=generator, requires_grad=True)
    for function, value in (
        (lambda t: spread(t * t, routes), h),
        (lambda t: fetch(t * t, routes.by_start), h),
        (lambda t: collect(t * t, routes.by_end), message),
    ):
        assert torch.autograd.gradcheck(function, (value,))
        assert torch.autograd.gradgradcheck(function, (value,))


def test_a_gradient_that_is_one_number_everywhere_has_no_memory_of_its_own():
    h = torch.ones(3, 64, requires_grad=True)
    spread(h, Routes(torch.tensor([[0, 0, 1], [1, 2, 2]]), 3)).sum().backward()
    assert h.grad[:, 0].tolist() == [2.0, 1.0, 0.0]


@pytest.mark.parametrize("count", [10, 2**16, 2**16 + 1])
def test_groups_keep_the_order_of_their_elements(count):
    index = torch.randint(count, (5000,), generator=torch.Generator().manual_seed(0))
    index[:2] = torch.tensor([count - 1, 0])
    groups = Groups(index, count)
    assert torch.equal(groups.order, torch.argsort(index, stable=True))
    assert groups.ptr[-1] == 5000
    assert Groups(index.sort().values, count).order is None
