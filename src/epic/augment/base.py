"""The face that every method shows to a training loop."""

from __future__ import annotations

import inspect
import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torch_geometric.data import Batch, Data
from tqdm import tqdm
from typing_extensions import Self

from epic.data.dataset import Dataset
from epic.errors import InputError, choose
from epic.graphs.convert import pack
from epic.graphs.degrees import DegreeFeatures, demanded, detect
from epic.graphs.packed import Graphs, PackedGraphs, join
from epic.graphs.ragged import lengths
from epic.labels import TASKS, count_classes, infer_task, loss, soft_labels
from epic.random import Seed, base_seed, derived, digest

CHUNK = 256
"""Graphs that :meth:`Augmentation.generate` makes at a time; each chunk has a generator of its own."""


@dataclass(frozen=True)
class MethodInfo:
    """What ``epic methods`` tells of a method.

    ``changes``: what differs in an augmented graph. ``needs``: what it must have or prepare. ``label``: its label rule.
    ``edge_attr``: what becomes of edge attributes. ``cost``: where its time goes.
    """

    paper: str
    changes: str
    needs: str
    label: str
    edge_attr: str
    cost: str


class Augmentation:
    """Called on a ``Batch`` (or a list of graphs), gives a ``Batch`` with float labels ``[B, C]``.

    ``ratio``: augmented graphs for each original one. ``replace=False`` adds them to the originals;
    ``replace=True`` puts them in the place of as many originals. ``seed``: an int or a generator; the same batch then
    gives the same graphs, in whatever process. ``num_classes``: their number, where :meth:`fit` is not called.
    ``degree_features``: None looks whether ``x`` holds degrees, which are then computed anew after each change.

    A method of your own overrides :meth:`make`, and :meth:`prepare` if it has something to learn or to count; one that
    does not make graphs overrides :meth:`loss`, and puts what is random into the batch in :meth:`draw`.
    """

    about: ClassVar[MethodInfo]
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """Values of its strength to choose from on validation; the first is the default."""
    makes_graphs: ClassVar[bool] = True
    learns: ClassVar[bool] = False
    """Whether :meth:`fit` trains something, and so takes ``epochs`` and ``progress``."""
    follows_degrees: bool = True
    """Whether degree features of made graphs are computed anew."""

    def __init__(
        self,
        ratio: float = 0.5,
        replace: bool = False,
        seed: Seed = None,
        *,
        num_classes: int | None = None,
        degree_features: bool | None = None,
        task: str | None = None,
    ) -> None:
        self.replace = need_bool(replace, "replace")
        if not 0 <= ratio < math.inf:
            raise InputError(f"ratio must be a number from 0 up, got {ratio}")
        if replace and ratio > 1:
            raise InputError(f"ratio must lie between 0 and 1 where graphs are replaced, got {ratio}")
        self.ratio = float(ratio)
        self.num_classes = None if num_classes is None else int(num_classes)
        self.degree_features = None if degree_features is None else need_bool(degree_features, "degree_features")
        self.task = None if task is None else choose(task, TASKS, "task")
        self._given = (self.num_classes is not None, self.task is not None)
        self._seed = base_seed(seed)
        self._degrees: DegreeFeatures | None = None
        self._looked = False
        self._seen: Counter[str] = Counter()
        self._epoch = 0

    # To be overridden

    def prepare(self, graphs: PackedGraphs, **options: Any) -> None:
        """Learn or count what is needed, from training graphs with their labels as given. Called by :meth:`fit`."""
        if options:
            raise InputError(f"{type(self).__name__}.fit takes no {', '.join(options)}")

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        """Augmented graphs, one for each number in ``picked``, from graphs with float labels; None if there can be
        none.

        Tensors of ``graphs`` must not be changed. What is random comes from ``generator`` alone (on the CPU).
        """
        return None

    def origin(
        self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator, made: PackedGraphs
    ) -> Tensor | None:
        """Share ``[made, graphs]`` of each given graph in the labels of ``made``, which :meth:`make` gave for a
        generator in the same state; None where they do not come from labels of single graphs.

        Found by making the same again with a label of its own for every graph. A method whose :meth:`make` reads labels
        may override this.
        """
        assert graphs.y is not None
        # Wider than any real label, so that labels that come from elsewhere are seen.
        own = torch.eye(len(graphs), len(graphs) + graphs.y.shape[1], device=graphs.ptr.device)
        twin = self.augment_graphs(replace(graphs, y=own), picked, generator)
        if twin is None or twin.y is None or twin.y.shape[1] != own.shape[1]:
            return None
        alike = torch.equal(twin.ptr, made.ptr) and torch.equal(twin.edge_index, made.edge_index)
        return twin.y[:, : len(graphs)] if alike else None

    def attach_randomness(self, batch: Batch, generator: torch.Generator) -> None:
        """Put what :meth:`loss` needs of randomness into a finished batch."""

    def wrap_model(self, model: nn.Module) -> nn.Module:
        """The module to train in place of ``model``: methods that need parts of their own wrap it."""
        return model

    def begin_epoch(self, model: nn.Module, epoch: int) -> None:
        """Called by a training loop before each epoch."""
        self.set_epoch(epoch)

    def end(self, model: nn.Module) -> None:
        """Called by a training loop after the last epoch."""

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """The value to call ``backward`` on. A batch that did not go through this method yet goes first."""
        batch = self.ensure_augmented(batch)
        return self.criterion(model(batch), batch.y)

    # The same for all

    def fit(self, dataset: Graphs, **options: Any) -> Self:
        """Look at training graphs, and prepare what the method needs of them, anew at each call."""
        packed = pack(dataset)
        if packed.y is None:
            raise InputError("the graphs have no labels y: give each a class, tasks or values")
        classes_given, task_given = self._given
        counted = count_classes(packed.y)
        self.num_classes = self.num_classes if classes_given else counted
        if not task_given:
            self.task = dataset.task if isinstance(dataset, Dataset) else infer_task(packed.y)
        self._looked = False
        self._look(packed)
        self.prepare(packed, **options)
        return self

    def set_label_type(self, task: str, num_classes: int | None) -> None:
        """Say what labels are, where the caller knows it: batches need not show all classes."""
        classes_given, task_given = self._given
        self.task = self.task if task_given else choose(task, TASKS, "task")
        self.num_classes = self.num_classes if classes_given else num_classes
        self._given = (classes_given or num_classes is not None, True)

    @torch.no_grad()
    def __call__(self, batch: Graphs, seed: Seed = None) -> Batch:
        """Originals and augmented graphs in one batch, with float labels; ``batch.augmented`` marks the new ones.

        Node and edge attributes are kept; other attributes of the graphs, which a changed graph does not have, are
        dropped. Also takes a list of graphs, so it serves as ``collate_fn`` of torch's DataLoader; :meth:`loader` makes
        one.
        """
        packed = pack(batch, check=False)  # this runs at every step
        plain = self._labelled(packed)
        generator = self._generator(packed) if seed is None else derived(base_seed(seed))
        graphs, made = self._augmented(plain, generator)
        result = self._finish(graphs, made)
        self.attach_randomness(result, generator)
        return result

    collate = __call__

    def _augmented(self, plain: PackedGraphs, generator: torch.Generator) -> tuple[PackedGraphs, int]:
        count = round(self.ratio * len(plain)) if self.makes_graphs else 0
        if count == 0:
            return plain, 0
        able = lengths(plain.ptr.cpu().numpy()).nonzero()[0]  # of a graph without nodes nothing can be made
        if able.size == 0:
            return plain, 0
        picked = _cycled(able.size, count, generator)
        if able.size < len(plain):
            picked = torch.from_numpy(able)[picked]
        picked = picked.to(plain.ptr.device)
        made = self._made(plain, picked, generator)
        if made is None:
            return plain, 0
        if self.replace:
            stays = torch.ones(len(plain), dtype=torch.bool, device=plain.ptr.device)
            stays[picked] = False
            plain = plain.select(stays.nonzero()[:, 0])
        return join([_weighted(plain, made).only(made), made]), len(made)

    def _made(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        made = self.augment_graphs(graphs, picked, generator)
        if made is None or self._degrees is None or not self.follows_degrees:
            return made
        return self._degrees.refresh(made)

    @torch.no_grad()
    def generate(
        self, dataset: Graphs, count: int, seed: Seed = None, start: int = 0, progress: bool = False
    ) -> Iterator[Data]:
        """Yield ``count`` augmented graphs made from the whole dataset.

        Graph number i depends on the dataset, ``seed`` and i alone: ``start`` skips the first ones, to go on where an
        earlier run stopped or to share the work among machines.
        """
        if count < 0 or start < 0:
            raise InputError(f"count and start must be 0 or more, got {count} and {start}")
        packed = self._labelled(pack(dataset))
        origin = base_seed(self._seed if seed is None else seed)
        with tqdm(total=count, desc="augmenting", unit="graph", disable=not progress) as bar:
            for chunk in range(start // CHUNK, -(-(start + count) // CHUNK)):
                made = self.chunk(packed, origin, chunk)
                first = chunk * CHUNK
                for g in range(max(0, start - first), min(CHUNK, start + count - first)):
                    yield made.graph(g)
                    bar.update()

    @torch.no_grad()
    def chunk(self, graphs: Graphs, seed: int, number: int) -> PackedGraphs:
        """Augmented graphs number ``CHUNK * number`` to ``CHUNK * (number + 1) - 1`` of :meth:`generate`, packed."""
        packed = self._labelled(pack(graphs))
        generator = derived(seed, "chunk", number)
        picked = _cycled(len(packed), CHUNK, generator).to(packed.ptr.device)
        made = self._made(packed, picked, generator) if self.makes_graphs else None
        if made is None:
            raise InputError(f"{self!r} can make no graph of the {len(packed)} given")
        return self._marked(made, torch.ones(CHUNK, dtype=torch.bool, device=packed.ptr.device))

    def loader(self, dataset: Any, batch_size: int = 128, **options: Any) -> AugmentedLoader:
        """A loader whose batches are augmented, in its workers if it has any; ``options`` are those of torch's
        DataLoader. With ``shuffle=True`` the order follows the seed of this method, unless a ``generator`` is given.

        (PyG's own DataLoader ignores ``collate_fn``.)
        """
        return AugmentedLoader(self, dataset, batch_size, **options)

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins, where workers start afresh each epoch and batches repeat; :meth:`loader` does it
        itself.
        """
        if int(epoch) != self._epoch:
            self._seen.clear()
        self._epoch = int(epoch)

    @torch.no_grad()
    def eval_batch(self, batch: Graphs) -> Batch:
        """The batch as a model trained on this method's output expects it, with nothing added: for validation and
        test.
        """
        return self._finish(self._labelled(pack(batch), need=False), 0)

    def ensure_augmented(self, batch: Batch) -> Batch:
        """The batch after this method, whether it has gone through it or not."""
        return batch if "augmented" in batch else self(batch)

    def criterion(self, output: Tensor, y: Tensor) -> Tensor:
        """The loss of outputs against float labels."""
        if self.task is None:  # mixed labels do not show what they are: 0.3 may be a probability or a value
            raise InputError("what the labels are is not known here: call fit(train), or pass task=")
        return loss(output, y, self.task)

    def settings(self) -> dict[str, Any]:
        """The arguments that make this method again."""
        names = [n for n in inspect.signature(type(self)).parameters if n not in ("seed", "cost")]
        return {**{n: getattr(self, n) for n in names}, "seed": self._seed}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.settings().items())})"

    def _labelled(self, packed: PackedGraphs, need: bool = True) -> PackedGraphs:
        """The originals with float labels."""
        if packed.y is None:
            if need:
                raise InputError("the batch has no labels y: every method makes labelled graphs")
            return packed
        self._look(packed)
        return replace(packed, y=soft_labels(packed.y, self.num_classes))

    def _finish(self, graphs: PackedGraphs, made: int) -> Batch:
        new = torch.arange(len(graphs), device=graphs.ptr.device) >= len(graphs) - made
        return self._marked(graphs, new).to_batch(augmented=new)

    def _marked(self, graphs: PackedGraphs, new: Tensor) -> PackedGraphs:
        """Graphs as the model sees them; ``new`` tells which are augmented."""
        return graphs

    def _look(self, packed: PackedGraphs) -> None:
        """Decide once, from the first graphs seen, what labels are and whether ``x`` holds degrees."""
        if self._looked:
            return
        if self.task is None and packed.y is not None:
            self.task = infer_task(packed.y)
        self._degrees = None
        if self.degree_features:
            self._degrees = demanded(packed)
        elif self.degree_features is None and self.makes_graphs and self.follows_degrees:
            self._degrees = detect(packed)
            if self._degrees is not None:
                warnings.warn(
                    "x holds node degrees: they are computed anew after each edit. Pass degree_features=True to "
                    "confirm or degree_features=False to leave x as it is",
                    stacklevel=3,
                )
        self._looked = True

    def _generator(self, packed: PackedGraphs) -> torch.Generator:
        """Seeded by what is in the batch and how often this batch was seen: the same in one process or in many."""
        # Of the features, some rows are enough to tell batches apart; all would take as long as the augmentation.
        x = None if packed.x is None else packed.x[:: max(1, packed.x.shape[0] // 256)]
        content = digest(packed.ptr, packed.edge_index[1], packed.y, x)
        if len(self._seen) > 100_000:  # shuffled batches hardly ever come again
            self._seen.clear()
        # In workers that start afresh, set_epoch tells epochs apart; in those that live on, a batch counts how often it
        # came: the sum is the same.
        turn = self._epoch + self._seen[content]
        self._seen[content] += 1
        return derived(self._seed, content, turn)


class AugmentedLoader(DataLoader):
    """Torch's DataLoader over graphs, with augmented batches; every pass over it is a new epoch."""

    def __init__(self, augment: Augmentation, dataset: Any, batch_size: int, **options: Any) -> None:
        if isinstance(dataset, Dataset) and augment.task is None:
            augment.set_label_type(dataset.task, dataset.num_classes)
        # Here and not first in a worker, whose findings would stay there.
        augment._labelled(pack([dataset[i] for i in range(min(batch_size, len(dataset)))]))
        if options.get("generator") is None:  # torch would draw from the global random state at every pass
            options["generator"] = derived(augment._seed, "loader")
        super().__init__(dataset, batch_size, collate_fn=augment, **options)
        self._augment, self._passes = augment, 0

    def __iter__(self) -> Any:
        self._augment.set_epoch(self._passes)
        self._passes += 1
        return super().__iter__()


def need_share(value: float, name: str) -> float:
    """A number between 0 and 1, or an error that names it."""
    if not 0 <= value <= 1:
        raise InputError(f"{name} must lie between 0 and 1, got {value}")
    return float(value)


def need_bool(value: bool, name: str) -> bool:
    """True or False, or an error that names it: any other word would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be true or false, got {value!r}")
    return bool(value)


def need_float(graphs: PackedGraphs, method: str, why: str) -> None:
    """Refuse integer features, which have no values between them."""
    for name, value in (("x", graphs.x), ("edge_attr", graphs.edge_attr)):
        if value is not None and not value.is_floating_point():
            raise InputError(f"{method} {why}, but {name} holds {value.dtype} categories: give one-hot features")


def _cycled(graphs: int, count: int, generator: torch.Generator) -> Tensor:
    """``count`` graphs, each as often as the others to within one, in random order."""
    rounds = [torch.randperm(graphs, generator=generator) for _ in range(-(-count // graphs))]
    return (torch.cat(rounds) if len(rounds) > 1 else rounds[0])[:count]


def _weighted(plain: PackedGraphs, made: PackedGraphs) -> PackedGraphs:
    """Originals with weight 1 on every edge, where the method made weighted edges."""
    if "edge_weight" not in made.edge or "edge_weight" in plain.edge:
        return plain
    like = made.edge["edge_weight"]
    ones = torch.ones(plain.edge_index.shape[1], dtype=like.dtype, device=like.device)
    return replace(plain, edge={**plain.edge, "edge_weight": ones})
