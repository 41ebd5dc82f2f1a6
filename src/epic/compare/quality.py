"""Measure augmented graphs themselves, whatever a classifier makes of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from epic.augment.base import Augmentation
from epic.augment.pool import PooledMixup
from epic.costs.base import Cost
from epic.distance.pairs import Pairs, embed_all, node_distances
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, join
from epic.random import Seed, base_seed, derived

if TYPE_CHECKING:
    from epic.data.chemistry import Chemistry

BATCH = 128
WARM_UP = 16
"""Graphs to make before the clock starts."""
ROUNDING = 1e-4
"""Learned distances of equal graphs are this share of the mean distance at most: embeddings are summed in float32."""


@dataclass(frozen=True)
class Quality:
    """What :func:`quality` measures; None where it is not defined.

    Attributes:
        interpolation: Mean error for each distance asked for, over the ``mixed`` graphs.
        mixed: Number of graphs whose label is a mix of two originals that lie apart.
        disconnected: Share of graphs in several pieces, among those whose originals are in one piece (among all, where
            the originals are not known).
        isolated: Share of nodes without an edge to another node.
        valid: Share of graphs that are molecules RDKit can sanitise.
        milliseconds: Time to make one graph; not known where a pool of them was made before.
    """

    graphs: int
    interpolation: dict[str, float | None]
    mixed: int | None = None
    disconnected: float | None = None
    isolated: float | None = None
    valid: float | None = None
    milliseconds: float | None = None


@dataclass(frozen=True)
class Sample:
    """Graphs made from originals. ``origin`` is the share of each original in each label, None where not known."""

    originals: PackedGraphs
    made: PackedGraphs
    origin: Tensor | None
    milliseconds: float | None


@torch.no_grad()
def sample(method: Augmentation, graphs: PackedGraphs, *, count: int = 500, seed: Seed = 0) -> Sample | None:
    """Make one graph for each of ``count`` randomly chosen originals, in batches as in training.

    Returns:
        The graphs; None if the method makes none.
    """
    if not method.makes_graphs:
        raise InputError(f"{type(method).__name__} makes no graphs to look at: leave it out")
    seed = base_seed(seed)
    order = _chosen(graphs, count, seed)
    # A last batch of one graph would leave nothing to pair it with. A pool has mixtures of all graphs, not of a batch.
    pooled = isinstance(method, PooledMixup)
    parts = [order] if pooled else list(order.tensor_split(max(1, -(-order.numel() // BATCH))))
    few = graphs.select(parts[0][:WARM_UP])  # what is compiled or loaded at the first call does not count
    method.make_graphs(few, torch.arange(len(few)), derived(seed, "warm-up"))
    originals, made, origins, took = [], [], [], []
    for number, index in enumerate(parts):
        batch = graphs if pooled else graphs.select(index)
        picked = torch.arange(index.numel())
        start = time.perf_counter()
        found = method.make_graphs(batch, picked, derived(seed, "made", number))
        took.append(time.perf_counter() - start)
        if found is None:
            return None
        took[-1] *= 1e3 / len(found)
        originals.append(batch)
        made.append(found)
        origins.append(method.origin(batch, picked, derived(seed, "made", number), found))
    known = [o for o in origins if o is not None]
    whole = torch.block_diag(*known) if len(known) == len(origins) else None
    spent = method.milliseconds_ if isinstance(method, PooledMixup) else float(np.median(took))
    return Sample(join(originals), join(made), whole, spent)


def _chosen(graphs: PackedGraphs, count: int, seed: int) -> Tensor:
    return torch.randperm(len(graphs), generator=derived(seed, "originals"))[:count]


def quality(
    method: Augmentation,
    graphs: PackedGraphs,
    *,
    costs: dict[str, Cost] | None = None,
    count: int = 500,
    seed: Seed = 0,
    chemistry: Chemistry | None = None,
) -> Quality:
    """Make graphs and measure them.

    Args:
        method: A fitted augmentation.
        graphs: The originals.
        costs: Distances to measure interpolation errors by.
        count: Number of originals, chosen at random.
        seed: An int makes the result reproducible, None draws a fresh one.
        chemistry: How to read the graphs as molecules, where their features do not say.
    """
    found = sample(method, graphs, count=count, seed=seed)
    if found is None:
        return Quality(0, dict.fromkeys(costs or {}))
    pieces = components(found.made)
    fair = np.ones(pieces.size, dtype=bool)
    if found.origin is not None:
        broken = torch.from_numpy(components(found.originals) > 1)
        fair = ~((found.origin > 0) & broken).any(1).numpy()
    errors = {name: interpolation_error(found, cost) for name, cost in (costs or {}).items()}
    return Quality(
        len(found.made),
        {name: float(e.mean()) if e.numel() else None for name, e in errors.items()},
        max((e.numel() for e in errors.values()), default=None),
        float((pieces[fair] > 1).mean()) if fair.any() else None,
        isolated(found.made),
        valid(found.made, chemistry=chemistry, like=found.originals),
        found.milliseconds,
    )


def quality_of_originals(
    graphs: PackedGraphs, *, count: int = 500, seed: Seed = 0, chemistry: Chemistry | None = None
) -> Quality:
    """Measure the originals that :func:`quality` starts from, to compare with."""
    chosen = graphs.select(_chosen(graphs, count, base_seed(seed)))
    broken = float((components(chosen) > 1).mean())
    return Quality(len(chosen), {}, None, broken, isolated(chosen), valid(chosen, chemistry=chemistry, like=chosen))


@torch.no_grad()
def interpolation_error(found: Sample, cost: Cost) -> Tensor:
    """Measure how far each graph is from where its label puts it.

    The error of a graph G whose label has the share w of G2 and the rest of G1 is
    ``(|d(G1, G) - w d| + |d(G, G2) - (1 - w) d|) / d``, where their distance d is not 0.
    """
    if found.origin is None:
        return torch.zeros(0)
    (at,) = ((found.origin > 0).sum(1) == 2).nonzero(as_tuple=True)
    if at.numel() == 0:
        return torch.zeros(0)
    share, (one, two) = found.origin[at].double(), found.origin[at].topk(2, dim=1).indices.sort(1).values.T
    w = share.gather(1, two[:, None])[:, 0]
    ends, between = embed_all(cost, found.originals), embed_all(cost, found.made.only(found.originals))
    apart = node_distances(Pairs(cost, source=ends, target=ends, i=one, j=two))
    first = node_distances(Pairs(cost, source=ends, target=between, i=one, j=at))
    second = node_distances(Pairs(cost, source=between, target=ends, i=at, j=two))
    error = (first - w * apart).abs() + (second - (1 - w) * apart).abs()
    return (error / apart)[apart > ROUNDING * apart.mean()]


def components(graphs: PackedGraphs) -> np.ndarray:
    """Count the pieces of each graph, edges taken both ways."""
    nodes, (a, b) = graphs.num_nodes, graphs.edge_index.cpu().numpy()
    _, piece = connected_components(coo_array((np.ones(a.size, np.int8), (a, b)), shape=(nodes, nodes)), directed=False)
    first = np.unique(piece, return_index=True)[1]
    return np.bincount(graphs.graph_of_node.cpu().numpy()[first], minlength=len(graphs))


def isolated(graphs: PackedGraphs) -> float | None:
    """Return the share of nodes without an edge to another node."""
    if graphs.num_nodes == 0:
        return None
    a, b = graphs.edge_index
    joined = torch.zeros(graphs.num_nodes, dtype=torch.bool, device=a.device)
    joined[graphs.edge_index[:, a != b].flatten()] = True
    return float((~joined).double().mean())


def valid(graphs: PackedGraphs, *, chemistry: Chemistry | None = None, like: PackedGraphs) -> float | None:
    """Return the share of graphs that RDKit can sanitise; None where the originals ``like`` are not molecules."""
    from epic.data.chemistry import fault, molecule_of

    if molecule_of(like.graph(0), chemistry) is None:
        return None
    molecules = [molecule_of(graphs.graph(g), chemistry) for g in range(len(graphs))]
    return sum(m is not None and not fault(m) for m in molecules) / len(graphs)


COLUMNS = {
    "disconnected": "disconnected %",
    "isolated": "isolated nodes %",
    "valid": "valid molecules %",
    "milliseconds": "ms a graph",
}


def row(name: str, measured: Quality, distances: list[str]) -> list[str]:
    """Write one line of a table: the name, an error for each distance, then ``COLUMNS``; '-' where undefined."""

    def text(value: Any, scale: float = 1.0, digits: int = 3) -> str:
        return "-" if value is None else f"{scale * value:.{digits}f}"

    errors = [text(measured.interpolation.get(d)) for d in distances]
    shares = [text(getattr(measured, c), 100.0, 1) for c in ("disconnected", "isolated", "valid")]
    return [name, *errors, *shares, text(measured.milliseconds)]
