"""Checks that every augmentation must pass, for authors of methods.

Subclass :class:`AugmentationTester` in a test file of your own and run pytest, or call :func:`run_checks`:

    class TestMine(AugmentationTester):
        def method(self):
            return Mine(seed=0)

Every check compares something, or skips and says why.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any, ClassVar
from unittest import SkipTest

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module
from torch.utils.data import DataLoader
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import OneHotDegree

from epic.augment.base import Augmentation
from epic.augment.training import TrainingSteps, training_steps
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.nn.backbones import backbone_for
from epic.random import derived

KINDS: dict[str, dict[str, Any]] = {
    "edge attributes": {},
    "one-hot features": {"x": "onehot", "edge_width": None},
    "flat edge attribute": {"x": "onehot", "edge_width": 0},
    "isolated nodes": {"x": "onehot", "density": 0.05},
    "one node": {"x": "onehot", "nodes": 1},
    "few nodes": {"x": "onehot", "nodes": 2},
    "directed": {"x": "onehot", "directed": True},
    "integer categories": {"x": "int", "edge_width": None},
}
"""Kinds of graphs that a method may meet, each as options of :func:`random_graphs`."""


def random_graph(
    rng: np.random.Generator,
    nodes: int,
    *,
    density: float = 0.4,
    directed: bool = False,
    loops: bool = False,
    x: str | None = "float",
    edge_width: int | None = 2,
    y: object = None,
) -> Data:
    """Return a random graph.

    Args:
        rng: The source of randomness.
        nodes: Number of nodes.
        density: Chance of each edge.
        directed: Whether edges go one way.
        loops: Whether nodes may have edges to themselves.
        x: Node features: ``float``, ``int``, ``onehot`` or None.
        edge_width: Width of edge attributes; None for none, 0 for a flat vector.
        y: The label.
    """
    a = rng.random((nodes, nodes)) < density
    if not loops:
        np.fill_diagonal(a, False)
    if not directed:
        a = np.triu(a)
        a = a | a.T
    edges = np.argwhere(a)
    edges = edges[rng.permutation(len(edges))]  # any order of edges must survive
    data = Data(edge_index=torch.from_numpy(edges.T.copy()).long().reshape(2, -1), num_nodes=nodes)
    if x == "float":
        data.x = torch.from_numpy(rng.normal(size=(nodes, 3))).float()
    elif x == "int":
        data.x = torch.from_numpy(rng.integers(0, 4, size=(nodes, 2)))
    elif x == "onehot":
        data.x = torch.eye(3)[torch.from_numpy(rng.integers(0, 3, size=nodes))]
    if edge_width is not None:
        shape = (len(edges),) if edge_width == 0 else (len(edges), edge_width)
        value = torch.from_numpy(rng.normal(size=shape)).float()
        if not directed and len(edges):  # both directions of an edge carry the same attribute
            _, first, edge = np.unique(np.sort(edges, 1), axis=0, return_index=True, return_inverse=True)
            value = value[first[edge.reshape(-1)]]
        data.edge_attr = value
    if y is not None:
        data.y = torch.as_tensor(y)
    return data


def random_graphs(
    count: int = 12, *, num_classes: int = 3, seed: int = 0, nodes: int | None = None, **kind: Any
) -> list[Data]:
    """Return labelled graphs of 3 to 11 nodes (or of ``nodes``); ``kind`` are options of :func:`random_graph`."""
    rng = np.random.default_rng(seed)
    return [random_graph(rng, nodes or int(rng.integers(3, 12)), y=[i % num_classes], **kind) for i in range(count)]


def augment_with_seed(method: Augmentation, originals: list[Data], seed: int = 0) -> Batch:
    """Return the augmented batch of the graphs, as a function of ``seed`` alone."""
    return method.augment_batch(Batch.from_data_list(originals), derived(seed))


def augmented_graphs(method: Augmentation, originals: list[Data], seed: int = 0) -> list[Data]:
    """Return only the new graphs of an augmented batch."""
    return _split(augment_with_seed(method, originals, seed))[1]


class AugmentationTester:
    """The shared tests. Subclass it and define :meth:`method`."""

    refuses: ClassVar[tuple[str, ...]] = ()
    """Kinds of graphs (:data:`KINDS`) that it must refuse with an ``InputError``."""
    fit_options: ClassVar[dict[str, Any]] = {}
    """Options of ``fit``."""
    keeps_features: ClassVar[bool] = True
    """Whether a node of an augmented graph has the features of some node of an original."""
    keeps_attributes: ClassVar[bool] = True
    """Whether nodes of augmented graphs keep attributes other than ``x``."""

    def method(self) -> Augmentation:
        """Return a new object to test."""
        raise NotImplementedError

    def fitted(self, originals: list[Data]) -> Augmentation:
        """Return a new object, fitted."""
        return self.method().fit(originals, **self.fit_options)

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Let pytest run the checks on every kind of graphs that the method takes (or refuses)."""
        if "any_kind" in metafunc.fixturenames:
            metafunc.parametrize("any_kind", KINDS)
        if "kind" in metafunc.fixturenames:
            metafunc.parametrize("kind", [k for k in KINDS if k not in self.refuses])

    def test_takes_or_refuses(self, any_kind: str) -> None:
        """A kind of graphs either works up to a finite loss, or is refused with a message that says why."""
        originals = random_graphs(**KINDS[any_kind])
        try:
            steps, model = _model(self.fitted(originals), originals)
            loss, reason = steps.loss(model, Batch.from_data_list(originals)), ""
        except InputError as error:
            loss, reason = torch.zeros(()), str(error)
        assert (any_kind in self.refuses) == bool(reason), reason or "it was not refused"
        assert not reason or len(reason.split()) > 5, "the message says what is wrong and what to do"
        assert torch.isfinite(loss)

    def test_labels_shapes_and_dtypes(self, kind: str) -> None:
        originals = random_graphs(**KINDS[kind])
        method = self.fitted(originals)
        out, source = augment_with_seed(method, originals, 1), Batch.from_data_list(originals)
        if method.mixes:
            assert out.y.dtype == torch.float
            assert out.y.shape == (out.num_graphs, 3)
            assert torch.allclose(out.y.sum(1), torch.ones(out.num_graphs), atol=1e-5)
            assert bool((out.y >= 0).all())
        else:
            assert out.y.dtype == source.y.dtype
            assert out.y.shape == (out.num_graphs, *source.y.shape[1:])
        for key in ("x", "edge_attr"):
            if key in source:
                assert out[key].dtype == source[key].dtype
                assert out[key].shape[1:] == source[key].shape[1:]
                assert torch.isfinite(out[key].float()).all()
        assert "edge_attr" not in source or len(out.edge_attr) == out.edge_index.shape[1]
        if "edge_weight" in out:
            assert out.edge_weight.shape == (out.edge_index.shape[1],)
            assert bool((out.edge_weight > 0).all())
        count = round(method.ratio * len(originals)) if method.makes_graphs else 0
        assert int(out.augmented.sum()) in (count, 0)
        assert out.num_graphs == len(originals) + (0 if method.replace else int(out.augmented.sum()))

    def test_originals_are_not_changed(self, kind: str) -> None:
        originals = random_graphs(**KINDS[kind])
        method = self.fitted(originals)
        source = Batch.from_data_list(originals)
        before = source.clone()
        kept, _ = _split(method.augment_batch(source, derived(1)))
        for key, value in _tensors(before).items():
            assert torch.equal(source[key], value), key
        assert method.replace or len(kept) == len(originals)
        rest = iter(originals)  # those that are kept come in their order
        for got in kept:
            original = next(g for g in rest if torch.equal(g.x, got.x) and torch.equal(g.edge_index, got.edge_index))
            assert int(got.y.argmax() if method.mixes else got.y) == int(original.y)

    def test_same_seed_same_graphs(self, kind: str) -> None:
        originals = random_graphs(**KINDS[kind])
        state = torch.random.get_rng_state()
        one, two = (self.fitted(originals)(Batch.from_data_list(originals)) for _ in range(2))
        assert torch.equal(torch.random.get_rng_state(), state), "the global random state was moved"
        for key, value in _tensors(one).items():
            assert torch.equal(two[key], value), key

    def test_no_graph_is_empty_and_none_leaks(self, kind: str) -> None:
        originals = random_graphs(**KINDS[kind])
        out = augment_with_seed(self.fitted(originals), originals, 2)
        packed = pack(out)  # refuses edges between graphs, edges out of range, NaN
        assert int(packed.sizes.min()) >= 1
        assert torch.equal(out.batch, packed.graph_of_node)

    def test_attributes_travel_with_their_nodes(self, kind: str) -> None:
        """Every node has a number; where it comes to, the features of that node come too."""
        originals = random_graphs(**KINDS[kind])
        for g, data in enumerate(originals):
            data.number = 100 * g + torch.arange(data.num_nodes)
        kept, new = _split(augment_with_seed(self.fitted(originals), originals))
        assert kept or new
        if new and not self.keeps_attributes:
            assert all("number" not in data for data in [*kept, *new])
            return
        for data in [*kept, *new]:
            assert len((data.number // 100).unique()) <= 2, "of two originals at most"
            homes = torch.stack([originals[n // 100].x[n % 100] for n in data.number.tolist()])
            if self.keeps_features or data in kept:
                assert torch.equal(data.x[:, : homes.shape[1]], homes)

    def test_attributes_of_graphs_travel(self) -> None:
        """Graphs that keep their identity keep their names; a batch with mixtures has none."""
        originals = random_graphs(x="onehot")
        for g, data in enumerate(originals):
            data.title, data.fold = f"graph {g}", torch.tensor([g])
        method = self.fitted(originals)
        kept, new = _split(augment_with_seed(method, originals))
        if method.mixes and new:
            assert all("title" not in data and "fold" not in data for data in [*kept, *new])
            return
        for data in [*kept, *new]:
            origin = originals[int(data.title.split()[1])]
            assert int(data.fold) == int(origin.fold)
            assert int(data.y.argmax() if method.mixes else data.y) == int(origin.y)

    def test_one_graph(self) -> None:
        """A method that changes one graph at a time also takes a ``Data``; one that mixes says what it needs."""
        originals = random_graphs(x="onehot")
        method = self.fitted(originals)
        data = originals[0].clone()
        data.title = "first"
        before = data.clone()
        if method.mixes:
            try:
                reason = str(method(data))
            except InputError as error:
                reason = str(error)
            assert "needs a Batch" in reason
            return
        for _ in range(5):
            out = method(data)
            assert type(out) is Data
            assert torch.equal(out.y, before.y)
            assert out.y.dtype == before.y.dtype
            assert out.title == "first"
            assert out.validate()
            assert out.num_nodes == len(out.x) > 0
        for key, value in before.to_dict().items():
            assert torch.equal(data[key], value) if isinstance(value, Tensor) else data[key] == value

    def test_degree_features_follow_the_edges(self) -> None:
        """One-hot degrees go in, one-hot degrees come out."""
        originals = [OneHotDegree(11)(g) for g in random_graphs(x=None, edge_width=None, density=0.5)]
        method = self.method()
        if not method.makes_graphs or not method.follows_degrees:
            raise SkipTest("it leaves degree features as they are")
        new = augmented_graphs(method.set_params(degree_features=True).fit(originals, **self.fit_options), originals)
        if not new:
            raise SkipTest("it makes no graphs outside of a training step")
        for data in new:
            degree = torch.bincount(data.edge_index[0], minlength=data.num_nodes)
            assert torch.equal(data.x[:, :12].argmax(1), degree)
            assert torch.equal(data.x[:, :12].sum(1), torch.ones(data.num_nodes))

    def test_in_a_loader_worker(self) -> None:
        originals = random_graphs(x="onehot")
        here = list(DataLoader(originals, 4, collate_fn=self.fitted(originals)))  # type: ignore[arg-type]
        there = list(DataLoader(originals, 4, collate_fn=self.fitted(originals), num_workers=1))  # type: ignore[arg-type]
        for a, b in zip(here, there, strict=True):
            assert torch.equal(a.edge_index, b.edge_index)
            assert torch.equal(a.y, b.y)

    def test_can_be_sent_to_another_process(self) -> None:
        originals = random_graphs(x="onehot")
        method = self.fitted(originals)
        one, two = (augment_with_seed(m, originals) for m in (method, pickle.loads(pickle.dumps(method))))
        assert torch.equal(one.x, two.x)
        assert torch.equal(one.edge_index, two.edge_index)

    def test_its_loss_trains_a_model(self, kind: str) -> None:
        originals = random_graphs(**KINDS[kind])
        method = self.fitted(originals)
        steps, model = _model(method, originals)
        optimizer = torch.optim.Adam(model.parameters())
        for epoch in range(2):
            steps.on_epoch_start(model, epoch)
            optimizer.zero_grad()
            value = steps.loss(model, Batch.from_data_list(originals))
            assert value.dim() == 0
            assert torch.isfinite(value)
            value.backward()
            assert any(p.grad is not None and bool((p.grad != 0).any()) for p in model.parameters())
            optimizer.step()
        steps.on_train_end(model)
        model.eval()
        assert model(method.eval_batch(Batch.from_data_list(originals))).shape == (len(originals), 3)

    def test_fit_changes_no_parameter(self) -> None:
        originals = random_graphs(x="onehot")
        method = self.method()
        before = method.get_params()
        after = method.fit(originals, **self.fit_options).get_params()
        assert before.keys() == after.keys()
        assert all(after[name] is value for name, value in before.items())

    def test_parameters_make_it_again(self) -> None:
        method = self.method()
        again = type(method)(**method.get_params())
        assert all(again.get_params()[name] is value for name, value in method.get_params().items())
        assert repr(again) == repr(method)
        assert all(p.help for p in method.params.values()), "every parameter says what it does"

    def test_it_tells_about_itself(self) -> None:
        info = type(self.method()).info
        assert all(getattr(info, f) for f in ("paper", "changes", "needs", "label", "edge_attr", "cost"))


def run_checks(tester: AugmentationTester) -> dict[str, str]:
    """Run all checks without pytest.

    Returns:
        For each check, with its kind of graphs: ``passed``, or ``skipped`` and why.

    Raises:
        AssertionError: If a check fails.
    """
    found = {}
    for name, arguments in _checks(tester):
        label = " ".join([name.removeprefix("test_").replace("_", " "), *(f"[{v}]" for v in arguments)])
        try:
            getattr(tester, name)(*arguments)
        except SkipTest as reason:
            found[label] = f"skipped: {reason}"
        else:
            found[label] = "passed"
    return found


def _checks(tester: AugmentationTester) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name in sorted(n for n in dir(tester) if n.startswith("test_")):
        takes = getattr(tester, name).__code__.co_varnames[1 : getattr(tester, name).__code__.co_argcount]
        if not takes:
            yield name, ()
        for kind in KINDS if takes else ():
            if takes == ("any_kind",) or kind not in tester.refuses:
                yield name, (kind,)


def _model(method: Augmentation, originals: list[Data]) -> tuple[TrainingSteps, Module]:
    """Return how a method trains, and a small classifier to be trained."""
    steps = training_steps(method)
    sample = pack(method.eval_batch(Batch.from_data_list(originals)))
    return steps, steps.wrap_model(backbone_for(sample, outputs=3, hidden_channels=8, num_layers=2))


def _split(batch: Batch) -> tuple[list[Data], list[Data]]:
    """Return the originals and the new graphs of a batch."""
    parts: tuple[list[Data], list[Data]] = ([], [])
    for data, new in zip(batch.to_data_list(), batch.augmented.tolist(), strict=True):
        parts[new].append(data)
    return parts


def _tensors(batch: Batch) -> dict[str, Tensor]:
    return {k: v for k, v in batch.to_dict().items() if isinstance(v, Tensor)}
