"""GIN layers where nothing is learned: compiled but for the products, in a few buffers, to the same last bit.

Of a small batch torch's many short calls, and the memory that each asks for anew, take longer than what they do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

from epic.fast import compiled, constant, integers
from epic.layers import Layer
from epic.messages import Routes, spread


class _Part(NamedTuple):
    """What a layer computes with: weights turned for ``addmm``, and what the compiled loops read as plain memory."""

    eps: np.ndarray
    products: tuple[tuple[Tensor, Tensor], ...]
    moments: tuple[tuple[np.ndarray, ...], ...]


_UPDATE = (nn.Linear, nn.BatchNorm1d, nn.ReLU, nn.Linear)
_KEPT: WeakKeyDictionary[nn.Module, tuple[list[Any], list[_Part]]] = WeakKeyDictionary()


def gin_vectors(layers: nn.ModuleList, h: Tensor, routes: Routes, edge_attr: Tensor | None) -> Tensor | None:
    """What each :class:`epic.layers.Layer`, with a ReLU behind it, makes of node vectors, one layer after the other,
    side by side ``[nodes, layers * width]``; None where that cannot be had so.
    """
    sums, messages, normalise = (compiled("compiled", name) for name in ("gin_sums", "gin_messages", "normalise"))
    if sums is None or messages is None or normalise is None or not constant(h) or _asked_for_more():
        return None
    modules = [_modules(layer) for layer in layers]
    if not all(modules) or not modules or not _rounds_alike(sums, normalise, h.dtype):
        return None
    plain, by_end = edge_attr is None or modules[0][0].edges is None, routes.by_end
    ends = integers(*((routes.inward,) if plain else (routes.start, by_end.places)), by_end.ptr)
    parts = _parts(layers, modules, h)
    if parts is None or ends is None:
        return None
    edges = [] if plain else [layer.edges(edge_attr, "edge_attr") for layer, *_ in modules]
    if not all(map(constant, edges)):
        return None
    count, width = h.shape
    result, total = h.new_empty(count, len(parts) * width), h.new_empty(count, width)
    hidden = torch.empty_like(total)
    source, column, into, rows, inside = h.numpy(), 0, result.numpy(), total.numpy(), hidden.numpy()
    for index, (part, (_, _, norm, _, last)) in enumerate(zip(parts, modules, strict=True)):
        if plain:
            sums(source, column, part.eps.item(), *ends, rows)
        else:
            messages(source, column, part.eps.item(), edges[index].numpy(), *ends, rows)
        (first, second), (inner, outer) = part.products, part.moments
        torch.addmm(first[1], total, first[0], out=hidden)
        normalise(inside, *inner, norm.eps, rows, 0)
        torch.addmm(second[1], total, second[0], out=hidden)
        source, column = into, index * width
        normalise(inside, *outer, last.eps, into, column)
    return result


def _asked_for_more() -> bool:
    """Whether derivatives are wanted, or another precision than that of the numbers."""
    return torch.is_grad_enabled() or forward_ad._current_level >= 0 or torch.is_autocast_enabled("cpu")


def _modules(layer: Any) -> tuple[Any, ...]:
    """The layer, and what it is made of but its ReLU; nothing where one is not what it was made as, learns, or has
    someone hooked on to it.
    """
    if type(layer) is not Layer or layer.backbone != "gin":
        return ()
    parts, last = tuple(layer._modules["update"]._modules.values()), layer._modules["norm"]  # type: ignore[union-attr]
    if tuple(map(type, parts)) != _UPDATE or type(last) is not nn.BatchNorm1d:
        return ()
    found = (layer, parts[0], parts[1], parts[3], last)
    return () if any(m.training or m._forward_hooks or m._forward_pre_hooks for m in found) else found


def _parts(layers: nn.ModuleList, modules: list[tuple[Any, ...]], h: Tensor) -> list[_Part] | None:
    """What the layers compute with; kept while torch leaves it where it is, for to ask anew takes as long as to use."""
    tensors: list[Any] = []
    for layer, first, norm, second, last in modules:
        tensors.append(layer._parameters["eps"])
        for module in (first, second, norm, last):
            own = module._parameters
            tensors += (own.get("weight"), own.get("bias"))
        for module in (norm, last):
            seen = module._buffers
            tensors += (seen.get("running_mean"), seen.get("running_var"))
    try:
        # What is kept is not freed: nothing else comes to its place.
        places = [(t.data_ptr(), t.stride()) for t in tensors]
        known = _KEPT.get(layers)
        if known is not None and known[0] == places:
            return known[1]
        if {t.dtype for t in tensors} != {h.dtype} or {first.out_features for _, first, *_ in modules} != {h.shape[1]}:
            return None
        parts, each = [], len(tensors) // len(modules)
        for at in range(0, len(tensors), each):
            eps, w1, b1, w2, b2, *rest = (t.detach() for t in tensors[at : at + each])
            if not all(t.is_contiguous() for t in rest):
                return None
            weight, bias, weight_2, bias_2, mean, variance, mean_2, variance_2 = (t.numpy() for t in rest)
            moments = (weight, bias, mean, variance), (weight_2, bias_2, mean_2, variance_2)
            parts.append(_Part(eps.numpy(), ((w1.t(), b1), (w2.t(), b2)), moments))
    except (AttributeError, RuntimeError, TypeError):  # one is missing, in a function transform, or elsewhere
        return None
    _KEPT[layers] = places, parts
    return parts


@cache
def _rounds_alike(sums: Callable[..., None], normalise: Callable[..., None], precision: torch.dtype) -> bool:
    """Whether torch rounds here as the compiled loops do, tried on some numbers: how it does is not promised, and
    results must not depend on whether numba is there.
    """
    rng, width, eps = np.random.default_rng(0), 37, 1e-5  # what a processor takes in one go, and a rest
    x, rest = (torch.from_numpy(rng.standard_normal((n, width))).to(precision) for n in (61, 4))
    weight, bias, mean, variance = rest[0], rest[1], rest[2], rest[3].square()
    out, total = torch.empty_like(x), torch.empty_like(x)
    normalise(x.numpy(), *(t.numpy() for t in (weight, bias, mean, variance)), eps, out.numpy(), 0)
    routes = Routes(torch.from_numpy(rng.integers(0, len(x), (2, 300))), len(x))
    sums(x.numpy(), 0, 0.1, routes.inward.numpy(), routes.by_end.ptr.numpy(), total.numpy())
    own = 1 + torch.tensor(0.1, dtype=precision)
    alike = torch.batch_norm(x, weight, bias, mean, variance, False, 0.0, eps, False).relu_()
    return torch.equal(out, alike) and torch.equal(total, own * x + spread(x, routes))
