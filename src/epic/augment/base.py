"""Base class of all augmentations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import BaseTransform
from typing_extensions import Self

from epic._threads import few_threads
from epic.augment import checks
from epic.augment.findings import Findings
from epic.augment.generation import AugmentedLoader, generate_graphs
from epic.augment.mixtures import PARENTS, named_alike
from epic.augment.notices import Notices
from epic.augment.params import Parameters, param
from epic.augment.sampling import BatchSeeds, pick_graphs
from epic.errors import InputError
from epic.graphs.convert import names_nodes, pack, with_graph_attributes
from epic.graphs.packed import Graphs, PackedGraphs, join, weighted_alike
from epic.labels import TASKS, soft_labels, typed
from epic.random import Seed, base_seed, check_seed, uniform


@dataclass(frozen=True)
class MethodInfo:
    """Facts about a method that ``epic methods`` lists.

    Attributes:
        paper: Where it was published.
        changes: What differs in an augmented graph.
        cost: Where its time goes.
        needs: What it must have or prepare.
        label: How augmented graphs get their labels.
        edge_attr: What becomes of edge attributes.
    """

    paper: str
    changes: str
    cost: str
    needs: str = "nothing"
    label: str = "unchanged"
    edge_attr: str = "kept"


class Augmentation(Parameters, BaseTransform):
    """Base class of all augmentations, which are PyG transforms.

    A ``Batch`` (or a list of graphs, so that it serves as ``collate_fn`` of torch's DataLoader) gives a ``Batch`` of
    originals and augmented graphs; ``batch.augmented`` marks the new ones. A method that changes one graph at a time
    also takes a ``Data`` and gives a ``Data``, so it can be the ``transform`` of a dataset: each graph is then changed
    with probability ``ratio``, and ``replace`` is ignored. A method that mixes graphs needs a ``Batch``.

    Methods that mix labels make ``y`` float ``[B, C]`` (real numbers ``[B]`` stay ``[B]``); all others leave it as it
    is. What a method does not change travels with its graph, attributes of whole graphs included. A mixture of two
    graphs keeps none of them. It gets a ``name``, ``urea -> glycine``, if its parents have names or rows of a file.

    A new method overrides :meth:`augment_graphs`, and :meth:`prepare` if it has something to learn or to count, and
    declares its hyper-parameters with :func:`epic.augment.param`. :class:`epic.testing.AugmentationTester` checks it.
    A method that acts in the loss is a :class:`epic.augment.TrainingMethod`.

    With the same ``seed``, calls in the same order give the same graphs, whatever the number of workers; a batch that
    comes again gives new graphs. In workers that start again every epoch, :meth:`set_epoch` must tell epochs apart;
    :meth:`loader` does it.
    """

    info: ClassVar[MethodInfo]
    mixes: ClassVar[bool] = False
    """Whether it mixes graphs, or their labels."""
    makes_graphs: ClassVar[bool] = True
    learns: ClassVar[bool] = False
    """Whether :meth:`fit` trains something other than a cost, and so takes ``epochs``."""
    stores: ClassVar[bool] = False
    """Whether :meth:`fit` takes long, and so takes ``progress``, and a ``folder`` to keep what it makes in."""
    follows_degrees: ClassVar[bool] = True
    """Whether degree features of augmented graphs are computed again."""

    ratio: float = param(
        default=0.5, grid=(0.5, 0.2, 1.0), check=checks.ratio, help="augmented graphs for each original one"
    )
    replace: bool = param(
        default=False, check=checks.flag, help="whether they take the place of as many originals, or are added to them"
    )
    seed: Seed = param(
        default=0,
        check=check_seed,
        help="an int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed",
    )
    num_classes: int | None = param(
        default=None,
        check=checks.optional(checks.count),
        help="number of classes, for methods that mix; None takes it from the graphs of fit",
    )
    degree_features: bool | None = param(
        default=None,
        check=checks.optional(checks.flag),
        help="whether x holds node degrees, which are computed again after each change; None decides by the first "
        "graphs seen",
    )
    task: str | None = param(
        default=None,
        check=checks.optional(checks.one_of(TASKS)),
        help="what labels are: classes, binary or values; None decides by the first graphs seen",
    )

    def __post_init__(self) -> None:
        self.found_ = Findings()
        self._notices = Notices()
        self._seeds = BatchSeeds(base_seed(self.seed))

    def check_params(self) -> None:
        if self.replace and self.ratio > 1:
            raise InputError(f"ratio must lie between 0 and 1 where graphs are replaced, got {self.ratio}")

    def set_params(self, **params: Any) -> Self:
        super().set_params(**params)
        if "seed" in params:
            self._seeds = BatchSeeds(base_seed(self.seed))
        return self

    @property
    def seed_(self) -> int:
        """The number that everything random derives from."""
        return self._seeds.seed

    @property
    def num_classes_(self) -> int | None:
        """The number of classes, as given or as found; None if labels are not classes."""
        return self.found_.num_classes if self.num_classes is None else self.num_classes

    @property
    def task_(self) -> str | None:
        """What labels are, as given or as found."""
        return self.found_.task if self.task is None else self.task

    # To override

    def prepare(self, graphs: PackedGraphs, **options: Any) -> None:
        """Learn or count what is needed. Called by :meth:`fit`.

        Args:
            graphs: The training graphs, with their labels as given.
            options: Options of :meth:`fit`.
        """
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

        The shares are found by making the same graphs again with a unique label for every original. A method whose
        :meth:`augment_graphs` reads labels may override this.

        Args:
            graphs: The originals.
            picked: As in :meth:`augment_graphs`.
            generator: A generator in the state in which ``made`` was made.
            made: What :meth:`make_graphs` gave.

        Returns:
            The shares; None if labels do not come from labels of single graphs.
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
        self.found_ = Findings.of_labels(dataset, packed, self.task)
        self.examine(packed, decide=True)
        self.prepare(packed, **options)
        return self

    def before_training(self, graphs: PackedGraphs) -> PackedGraphs:
        """Return training graphs with what can be computed of each ahead of training; most methods add nothing."""
        return graphs

    def fingerprint(self) -> str:
        """Return a text that differs where augmented graphs do; a method that learns adds what it learned."""
        return f"{type(self).__name__}({ ({**self.get_params(), 'seed': self.seed_}) })"

    def set_label_type(self, task: str, num_classes: int | None) -> None:
        """State what labels are, where the caller knows it: batches need not show all classes.

        Arguments of the constructor take precedence, and the next :meth:`fit` finds both again.

        Args:
            task: What labels are, one of :data:`epic.labels.TASKS`.
            num_classes: Number of classes, if labels are classes.
        """
        task = checks.one_of(TASKS)(task, "task")
        self.found_ = replace(self.found_, task=task, num_classes=num_classes)

    @torch.no_grad()
    def forward(self, data: Graphs) -> Batch | Data:
        """Augment a ``Batch``, a list of graphs, or one ``Data``; see the class."""
        with few_threads():
            if isinstance(data, Data) and not isinstance(data, Batch):
                return self._augment_one(data)
            packed = pack(data, check=False)
            batch = self._augment_batch(data, packed, self._seeds.generator(packed))
            if self._notices.fresh or len(packed) == 1:
                self._notices.look(self, data, packed, batch)
            return batch

    @torch.no_grad()
    def augment_batch(self, graphs: Graphs, generator: torch.Generator) -> Batch:
        """Return an augmented batch that does not depend on what was augmented before.

        Args:
            graphs: The originals.
            generator: The only source of randomness.
        """
        with few_threads():
            return self._augment_batch(graphs, pack(graphs, check=False), generator)

    def _augment_batch(self, graphs: Graphs, packed: PackedGraphs, generator: torch.Generator) -> Batch:
        """Augment a batch, given both as the caller has it and packed."""
        originals = self._with_labels(packed)
        result, identity = originals, torch.arange(len(originals))
        count = round(self.ratio * len(originals)) if self.makes_graphs else 0
        picked = pick_graphs(originals, count, generator)
        made = self._make_graphs(originals, picked, generator) if picked.numel() else None
        if made is not None:
            chosen = picked.cpu()
            if self.replace:
                identity = identity[~torch.isin(identity, chosen)]
                result = originals.select(identity.to(picked.device))
            result = join([weighted_alike(named_alike(result, made), made).only(made), made])
            identity = torch.cat([identity, torch.full_like(chosen, -1) if self.mixes else chosen])
        new = torch.arange(len(result)) >= len(result) - (0 if made is None else len(made))
        batch = self._finish(self._as_given(result, packed), new.to(result.ptr.device))
        return with_graph_attributes(batch, graphs=graphs, packed=originals, identity=identity)

    def make_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        """Return what :meth:`augment_graphs` makes, with degree features that follow the edges.

        Args:
            graphs: The originals.
            picked: Numbers of graphs.
            generator: The only source of randomness.
        """
        with few_threads():
            made = self._make_graphs(self._with_labels(graphs), picked, generator)
            return None if made is None else self._as_given(made, graphs)

    def _make_graphs(self, graphs: PackedGraphs, picked: Tensor, generator: torch.Generator) -> PackedGraphs | None:
        made = self.augment_graphs(graphs, picked, generator)
        if made is None:
            return None
        # A changed graph is not the one of that name; a mixture is called by its parents, if these are known.
        names = made.per_graph.get(PARENTS)
        made, degrees = replace(made, per_graph={} if names is None else {"name": names}), self.found_.degrees
        return made if degrees is None or not self.follows_degrees else degrees.refresh(made)

    def generate(
        self, dataset: Graphs, *, count: int, seed: Seed = 0, start: int = 0, progress: bool = False
    ) -> Iterator[Data]:
        """Return an iterator over augmented graphs made from the whole dataset.

        Graph number i depends on the dataset, ``seed`` and i alone.

        Args:
            dataset: The originals.
            count: How many graphs to make.
            seed: An int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed.
            start: The number of the first graph, to continue an earlier run or to share the work among machines.
            progress: Whether to show a progress bar.
        """
        packed, number = pack(dataset), base_seed(seed)
        return generate_graphs(self, packed, count=count, seed=number, start=start, progress=progress)

    def loader(self, dataset: Any, *, batch_size: int = 128, **options: Any) -> AugmentedLoader:
        """Return a DataLoader whose batches are augmented, in its workers if it has any.

        Args:
            dataset: Any sequence of graphs.
            batch_size: Original graphs in a batch.
            options: Further options of torch's DataLoader. With ``shuffle=True`` the order follows the seed of this
                method, unless a ``generator`` is given. (PyG's own DataLoader ignores ``collate_fn``.)
        """
        return AugmentedLoader(self, dataset, batch_size=batch_size, **options)

    def begin_pass(self) -> None:
        """State that a pass over a :meth:`loader` begins: epochs go on from one loader to the next."""
        self._seeds.set_epoch(self._seeds.passes)
        self._seeds.passes += 1

    def set_epoch(self, epoch: int) -> None:
        """State which epoch begins, where workers start again each epoch and batches repeat."""
        self._seeds.set_epoch(epoch)

    @torch.no_grad()
    def eval_batch(self, batch: Graphs) -> Batch:
        """Return a batch as a model trained on this method's output expects it, with nothing added.

        Use it for validation and test.
        """
        packed = pack(batch)
        originals = packed if packed.y is None else self._with_labels(packed)
        scaled = self._as_given(self.scale(originals), packed)
        result = self._finish(scaled, torch.zeros_like(scaled.sizes, dtype=torch.bool))
        return with_graph_attributes(result, graphs=batch, packed=originals, identity=torch.arange(len(originals)))

    def scale(self, graphs: PackedGraphs) -> PackedGraphs:
        """Return evaluation graphs on the scale that the model sees in training; most methods change nothing."""
        return graphs

    def mark(self, graphs: PackedGraphs, new: Tensor) -> PackedGraphs:
        """Return graphs marked for the model; most methods add nothing.

        Args:
            graphs: The graphs.
            new: Which of them are augmented.
        """
        return graphs

    def examine(self, graphs: PackedGraphs, *, decide: bool = False) -> None:
        """Find out what labels are and whether ``x`` holds degrees, unless it is known.

        Args:
            graphs: Graphs to look at.
            decide: Whether to settle the second question even if these graphs are inconclusive (all rows of ``x``
                equal, or no edges).
        """
        if not self.found_.decided:
            looks = self.makes_graphs and self.follows_degrees
            said = self.degree_features if self.degree_features is not None or looks else False
            self.found_ = self.found_.with_graphs(graphs, said, decide)

    def _augment_one(self, data: Data) -> Data:
        """Change a single graph with probability ``ratio``; ``data`` is a copy that may be written to."""
        if self.mixes:
            raise InputError(
                f"{type(self).__name__} mixes graphs, so it needs a Batch (or a list of graphs) and got one Data: call "
                "it on the batches of a DataLoader, or use its loader()"
            )
        packed = pack(data, check=False)
        generator = self._seeds.generator(packed)
        if not self.makes_graphs or packed.num_nodes == 0 or float(uniform(1, generator)) >= self.ratio:
            return data
        made = self.make_graphs(packed, torch.zeros(1, dtype=torch.long, device=packed.ptr.device), generator)
        if made is None:
            return data
        stale = (packed.node.keys() - made.node.keys()) | (packed.edge.keys() - made.edge.keys())
        for key in [k for k in data.keys() if k in stale or names_nodes(k)]:  # noqa: SIM118  Data is no dict
            del data[key]
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
        return replace(graphs, y=soft_labels(typed(graphs.labels, self.task_), self.num_classes_))

    def _as_given(self, graphs: PackedGraphs, originals: PackedGraphs) -> PackedGraphs:
        """Return real values as ``[B]`` if they came so: a loss broadcasts ``[B]`` and ``[B, 1]`` to ``[B, B]``."""
        y = originals.y
        flat = y is not None and y.dim() == 1 and (y.is_floating_point() or self.task_ == "values")
        return replace(graphs, y=graphs.y[:, 0]) if flat and graphs.y is not None and graphs.y.dim() > 1 else graphs

    def _finish(self, graphs: PackedGraphs, new: Tensor) -> Batch:
        names = {k: v.tolist() for k, v in graphs.per_graph.items() if self.mixes and k == "name"}
        return self.mark(graphs, new).to_batch(augmented=new, **names)
