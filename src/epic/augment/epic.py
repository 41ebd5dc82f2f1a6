"""EPIC: graphs from the edit paths between training graphs, with labels by the cost spent (Heo et al., IJCAI 2024)."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader
from torch_geometric.data import Batch, Data
from tqdm import tqdm

from epic.augment.degrees import DegreeFeatures, demanded, detect
from epic.augment.pairs import PAIRS, draw_pairs
from epic.cost.base import AUGMENTER_FORM, Cost, check_kind, cost_from_state
from epic.cost.learned import LearnedCost
from epic.errors import InputError, choose
from epic.files import read_tensors, write_tensors
from epic.pack import Graphs, Pack, join, matrix
from epic.packing import pack
from epic.partners import chances
from epic.path.closed_form import intermediate
from epic.path.edit_path import EditPath, edit_path
from epic.path.labels import count_classes, mix, soft_labels
from epic.path.operations import Operations
from epic.path.orders import ORDERS, ranks
from epic.ragged import counts
from epic.randomness import Seed, base_seed, derived, digest

CHUNK = 256
"""Graphs that :meth:`EPIC.generate` makes at a time; each chunk has a generator of its own."""


class EPIC:
    """Add graphs from edit paths to every batch.

    >>> from epic.data import lollipop
    >>> from torch_geometric.loader import DataLoader
    >>> train = lollipop(40, seed=0)
    >>> augment = EPIC(ratio=0.5, seed=0).fit(train, epochs=1, progress=False)
    >>> batch = augment(next(iter(DataLoader(train, batch_size=8))))
    >>> batch.num_graphs, tuple(batch.y.shape)
    (12, (12, 4))

    ``cost``: what edits cost; None learns it in :meth:`fit`. ``ratio``: augmented graphs for each original one.
    ``order``: see :func:`epic.edit_path`. ``indicator`` appends a node feature that is 1 on augmented graphs and 0 on
    originals, as in the paper; test graphs then need :meth:`plain`. ``pairs``: which graphs of a batch may be paired.
    ``seed``: an int or a generator; the same batch then gives the same graphs, in whatever process.
    ``degree_features``: None looks whether ``x`` holds degrees, which are then computed anew after each edit.
    """

    def __init__(
        self,
        cost: Cost | None = None,
        ratio: float = 0.5,
        order: str = "random",
        indicator: bool = False,
        pairs: str = "random",
        seed: Seed = None,
        *,
        classes: int | None = None,
        degree_features: bool | None = None,
    ) -> None:
        if not 0 <= ratio < math.inf:
            raise InputError(f"ratio must be a number from 0 up, got {ratio}")
        if cost is not None and not isinstance(cost, Cost):
            raise InputError(f"cost must be an epic Cost such as UnitCost(), got {type(cost).__name__}")
        self._cost = cost
        self._given = (cost is not None, classes is not None)
        self.ratio = float(ratio)
        self.order = choose(order, ORDERS, "order")
        self.pairs = choose(pairs, PAIRS, "pairs")
        self.indicator = indicator
        self.classes = None if classes is None else int(classes)
        self.degree_features = degree_features
        self._seed = base_seed(seed)
        self._degrees: DegreeFeatures | None = None
        self._looked = False
        self._seen: Counter[str] = Counter()
        self._epoch = 0

    @property
    def cost(self) -> Cost:
        if self._cost is None:
            raise InputError("EPIC has no cost yet: call fit(train), or pass cost=UnitCost()")
        return self._cost

    def fit(self, dataset: Graphs, **options: Any) -> EPIC:
        """Learn costs from labelled training graphs, anew at each call, unless a cost that needs no learning was given;
        and look at labels
        and features.

        ``options`` go to :meth:`epic.LearnedCost.fit`.
        """
        packed = pack(dataset)
        if packed.y is None:
            raise InputError("the graphs have no labels y: EPIC interpolates labels")
        cost_given, classes_given = self._given
        self.classes = self.classes if classes_given else count_classes(packed.y)
        self._looked = False
        self._look(packed)
        cost = self._cost if cost_given and self._cost is not None else LearnedCost()
        if isinstance(cost, LearnedCost) and not cost.fitted:
            cost.fit(packed, **{"seed": self._seed, **options})
        elif options:
            raise InputError(f"the cost was given ready, so fit takes no {', '.join(options)}")
        self._cost = cost
        return self

    @torch.no_grad()
    def __call__(self, batch: Graphs, seed: Seed = None) -> Batch:
        """Originals and augmented graphs in one batch, with float labels ``[B, C]``; ``batch.augmented`` marks the new
        ones.

        Node and edge attributes are kept; other attributes of the graphs, which an edited graph does not have, are
        dropped. Also takes a list of graphs, so it
        serves as ``collate_fn`` of torch's DataLoader; :meth:`loader` makes one.
        """
        packed = pack(batch, check=False)  # costs that are not numbers are found below; this runs at every step
        plain = self._labelled(packed)
        count = round(self.ratio * len(packed))
        generator = self._generator(packed) if seed is None else derived(base_seed(seed))
        source, target = draw_pairs(packed.y, len(packed), count, self.pairs, generator)
        if source.numel() == 0:
            return self._finish(plain, 0)
        made = self._between(plain, source.to(packed.ptr.device), target.to(packed.ptr.device), generator)
        return self._finish(join([plain, made]), len(made))

    collate = __call__

    def loader(self, dataset: Any, batch_size: int = 128, **options: Any) -> AugmentedLoader:
        """A loader whose batches are augmented, in its workers if it has any; ``options`` are those of torch's
        DataLoader.

        (PyG's own DataLoader ignores ``collate_fn``.)
        """
        return AugmentedLoader(self, dataset, batch_size, **options)

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins, where workers start afresh each epoch and batches repeat; :meth:`loader` does it
        itself.
        """
        self._epoch = int(epoch)

    @torch.no_grad()
    def plain(self, batch: Graphs) -> Batch:
        """The batch as a model trained on this augmenter's output expects it, with nothing added: for validation and
        test.
        """
        return self._finish(self._labelled(pack(batch), need=False), 0)

    def path(self, source: Data, target: Data, order: str | None = None, seed: Seed = None) -> EditPath:
        """The edit path between two graphs."""
        finish = None if self._degrees is None else self._degrees.refresh
        return edit_path(source, target, self.cost, order or self.order, seed, self.classes, finish)

    @torch.no_grad()
    def generate(
        self, dataset: Graphs, count: int, seed: Seed = None, start: int = 0, progress: bool = False
    ) -> Iterator[Data]:
        """Yield ``count`` augmented graphs made from pairs of the whole dataset.

        Graph number i depends on the dataset, ``seed`` and i alone: ``start`` skips the first ones, to go on where an
        earlier run stopped or to share the work among machines.
        """
        if count < 0 or start < 0:
            raise InputError(f"count and start must be 0 or more, got {count} and {start}")
        packed = self._labelled(pack(dataset))
        origin = base_seed(self._seed if seed is None else seed)
        with tqdm(total=count, desc="augmenting", unit="graph", disable=not progress) as bar:
            for chunk in range(start // CHUNK, -(-(start + count) // CHUNK)):
                generator = derived(origin, "chunk", chunk)
                source, target = draw_pairs(packed.y, len(packed), CHUNK, self.pairs, generator)
                if source.numel() == 0:
                    raise InputError(f"there is no pair of {self.pairs} graphs among the {len(packed)} given")
                made = self._marked(
                    self._between(packed, source, target, generator),
                    torch.ones(CHUNK, dtype=torch.bool, device=packed.ptr.device),
                )
                first = chunk * CHUNK
                for g in range(max(0, start - first), min(CHUNK, start + count - first)):
                    yield made.graph(g)
                    bar.update()

    def _between(self, graphs: Pack, i: Tensor, j: Tensor, generator: torch.Generator) -> Pack:
        """One graph from the path of each pair, label included."""
        used, where = torch.cat([i, j]).unique(return_inverse=True)
        nodes = self.cost.nodes(graphs.select(used)).to(graphs.ptr.device)
        matches = self.cost.match(nodes, nodes, *where.chunk(2))
        ops = Operations.of(matches, self.cost.price(nodes, nodes, matches))
        # From here on nodes are counted in the whole pack, not among the used graphs.
        back = (graphs.ptr[used] - nodes.ptr[:-1])[where].cpu().numpy()
        matches = matches.shifted(*np.split(back, 2))
        rank, reasons = ranks(self.order, ops, graphs, i, j, generator)
        failed = sum(r is not None for r in reasons)
        if failed:
            warnings.warn(
                f"order={self.order!r} could not be had for {failed} of {len(reasons)} pairs (for instance: "
                f"{next(r for r in reasons if r)}); these are in random order",
                stacklevel=3,
            )
        done = rank < draw_steps(ops, generator)[ops.pair]
        done = keep_a_node(ops, done)
        made = intermediate(graphs, i, j, matches, *ops.marks(done, matches)).graphs
        if self._degrees is not None:
            made = self._degrees.refresh(made)
        assert graphs.y is not None
        share = torch.from_numpy(ops.fraction(done)).to(graphs.y.device)
        return replace(made, y=mix(graphs.y[i], graphs.y[j], share))

    def _labelled(self, packed: Pack, need: bool = True) -> Pack:
        """The originals with float labels."""
        if packed.y is None:
            if need:
                raise InputError("the batch has no labels y: EPIC interpolates labels")
            return packed
        self._look(packed)
        return replace(packed, y=soft_labels(packed.y, self.classes))

    def _finish(self, graphs: Pack, made: int) -> Batch:
        new = torch.zeros(len(graphs), dtype=torch.bool, device=graphs.ptr.device)
        new[len(graphs) - made :] = True
        batch = self._marked(graphs, new).to_batch()
        batch.augmented = new
        batch._slice_dict["augmented"] = torch.arange(len(graphs) + 1)
        batch._inc_dict["augmented"] = torch.zeros(len(graphs), dtype=torch.long)
        return batch

    def _marked(self, graphs: Pack, new: Tensor) -> Pack:
        """Append the indicator feature, if wanted."""
        if not self.indicator:
            return graphs
        if graphs.x is None:
            raise InputError("indicator=True needs node features x to append to: add some, or pass indicator=False")
        x = matrix(graphs.x)
        column = new[graphs.graph_of_node, None].to(x.dtype)
        return replace(graphs, node={**graphs.node, "x": torch.cat([x, column], dim=1)})

    def _look(self, packed: Pack) -> None:
        """Decide once, from the first graphs seen, whether ``x`` holds degrees."""
        if self._looked:
            return
        self._degrees = None
        if self.degree_features:
            self._degrees = demanded(packed)
        elif self.degree_features is None:
            self._degrees = detect(packed)
            if self._degrees is not None:
                warnings.warn(
                    "x holds node degrees: they are computed anew after each edit. Pass degree_features=True to "
                    "confirm or degree_features=False to leave x as it is",
                    stacklevel=3,
                )
        self._looked = True

    def _generator(self, packed: Pack) -> torch.Generator:
        """Seeded by what is in the batch and how often this batch was seen: the same in one process or in many."""
        content = digest(packed.ptr, packed.edge_index[1], packed.y)
        if len(self._seen) > 100_000:  # shuffled batches hardly ever come again
            self._seen.clear()
        # In one process a batch counts its own epochs; in workers that start afresh, set_epoch does.
        turn = max(self._seen[content], self._epoch)
        self._seen[content] += 1
        return derived(self._seed, content, turn)

    def settings(self) -> dict[str, Any]:
        """Everything but the cost."""
        return {
            "ratio": self.ratio,
            "order": self.order,
            "indicator": self.indicator,
            "pairs": self.pairs,
            "seed": self._seed,
            "classes": self.classes,
            "degree_features": self.degree_features,
        }

    def save(self, path: str | Path) -> None:
        """Write cost and settings as safetensors."""
        check_kind(self.cost)
        tensors, header = self.cost.state()
        found = None if self._degrees is None else asdict(self._degrees)
        looked = {"looked": self._looked, "degrees": found}
        write_tensors(
            path,
            tensors,
            {"format": AUGMENTER_FORM, "kind": self.cost.kind, "augmenter": self.settings(), **looked, **header},
        )

    @classmethod
    def load(cls, path: str | Path) -> EPIC:
        """Read what :meth:`save` wrote."""
        tensors, header = read_tensors(path, AUGMENTER_FORM)
        cost = cost_from_state(tensors, header, path)
        try:
            augmenter = cls(cost, **header["augmenter"])
            augmenter._looked = header["looked"]
            augmenter._degrees = None if header["degrees"] is None else DegreeFeatures(**header["degrees"])
        except (KeyError, TypeError) as error:
            raise InputError(f"{path} does not hold a complete augmenter ({error}): save it again") from error
        return augmenter


class AugmentedLoader(DataLoader):
    """Torch's DataLoader over graphs, with augmented batches; every pass over it is a new epoch."""

    def __init__(self, augment: EPIC, dataset: Any, batch_size: int, **options: Any) -> None:
        super().__init__(dataset, batch_size, collate_fn=augment, **options)
        self._augment, self._passes = augment, 0

    def __iter__(self) -> Any:
        self._augment.set_epoch(self._passes)
        self._passes += 1
        return super().__iter__()


def draw_steps(ops: Operations, generator: torch.Generator) -> np.ndarray:
    """How many operations to do in each pair: 1 to n - 1, all alike, so that neither end comes out (0 or 1 of 1)."""
    n = np.diff(ops.ptr)
    chance = chances(n.size, generator).numpy()
    return np.where(n > 1, 1 + (chance * (n - 1)).astype(np.int64), (chance * (n + 1)).astype(np.int64))


def keep_a_node(ops: Operations, done: np.ndarray) -> np.ndarray:
    """Undo one deletion where a graph would otherwise lose its last node."""
    alive = np.where(done, ops.target >= 0, ops.source >= 0)
    empty = counts(alive, ops.ptr) == 0
    if not empty.any():
        return done
    undo = np.flatnonzero(empty[ops.pair] & done)
    done = done.copy()
    done[undo[np.unique(ops.pair[undo], return_index=True)[1]]] = False
    return done
