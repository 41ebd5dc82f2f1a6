"""Mixups that are too slow for a training step: graphs are mixed ahead, in ``fit``, and batches draw from them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from tqdm import tqdm

from epic._checkpoint import identity
from epic._io import alone
from epic._threads import few_threads
from epic.augment import checks
from epic.augment.base import Augmentation
from epic.augment.dense import Dense
from epic.augment.mixtures import mixture
from epic.augment.params import param
from epic.augment.sampling import PAIRS, draw_pairs, pick_graphs
from epic.data.files import write_graphs
from epic.data.shards import Shards, begin, plan
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.graphs.packed import PackedGraphs, join, matrix
from epic.labels import soft_labels, typed
from epic.random import derived, digest

FORM = "epic-pool/1"
SHARD = 32
"""Graphs in a shard; a kill loses at most these."""


class PooledMixup(Augmentation):
    """Base of mixups whose graphs are made in :meth:`fit`; a batch draws from this pool.

    A new one overrides :meth:`draw_shares` and :meth:`mix_pair`.
    """

    mixes = True
    stores = True
    near_in_size = False
    """Whether partners are chosen near in size."""

    pairs: str = param(default="different", check=checks.one_of(PAIRS), help="which graphs to pair, by their labels")
    pool_size: int = param(
        default=1000, check=checks.count, help="graphs to mix in fit, but no more than there are training graphs"
    )

    milliseconds_: float | None = None
    """Time to make one graph of the pool; None where all were read from a folder."""
    _pool: PackedGraphs | None = None
    _labels: Tensor | None = None
    _titles: list[str] | None = None
    _fitted: str = ""

    # To override

    def draw_shares(self, count: int, generator: torch.Generator) -> Tensor:
        """Return the share of the first graph in each of ``count`` mixtures."""
        raise NotImplementedError

    def mix_pair(self, one: Dense, two: Dense, share: float) -> Data:
        """Return a mixture with ``share`` of the one, without label."""
        raise NotImplementedError

    def look(self, graphs: PackedGraphs) -> None:
        """Find out from the training graphs what mixtures need, or that they cannot be made."""

    # The same for all

    @property
    def pool_(self) -> PackedGraphs:
        """The graphs of the pool; ``y`` has rows of two training graphs and the share of the first."""
        if self._pool is None:
            raise InputError(f"{type(self).__name__} draws from a pool of mixed graphs: call fit(train) first")
        return self._pool

    def prepare(self, graphs: PackedGraphs, **options: Any) -> None:
        progress, folder = options.pop("progress", True), options.pop("folder", None)
        super().prepare(graphs, **options)
        checks.need_float(graphs, type(self).__name__)
        graphs = graphs.to("cpu")
        self.look(graphs)
        self._labels = soft_labels(typed(graphs.labels, self.task_), self.num_classes_)
        self._titles, self._fitted = graphs.titles, graphs.digest()
        able = graphs.sizes.nonzero()[:, 0]
        count = min(self.pool_size, able.numel())
        one, two = draw_pairs(
            graphs.labels[able],
            graphs=able.numel(),
            count=count,
            pairs=self.pairs,
            generator=derived(self.seed_, "pool", "pairs"),
            sizes=graphs.sizes[able] if self.near_in_size else None,
        )
        if one.numel() == 0:
            raise InputError(f"{len(graphs)} graphs have no two with pairs={self.pairs!r} labels: try pairs='random'")
        share = self.draw_shares(count, derived(self.seed_, "pool", "shares"))
        rows = torch.stack([able[one].double(), able[two].double(), share.double()], dim=1)

        def make(number: int) -> Data:
            i, j, part = rows[number].tolist()
            data = self.mix_pair(Dense.of(graphs, int(i)), Dense.of(graphs, int(j)), part)
            data.y = rows[number : number + 1]
            return data

        own = {n: getattr(self, n) for n in self.params if n not in Augmentation.params and n != "pool_size"}
        what = identity([FORM, type(self).__name__, own, self.seed_], self._fitted)
        path = None if folder is None else Path(folder) / f"pool-{what[:16]}-{count}"
        with few_threads():
            self._pool, self.milliseconds_ = make_pool(make, count, what, folder=path, progress=progress)

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} {self.pool_.digest()} {digest(self._labels)}"

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs:
        checks.need_float(graphs, type(self).__name__)
        made = self.pool_.select(pick_graphs(self.pool_, picked.numel(), generator))
        one, two, share = made.labels.T
        assert self._labels is not None  # set with the pool
        made = mixture(made, self._labels, self._titles, source=one.long(), target=two.long(), share=1 - share)
        return shaped_like(made.to(graphs.ptr.device), graphs)

    def origin(
        self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator, made: PackedGraphs
    ) -> Tensor | None:
        """Return the share of each original in the labels of ``made``; None where these are not the graphs of fit."""
        if graphs.digest() != self._fitted:
            return None
        one, two, share = self.pool_.labels[pick_graphs(self.pool_, picked.numel(), generator)].T
        found, row = share.new_zeros(share.numel(), len(graphs)), torch.arange(share.numel())
        found[row, two.long()] = 1 - share
        found[row, one.long()] += share
        return found


def make_pool(
    make: Callable[[int], Data], count: int, identity: str, *, folder: Path | None, progress: bool
) -> tuple[PackedGraphs, float | None]:
    """Make graphs 0 to ``count - 1``, shard by shard, and return them packed, with the milliseconds of each.

    ``make`` is a pure function of the number. In a ``folder``, shards are written as they are done, and read if they
    are there. A folder written for another ``identity``, which decides the graphs, is refused.
    """
    numbers = {name: range(SHARD * k, SHARD * k + size) for k, (name, size) in enumerate(plan(count, SHARD))}

    def fill(names: Collection[str], keep: Callable[[str, PackedGraphs], None]) -> float | None:
        """Make some shards, and return the milliseconds of a graph; None where there is nothing to make."""
        todo, start = sum(len(numbers[name]) for name in names), time.perf_counter()
        hidden = not (progress and todo)
        with tqdm(total=count, initial=count - todo, desc="mixing graphs", unit="graph", disable=hidden) as bar:
            for name in names:
                made = []
                for number in numbers[name]:
                    made.append(make(number))
                    bar.update()
                keep(name, pack(made))
        return 1e3 * (time.perf_counter() - start) / todo if todo else None

    if folder is None:
        kept: dict[str, PackedGraphs] = {}
        took = fill(numbers, kept.__setitem__)
        return join(list(kept.values())), took
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error
    with alone(folder, say=False):  # several processes may want it at once
        missing = begin(folder, {"format": FORM, "identity": identity, "count": count, "shard": SHARD})
        took = fill([name for name, _ in missing], lambda name, graphs: write_graphs(folder / name, graphs))
    return Shards(folder, keep=1).pack(), took


def shaped_like(made: PackedGraphs, batch: PackedGraphs) -> PackedGraphs:
    """Return graphs with features and labels in the shape and precision of the batch that they join.

    Raises:
        InputError: The batch is unlike the graphs of fit.
    """

    def shaped(value: Tensor | None, like: Tensor | None, name: str) -> dict[str, Tensor]:
        if value is None and like is None:
            return {}
        if value is None or like is None or matrix(like).shape[1] != matrix(value).shape[1]:
            widths = [None if v is None else matrix(v).shape[1] for v in (like, value)]
            raise InputError(
                f"{name} of the batch has width {widths[0]}, but {widths[1]} in fit: fit on graphs like these"
            )
        return {name: value.to(like.dtype).view(-1, *like.shape[1:])}

    return replace(
        made,
        node={**made.node, **shaped(made.x, batch.x, "x")},
        edge={**made.edge, **shaped(made.edge_attr, batch.edge_attr, "edge_attr")},
        y=made.labels.to(batch.labels.dtype),
    )
