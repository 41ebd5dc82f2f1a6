"""GIN layers where nothing is learned: compiled but for the products, in a few buffers, to the same last bit.

Of a small batch torch's many short calls, and the memory that each asks for anew, take longer than what they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from epic.fast import compiled, constant, integers
from epic.messages import Routes


class _Part(NamedTuple):
    """What a layer computes with: weights turned for ``addmm``, and what the compiled loops read as plain memory."""

    eps: np.ndarray
    products: tuple[tuple[Tensor, Tensor], ...]
    moments: tuple[tuple[np.ndarray, ...], ...]


_KEPT: WeakKeyDictionary[nn.Module, tuple[tuple[int, ...], list[_Part]]] = WeakKeyDictionary()


def gin_vectors(layers: nn.ModuleList, h: Tensor, routes: Routes, edge_attr: Tensor | None) -> Tensor | None:
    """What each :class:`epic.layers.Layer`, with a ReLU behind it, makes of node vectors, one layer after the other,
    side by side ``[nodes, layers * width]``; None where that cannot be had so.
    """
    sums, messages, normalise = (compiled("compiled", name) for name in ("gin_sums", "gin_messages", "normalise"))
    if sums is None or messages is None or normalise is None or torch.is_grad_enabled() or not constant(h):
        return None
    if not _rounds_alike(normalise, h.dtype):
        return None
    modules = [_modules(layer) for layer in layers]
    if not modules or any(_watched(m) for m in modules):
        return None
    parts, by_end = _parts(layers, modules, h), routes.by_end
    plain = edge_attr is None or modules[0][0].edges is None
    ends = integers(*((routes.inward,) if plain else (routes.start, by_end.places)), by_end.ptr)
    if parts is None or ends is None:
        return None
    count, width = h.shape
    result, total = h.new_empty(count, len(parts) * width), h.new_empty(count, width)
    hidden = torch.empty_like(total)
    source, column, into, rows, inside = h.numpy(), 0, result.numpy(), total.numpy(), hidden.numpy()
    for index, (part, (layer, _, norm, _, last)) in enumerate(zip(parts, modules, strict=True)):
        if plain:
            sums(source, column, part.eps.item(), *ends, rows)
        else:
            messages(source, column, part.eps.item(), layer.edges(edge_attr, "edge_attr").numpy(), *ends, rows)
        (first, second), (inner, outer) = part.products, part.moments
        torch.addmm(first[1], total, first[0], out=hidden)
        normalise(inside, *inner, norm.eps, rows, 0)
        torch.addmm(second[1], total, second[0], out=hidden)
        source, column = into, index * width
        normalise(inside, *outer, last.eps, into, column)
    return result


@cache
def _rounds_alike(normalise: Callable[..., None], precision: torch.dtype) -> bool:
    """Whether torch rounds here as ``normalise`` does, tried on some numbers: how it does is not promised, and results
    must not depend on whether numba is there.
    """
    rng, width = np.random.default_rng(0), 37  # what a processor takes in one go, and a rest
    x, rest = (torch.from_numpy(rng.standard_normal((n, width))).to(precision) for n in (61, 4))
    weight, bias, mean, variance = rest[0], rest[1], rest[2], rest[3].square()
    out, eps = torch.empty_like(x), 1e-5
    normalise(x.numpy(), *(t.numpy() for t in (weight, bias, mean, variance)), eps, out.numpy(), 0)
    return torch.equal(out, torch.batch_norm(x, weight, bias, mean, variance, False, 0.0, eps, False).relu_())


def _modules(layer: Any) -> tuple[Any, ...]:
    """The layer, and what it is made of but its ReLU; shorter where it is no GIN."""
    if layer.backbone != "gin":
        return ()
    first, norm, _, second = layer._modules["update"]._modules.values()
    return layer, first, norm, second, layer._modules["norm"]


def _watched(modules: Iterable[Any]) -> bool:
    """Whether one learns, or someone hooked on to it; also where there is none."""
    return not modules or any(m.training or m._forward_hooks or m._forward_pre_hooks for m in modules)


def _parts(layers: nn.ModuleList, modules: list[tuple[Any, ...]], h: Tensor) -> list[_Part] | None:
    """What the layers compute with; kept while torch leaves it where it is, for to ask anew takes as long as to use."""
    tensors: list[Any] = []
    for layer, first, norm, second, last in modules:
        tensors.append(layer._parameters["eps"])
        for linear in (first, second):
            tensors += linear._parameters.values()
        for both in (norm, last):
            tensors += both._parameters.values()
            tensors += (both._buffers["running_mean"], both._buffers["running_var"])
    try:
        places = tuple([t.data_ptr() for t in tensors])
        known = _KEPT.get(layers)
        if known is not None and known[0] == places:  # what is kept is not freed: nothing else comes to its place
            return known[1]
        if any(t.dtype != h.dtype for t in tensors) or any(
            first.out_features != h.shape[1] for _, first, *_ in modules
        ):
            return None
        parts, each = [], len(tensors) // len(modules)
        for at in range(0, len(tensors), each):
            eps, w1, b1, w2, b2, *moments = (t.detach() for t in tensors[at : at + each])
            plain = [t.numpy() for t in moments]
            parts.append(_Part(eps.numpy(), ((w1.t(), b1), (w2.t(), b2)), (tuple(plain[:4]), tuple(plain[4:]))))
    except (AttributeError, RuntimeError, TypeError):  # one is missing, in a function transform, or elsewhere
        return None
    _KEPT[layers] = places, parts
    return parts
