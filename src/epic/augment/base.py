"""Base class of all augmentations."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import BaseTransform
from tqdm import tqdm
from typing_extensions import Self

from epic.augment import checks
from epic.augment.attributes import with_graph_attributes
from epic.augment.loader import AugmentedLoader
from epic.augment.params import Parameters, param
from epic.data.dataset import Dataset
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.graphs.degrees import DegreeFeatures, demanded, detect, informative
from epic.graphs.packed import Graphs, PackedGraphs, join
from epic.labels import TASKS, count_classes, infer_task, soft_labels
from epic.random import Seed, base_seed, derived, digest, uniform

CHUNK = 256
"""Graphs that :meth:`Augmentation.generate` makes at a time, each time with a new generator."""


@dataclass(frozen=True)
class MethodInfo:
    """Facts about a method that ``epic methods`` lists.

    Attributes:
        paper: Where it was published.
        changes: What differs in an augmented graph.
        needs: What it must have or prepare.
        label: How labels of augmented graphs come about.
        edge_attr: What becomes of edge attributes.
        cost: Where its time goes.
    """

    paper: str
    changes: str
    needs: str
    label: str
    edge_attr: str
    cost: str


class Augmentation(Parameters, BaseTransform):
    """Base class of all augmentations, which are PyG transforms.

    A ``Batch`` (or a list of graphs, so that it serves as ``collate_fn`` of torch's DataLoader) gives a ``Batch`` of
    originals and augmented graphs; ``batch.augmented`` marks the new ones. A method that changes one graph at a time
    also takes a ``Data`` and gives a ``Data``, so it can be the ``transform`` of a dataset: each graph is then changed
    with probability ``ratio``, and ``replace`` plays no part. A method that mixes graphs needs a ``Batch``.

    Methods that mix labels make ``y`` float ``[B, C]``; all others leave it as it is. What a method does not change
    travels with its graph, attributes of whole graphs included. A mixture of two graphs has no such attributes, so a
    batch with mixtures has only those of nodes and edges.

    A new method overrides :meth:`augment_graphs`, and :meth:`prepare` if it has something to learn or to count, and
    declares its hyper-parameters with :func:`epic.augment.param`. :class:`epic.testing.AugmentationTester` checks it.
    A method that acts in the loss is a :class:`epic.augment.TrainingMethod`.

    Args:
        ratio: Augmented graphs for each original one.
        replace: Whether they take the place of as many originals, or are added to them.
        seed: An int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed.
            Calls in the same order then give the same graphs, whatever the number of workers; a batch that comes again
            gives new graphs. (In workers that start again every epoch, :meth:`set_epoch` must tell epochs apart;
            :meth:`loader` does it.)
        num_classes: Number of classes, for methods that mix; None takes it from the graphs of :meth:`fit`.
        degree_features: Whether ``x`` holds node degrees, which are then computed again after each change; None
            decides by the first graphs seen.
        task: What labels are, one of ``classes``, ``binary``, ``values``; None decides by the first graphs seen.
    """

    info: ClassVar[MethodInfo]
    mixes: ClassVar[bool] = False
    """Whether it mixes graphs, or their labels."""
    makes_graphs: ClassVar[bool] = True
    learns: ClassVar[bool] = False
    """Whether :meth:`fit` trains something, and so takes ``epochs`` and ``progress``."""
    follows_degrees: ClassVar[bool] = True
    """Whether degree features of augmented graphs are computed again."""

    ratio: float = param(
        default=0.5, grid=(0.5, 0.2, 1.0), check=checks.not_negative, help="augmented graphs for each original one"
    )
    replace: bool = param(default=False, check=checks.flag, help="put them in the place of as many originals")
    seed: Seed = param(default=0, check=checks.seed, help="what its random choices follow")
    num_classes: int | None = param(default=None, check=checks.optional(checks.count), help="number of classes")
    degree_features: bool | None = param(
        default=None, check=checks.optional(checks.flag), help="whether x holds node degrees"
    )
    task: str | None = param(default=None, check=checks.optional(checks.one_of(TASKS)), help="what labels are")

    def __post_init__(self) -> None:
        self._seed = base_seed(self.seed)
        self._found_classes: int | None = None
        self._found_task: str | None = None
        self._degrees: DegreeFeatures | None = None
        self._examined = False
        self._seen: Counter[str] = Counter()
        self._epoch = 0

    def check_params(self) -> None:
        if self.replace and self.ratio > 1:
            raise InputError(f"ratio must lie between 0 and 1 where graphs are replaced, got {self.ratio}")

    def set_params(self, **params: Any) -> Self:
        """Change parameters, with the same checks as in the constructor."""
        super().set_params(**params)
        if "seed" in params:
            self._seed = base_seed(self.seed)
        return self

    @property
    def num_classes_(self) -> int | None:
        """The number of classes, as given or as found; None where labels are no classes."""
        return self._found_classes if self.num_classes is None else self.num_classes

    @property
    def task_(self) -> str | None:
        """What labels are, as given or as found."""
        return self._found_task if self.task is None else self.task

    # To override

    def prepare(self, graphs: PackedGraphs, **options: Any) -> None:
        """Learn or count what is needed from training graphs, with their labels as given. Called by :meth:`fit`."""
        if options:
            raise InputError(f"{type(self).__name__}.fit takes no {', '.join(options)}")

    def augment_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        """Make one augmented graph for each number in ``picked``.

        Args:
            graphs: The originals, which must not be changed. Labels are float rows if the method mixes them.
            picked: Numbers of graphs; a number may come more than once.
            generator: The only source of randomness (on the CPU).

        Returns:
            As many graphs as numbers, or None if none can be made.
        """
        return None

    def origin(
        self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator, made: PackedGraphs
    ) -> Tensor | None:
        """Return the share ``[made, graphs]`` of each original in the labels of ``made``.

        ``made`` is what :meth:`make_graphs` gave for a generator in the same state. The shares are found by making the
        same graphs again with a unique label for every original. None means that labels do not come from labels of
        single graphs. A method whose :meth:`augment_graphs` reads labels may override this.
        """
        y = self._with_labels(graphs).y
        if y is None:
            return None
        # Wider than any real label, so that labels that come from elsewhere are seen.
        own = torch.eye(len(graphs), len(graphs) + y[:1].numel(), device=graphs.ptr.device)
        twin = self.augment_graphs(replace(graphs, y=own), picked, generator)
        if twin is None or twin.y is None or twin.y.shape[1:] != own.shape[1:]:
            return None
        alike = torch.equal(twin.ptr, made.ptr) and torch.equal(twin.edge_index, made.edge_index)
        return twin.y[:, : len(graphs)] if alike else None

    # The same for all

    def fit(self, dataset: Graphs, **options: Any) -> Self:
        """Learn from training graphs what the method needs; each call starts from nothing.

        Args:
            dataset: Labelled graphs: a PyG dataset, a list, a ``Batch``, or what ``epic.data.load`` gives.
            options: Options of methods that learn, such as ``epochs`` and ``progress``.

        Raises:
            InputError: If the graphs have no labels, or are of a kind that the method cannot use.
        """
        packed = pack(dataset)
        if packed.y is None:
            raise InputError("the graphs have no labels y: give each a class, tasks or values")
        if isinstance(dataset, Dataset):
            self.set_label_type(dataset.task, dataset.num_classes)
        else:
            self.set_label_type(infer_task(packed.y), count_classes(packed.y))
        self._examined = False
        self.examine(packed, decide=True)
        self.prepare(packed, **options)
        return self

    def fingerprint(self) -> str:
        """Return a text that differs where augmented graphs do; a method that learns adds what it learned."""
        return f"{type(self).__name__}({ ({**self.get_params(), 'seed': self._seed}) })"

    def set_label_type(self, task: str, num_classes: int | None) -> None:
        """State what labels are, where the caller knows it: batches need not show all classes.

        ``task`` and ``num_classes`` of the constructor go first, and the next :meth:`fit` finds both again.
        """
        self._found_task, self._found_classes = checks.one_of(TASKS)(task, "task"), num_classes

    @torch.no_grad()
    def forward(self, data: Graphs) -> Batch | Data:
        """Augment a ``Batch``, a list of graphs, or one ``Data``; see the class."""
        if isinstance(data, Data) and not isinstance(data, Batch):
            return self._augment_one(data)
        return self.augment_batch(data, self._generator(pack(data, check=False)))

    @torch.no_grad()
    def augment_batch(self, graphs: Graphs, generator: torch.Generator) -> Batch:
        """Augment a batch with randomness from ``generator`` alone, whatever was augmented before."""
        originals = self._with_labels(pack(graphs, check=False))
        result, identity = originals, torch.arange(len(originals))
        count = round(self.ratio * len(originals)) if self.makes_graphs else 0
        picked = self._pick(originals, count, generator)
        made = self.make_graphs(originals, picked, generator) if picked.numel() else None
        if made is not None:
            chosen = picked.cpu()
            if self.replace:
                identity = identity[~torch.isin(identity, chosen)]
                result = originals.select(identity.to(picked.device))
            result = join([_weighted(result, made).only(made), made])
            identity = torch.cat([identity, torch.full_like(chosen, -1) if self.mixes else chosen])
        new = torch.arange(len(result)) >= len(result) - (0 if made is None else len(made))
        return with_graph_attributes(self._finish(result, new.to(result.ptr.device)), graphs, originals, identity)

    def make_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        """Make one augmented graph for each number in ``picked``, with degree features that follow their edges."""
        made = self.augment_graphs(self._with_labels(graphs), picked, generator)
        if made is None or self._degrees is None or not self.follows_degrees:
            return made
        return self._degrees.refresh(made)

    @torch.no_grad()
    def generate(
        self, dataset: Graphs, *, count: int, seed: Seed = 0, start: int = 0, progress: bool = False
    ) -> Iterator[Data]:
        """Yield augmented graphs made from the whole dataset.

        Graph number i depends on the dataset, ``seed`` and i alone.

        Args:
            dataset: The originals.
            count: How many graphs to make.
            seed: An int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed.
            start: The number of the first graph, to continue an earlier run or to share the work among machines.
            progress: Whether to show a progress bar.
        """
        if count < 0 or start < 0:
            raise InputError(f"count and start must be 0 or more, got {count} and {start}")
        packed, first_seed = pack(dataset), base_seed(seed)
        with tqdm(total=count, desc="augmenting", unit="graph", disable=not progress) as bar:
            for number in range(start // CHUNK, -(-(start + count) // CHUNK)):
                made, first = self.chunk(packed, first_seed, number), number * CHUNK
                for g in range(max(0, start - first), min(CHUNK, start + count - first)):
                    yield made.graph(g)
                    bar.update()

    @torch.no_grad()
    def chunk(self, graphs: Graphs, seed: int, number: int) -> PackedGraphs:
        """Return graphs ``CHUNK * number`` to ``CHUNK * (number + 1) - 1`` of :meth:`generate`, packed."""
        packed, generator = pack(graphs), derived(seed, "chunk", number)
        picked = self._pick(packed, CHUNK if self.makes_graphs else 0, generator)
        made = self.make_graphs(packed, picked, generator) if picked.numel() else None
        if made is None:
            raise InputError(f"{self!r} can make no graph of the {len(packed)} given")
        return self.mark(made, torch.ones(CHUNK, dtype=torch.bool, device=packed.ptr.device))

    def loader(self, dataset: Any, *, batch_size: int = 128, **options: Any) -> AugmentedLoader:
        """Return a DataLoader whose batches are augmented, in its workers if it has any.

        Args:
            dataset: Any sequence of graphs.
            batch_size: Original graphs in a batch.
            options: Further options of torch's DataLoader. With ``shuffle=True`` the order follows the seed of this
                method, unless a ``generator`` is given. (PyG's own DataLoader ignores ``collate_fn``.)
        """
        return AugmentedLoader(self, dataset, batch_size, **options)

    def set_epoch(self, epoch: int) -> None:
        """State which epoch begins, where workers start again each epoch and batches repeat."""
        if int(epoch) != self._epoch:
            self._seen.clear()
        self._epoch = int(epoch)

    @torch.no_grad()
    def eval_batch(self, batch: Graphs) -> Batch:
        """Return a batch as a model trained on this method's output expects it, with nothing added.

        Use it for validation and test.
        """
        packed = pack(batch)
        originals = packed if packed.y is None else self._with_labels(packed)
        result = self._finish(self.scale(originals), torch.zeros_like(originals.sizes, dtype=torch.bool))
        return with_graph_attributes(result, batch, originals, torch.arange(len(originals)))

    def scale(self, graphs: PackedGraphs) -> PackedGraphs:
        """Return evaluation graphs on the scale that the model sees in training; most methods change nothing."""
        return graphs

    def mark(self, graphs: PackedGraphs, new: Tensor) -> PackedGraphs:
        """Return graphs with what tells the model which of them are ``new``; most methods add nothing."""
        return graphs

    def examine(self, graphs: PackedGraphs, *, decide: bool = False) -> None:
        """Find out what labels are and whether ``x`` holds degrees, unless it is known.

        Graphs that cannot tell (all rows of ``x`` equal, or no edges) leave the second question open, unless
        ``decide`` is set.
        """
        if self._examined:
            return
        if self._found_task is None and graphs.y is not None:
            self._found_task = infer_task(graphs.y)
        self._degrees = None
        if self.degree_features:
            self._degrees = demanded(graphs)
        elif self.degree_features is None and self.makes_graphs and self.follows_degrees:
            self._degrees = detect(graphs)
            if self._degrees is not None:
                warnings.warn(
                    "x holds node degrees: they are computed again after each change. Pass degree_features=True to "
                    "confirm or degree_features=False to leave x as it is",
                    stacklevel=3,
                )
        self._examined = decide or self.degree_features is not None or informative(graphs)

    def _augment_one(self, data: Data) -> Data:
        """Change a single graph with probability ``ratio``; ``data`` is a copy that may be written to."""
        if self.mixes:
            raise InputError(
                f"{type(self).__name__} mixes graphs, so it needs a Batch (or a list of graphs) and got one Data: call "
                "it on the batches of a DataLoader, or use its loader()"
            )
        packed = pack(data, check=False)
        generator = self._generator(packed)
        if not self.makes_graphs or packed.num_nodes == 0 or float(uniform(1, generator)) >= self.ratio:
            return data
        made = self.make_graphs(packed, torch.zeros(1, dtype=torch.long, device=packed.ptr.device), generator)
        if made is None:
            return data
        changed = made.graph(0)
        for key, value in changed.to_dict().items():
            if key != "y" and (key != "num_nodes" or key in data or made.x is None):
                data[key] = value
        return data

    def _with_labels(self, graphs: PackedGraphs) -> PackedGraphs:
        """Return the originals with float labels if the method mixes them, else as they are."""
        self.examine(graphs)
        if not self.mixes:
            return graphs
        if graphs.y is None:
            raise InputError(f"the graphs have no labels y, which {type(self).__name__} mixes: give each a label")
        return replace(graphs, y=soft_labels(graphs.y, self.num_classes_))

    def _pick(self, graphs: PackedGraphs, count: int, generator: torch.Generator) -> Tensor:
        """Draw ``count`` graphs that have nodes, each as often as the others to within one, in random order."""
        able = graphs.sizes.nonzero()[:, 0].cpu()
        if able.numel() == 0 or count == 0:
            return able[:0]
        rounds = [torch.randperm(able.numel(), generator=generator) for _ in range(-(-count // able.numel()))]
        return able[torch.cat(rounds)[:count]].to(graphs.ptr.device)

    def _finish(self, graphs: PackedGraphs, new: Tensor) -> Batch:
        return self.mark(graphs, new).to_batch(augmented=new)

    def _generator(self, packed: PackedGraphs) -> torch.Generator:
        """Return a generator seeded by what is in the batch and how often it was seen: the same in any process."""
        # Of the features, some rows are enough to tell batches apart; all would take as long as the augmentation.
        x = None if packed.x is None else packed.x[:: max(1, packed.x.shape[0] // 256)]
        content = digest(packed.ptr, packed.edge_index[1], packed.y, x)
        if len(self._seen) > 100_000:  # shuffled batches rarely come again
            self._seen.clear()
        # In workers that start again, set_epoch tells epochs apart; in those that live on, a batch counts how often it
        # came: the sum is the same.
        turn = self._epoch + self._seen[content]
        self._seen[content] += 1
        return derived(self._seed, content, turn)


def _weighted(originals: PackedGraphs, made: PackedGraphs) -> PackedGraphs:
    """Return the originals with weight 1 on every edge, where the method made weighted edges."""
    if "edge_weight" not in made.edge or "edge_weight" in originals.edge:
        return originals
    like = made.edge["edge_weight"]
    ones = torch.ones(originals.edge_index.shape[1], dtype=like.dtype, device=like.device)
    return replace(originals, edge={**originals.edge, "edge_weight": ones})
