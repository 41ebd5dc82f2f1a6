import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import forward_ad

from epic.errors import InputError
from epic.nn.messages import Segments, SortedEdges, neighbor_sum, segment_gather, segment_sum

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
    routes = SortedEdges(index, n)
    near, ended = torch.zeros_like(h), torch.zeros_like(h)
    for e, (u, v) in enumerate(index.t().tolist()):
        near[v] += h[u]
        ended[v] += message[e]
    assert torch.allclose(neighbor_sum(h, routes), near)
    assert torch.allclose(segment_sum(message, routes.by_end), ended)
    assert torch.equal(segment_gather(h, routes.by_start), h[index[0]])
    assert torch.allclose(neighbor_sum(h, routes, back=True), torch.zeros_like(h).index_add(0, index[0], h[index[1]]))


@pytest.mark.parametrize("count", [0, 1, 9])
def test_gradients_of_first_and_second_order(count):
    generator = torch.Generator().manual_seed(count)
    index = torch.randint(5, (2, count), generator=generator)
    routes = SortedEdges(index, 5)
    h = torch.randn(5, 2, dtype=torch.double, generator=generator, requires_grad=True)
    message = torch.randn(count, 2, dtype=torch.double, generator=generator, requires_grad=True)
    for function, value in (
        (lambda t: neighbor_sum(t * t, routes), h),
        (lambda t: segment_gather(t * t, routes.by_start), h),
        (lambda t: segment_sum(t * t, routes.by_end), message),
    ):
        assert torch.autograd.gradcheck(function, (value,))
        assert torch.autograd.gradgradcheck(function, (value,))


def test_the_gradient_of_a_plain_sum_counts_edges():
    h = torch.ones(3, 64, requires_grad=True)
    neighbor_sum(h, SortedEdges(torch.tensor([[0, 0, 1], [1, 2, 2]]), 3)).sum().backward()
    assert h.grad[:, 0].tolist() == [2.0, 1.0, 0.0]


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_function_transforms(order):
    routes = SortedEdges(torch.tensor([[0, 0, 1], [1, 2, 2]])[:, order], 3)
    h = torch.arange(6.0).reshape(3, 2)
    assert torch.equal(torch.func.grad(lambda t: neighbor_sum(t, routes).sum())(h)[:, 0], torch.tensor([2.0, 1.0, 0.0]))
    for function in (
        lambda t: neighbor_sum(t, routes),
        lambda t: segment_gather(t, routes.by_start),
        lambda t: segment_sum(t, routes.by_end),
    ):
        assert torch.equal(torch.func.jvp(function, (h,), (2 * h,))[1], function(2 * h))
        with torch.no_grad():  # turns off gradients backward only
            assert torch.equal(torch.func.jvp(function, (h,), (2 * h,))[1], function(2 * h))
            with forward_ad.dual_level():
                dual = function(forward_ad.make_dual(h, 2 * h))
                assert torch.equal(forward_ad.unpack_dual(dual).tangent, function(2 * h))
        with_gradient = function(h.clone().requires_grad_())
        for plainly in (torch.no_grad(), torch.inference_mode()):  # go another way
            with plainly:
                assert torch.equal(function(h), with_gradient)


def test_an_edge_to_a_node_that_is_not_there():
    with pytest.raises(InputError, match="an edge names node 5, but there are 3"):
        segment_sum(torch.ones(2, 1), Segments(torch.tensor([0, 5]), 3))


@pytest.mark.parametrize("count", [10, 2**16, 2**16 + 1])
def test_groups_keep_the_order_of_their_elements(count):
    index = torch.randint(count, (5000,), generator=torch.Generator().manual_seed(0))
    index[:2] = torch.tensor([count - 1, 0])
    groups = Segments(index, count)
    assert torch.equal(groups.order, torch.argsort(index, stable=True))
    assert groups.ptr[-1] == 5000
    assert Segments(index.sort().values, count).order is None
