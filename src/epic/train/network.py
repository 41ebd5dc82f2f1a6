"""Networks of your own, instead of our backbones: how they are named, built and checked.

The contract: a class, or a function, that is called with two numbers, the columns of ``x`` and the outputs for each
graph, and gives an ``nn.Module``. Its ``forward`` takes a PyG ``Batch``, or ``(x, edge_index, batch)`` if its
parameters have these names, and returns ``[graphs, outputs]``: logits of classes or of 0/1 tasks, or values.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from epic._checkpoint import identity
from epic.augment import find_method
from epic.augment.training import TrainingMethod
from epic.data.dataset import Dataset
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, matrix
from epic.random import Seed, seeded
from epic.train.loop import with_features

Network = Callable[[int, int], nn.Module]
"""Called with the columns of ``x`` and the number of outputs, it gives a network."""

FORWARD = ("x", "edge_index", "batch")
SAMPLE = 8
"""Graphs that a network is tried on before any run."""


class OnParts(nn.Module):
    """Calls a network that takes ``(x, edge_index, batch)`` with a ``Batch``."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, batch: Batch) -> Tensor:
        return self.network(batch.x, batch.edge_index, batch.batch)


def load_network(name: str) -> Network:
    """Import a class or function by its name.

    This is the only import by name: what the user names is the user's own. The current folder is searched, too.

    Args:
        name: ``package.module:Class``; a digest after ``@`` is left out.

    Raises:
        InputError: There is no such module, or nothing of that name in it.
    """
    place, colon, path = name.partition("@")[0].partition(":")
    if not colon or not place or not path:
        raise InputError(f"a network is named package.module:Class, got {name!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(place)
    except (Exception, SystemExit) as error:  # whatever a module of the user's does
        raise InputError(f"cannot import {place} for the network {name!r}: {_said(error)}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"{place} has no {path}: name a class or a function that builds a network")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{name} is a {type(found).__name__}: name a class or a function that builds a network")
    return found


def _said(error: BaseException) -> str:
    """Tell an error of the user's code, and in which line of it."""
    where = traceback.extract_tb(error.__traceback__)[-1:]
    line = f" ({where[0].filename}, line {where[0].lineno})" if where else ""
    return f"{type(error).__name__}: {error}{line}"


def build_network(network: Network, graphs: PackedGraphs, *, outputs: int, seed: Seed = 0) -> nn.Module:
    """Build a network that fits graphs.

    Args:
        network: A class or function.
        graphs: Graphs with features ``x``.
        outputs: Numbers to return for each graph.
        seed: Initial weights are a function of it; the global random state stays as it is.

    Returns:
        A module that takes a ``Batch``.

    Raises:
        InputError: It cannot be called so, or does not give a module.
    """
    assert graphs.x is not None
    columns, name = matrix(graphs.x).shape[1], _name(network)
    try:
        with seeded(seed):
            built = network(columns, outputs)
    except (Exception, SystemExit) as error:
        raise InputError(f"{name}({columns}, {outputs}) fails: {_said(error)}. {CONTRACT}") from error
    if not isinstance(built, nn.Module):
        raise InputError(f"{name}({columns}, {outputs}) gives a {type(built).__name__}, not a module. {CONTRACT}")
    parameters = list(built.parameters())
    if not parameters:
        raise InputError(f"{name} has no parameters: there is nothing to train")
    if any(isinstance(p, nn.UninitializedParameter) for p in parameters):
        raise InputError(f"{name} has lazy layers, whose sizes are not known before the first batch: give them")
    names = tuple(inspect.signature(built.forward).parameters)
    return OnParts(built) if names[: len(FORWARD)] == FORWARD else built


CONTRACT = (
    "A network is a class or function that is called with the number of columns of x and the number of outputs, and "
    "gives a module whose forward takes a Batch, or (x, edge_index, batch), and returns [graphs, outputs]"
)


def check_network(network: Network, dataset: Dataset, methods: Iterable[str] = ()) -> str:
    """Try a network on a few graphs, with every method that acts in the loss, before any run.

    Args:
        network: A class or function.
        dataset: The graphs.
        methods: Names of methods.

    Returns:
        What identifies it: its qualified name, and a digest of its source and of the shape of what it builds.

    Raises:
        InputError: It cannot be used with these graphs, or with one of the methods; the message says why.
    """
    every = with_features(dataset.graphs, torch.arange(len(dataset)))
    graphs = every.select(torch.arange(len(every))[:: max(1, len(every) // SAMPLE)])
    model = build_network(network, graphs, outputs=dataset.outputs)
    x, shape = graphs.x, (len(graphs), dataset.outputs)
    assert x is not None
    try:
        with torch.no_grad():
            output = model.eval()(graphs.to_batch())
    except (Exception, SystemExit) as error:  # whatever a network of the user's says
        what = f"x {list(matrix(x).shape)} of {str(x.dtype).removeprefix('torch.')}"
        what += " (categories of atoms: embed them, or begin with x.float())" * (not x.is_floating_point())
        raise InputError(f"{_name(network)} fails on {len(graphs)} graphs with {what}: {_said(error)}") from error
    if not isinstance(output, Tensor) or tuple(output.shape) != shape:
        got = list(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise InputError(f"{_name(network)} returns {got} for {shape[0]} graphs, not {list(shape)}. {CONTRACT}")
    if not (output.is_floating_point() and bool(torch.isfinite(output).all())):
        raise InputError(f"{_name(network)} returns {output.dtype} or numbers that are not finite before any training")
    known = {"task": dataset.task, "num_classes": dataset.num_classes, "seed": 0}
    for preset in map(find_method, methods):
        if issubclass(preset.cls, TrainingMethod):
            degrees = (
                {"degree_features": True} if "degree_features" in preset.params and dataset.graphs.x is None else {}
            )
            method = preset.create(**known, **degrees)
            assert isinstance(method, TrainingMethod)
            wrapped = method.fit(graphs).wrap_model(model)
            method.loss(wrapped, method.augment_batch(graphs, torch.Generator().manual_seed(0)))
    return f"{_name(network)}@{identity([_source(network), *_sources(model)])[:12]}"


def _name(network: Network) -> str:
    if not hasattr(network, "__qualname__"):
        raise InputError(f"give a class or a function that builds a network, not {network!r}")
    return f"{network.__module__}:{network.__qualname__}"


def _sources(model: nn.Module) -> list[str]:
    """Return the text of a module, and the source of each class in it that is the user's."""
    classes = {type(m) for m in model.modules() if not type(m).__module__.startswith(("torch", "epic"))}
    return [repr(model), *sorted(map(_source, classes))]


def _source(thing: Callable) -> str:
    """Return the source of a class or function; its name where there is none, as at a prompt."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        return thing.__qualname__
