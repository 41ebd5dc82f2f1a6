"""What every method must do, whatever it does to graphs: one tester for all of them."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader as PlainLoader
from torch_geometric.data import Batch
from torch_geometric.transforms import OneHotDegree

from epic import InputError
from epic.augment import DropEdge
from epic.augment.base import Augmentation
from epic.graphs.convert import pack
from epic.train import backbone_for
from tests.sample_graphs import random_graph

KINDS = {
    "edge attributes": {},
    "one-hot features": {"x": "onehot", "edge_width": None},
    "flat edge attribute": {"x": "onehot", "edge_width": 0},
    "isolated nodes": {"x": "onehot", "density": 0.05},
    "one node": {"x": "onehot", "nodes": 1},
    "few nodes": {"x": "onehot", "nodes": 2},
    "directed": {"x": "onehot", "directed": True},
    "integer categories": {"x": "int", "edge_width": None},
}
"""Graphs of every awkward kind that a method may meet."""


def graphs(count=12, num_classes=3, seed=0, nodes=None, **kind):
    rng = np.random.default_rng(seed)
    return [random_graph(rng, nodes or int(rng.integers(3, 12)), y=[i % num_classes], **kind) for i in range(count)]


def made(method, originals, seed=0):
    """The augmented graphs of a batch, as a list."""
    out = method(Batch.from_data_list(originals), seed=seed)
    return [g for g, new in zip(out.to_data_list(), out.augmented.tolist(), strict=True) if new]


def tensors(batch):
    return {k: v for k, v in batch.to_dict().items() if isinstance(v, torch.Tensor)}


def _first_step(method, originals, fit_options):
    """Fit, and compute a loss: where a method has to refuse at the latest."""
    method.fit(originals, **fit_options)
    model = method.wrap_model(backbone_for(pack(originals), 3, hidden_channels=8, num_layers=2))
    method.loss(model, Batch.from_data_list(originals))


class SlowAtFirst(DropEdge):
    """Takes long at its first call, as what has to be compiled does."""

    seconds = 1.0
    fresh = True

    def augment_graphs(self, graphs, picked, generator):
        if self.fresh:
            time.sleep(self.seconds)
        self.fresh = False
        return super().augment_graphs(graphs, picked, generator)


class AugmentationTester:
    """Subclass it, and say in ``method()`` how the method is made; ``refuses`` names kinds of graphs it cannot take."""

    refuses: tuple[str, ...] = ()
    fit_options: dict = {}
    mixes_features = False

    def method(self) -> Augmentation:
        """The method to test, made anew at each call: every subclass says which."""
        raise NotImplementedError

    def fitted(self, originals) -> Augmentation:
        return self.method().fit(originals, **self.fit_options)

    @pytest.fixture
    def originals(self, kind):
        """Graphs of each kind that the method takes; conftest.py goes through them."""
        return graphs(**KINDS[kind])

    def test_refuses_what_it_cannot_take(self):
        for kind in self.refuses:
            found = graphs(**KINDS[kind])
            with pytest.raises(InputError, match=r"\w+ .*(holds|needs|has)"):
                _first_step(self.method(), found, self.fit_options)

    def test_labels_shapes_and_dtypes(self, originals):
        out = self.fitted(originals)(Batch.from_data_list(originals), seed=1)
        assert out.y.dtype == torch.float
        assert out.y.shape == (out.num_graphs, 3)
        assert torch.allclose(out.y.sum(1), torch.ones(out.num_graphs), atol=1e-5)
        assert bool((out.y >= 0).all())
        assert out.x.dtype == originals[0].x.dtype
        assert out.x.shape[1:] == originals[0].x.shape[1:]
        assert torch.isfinite(out.x.float()).all()
        if originals[0].edge_attr is not None:
            assert out.edge_attr.dtype == originals[0].edge_attr.dtype
            assert out.edge_attr.shape == (out.edge_index.shape[1], *originals[0].edge_attr.shape[1:])
            assert torch.isfinite(out.edge_attr).all()
        if "edge_weight" in out:
            assert out.edge_weight.shape == (out.edge_index.shape[1],)
            assert bool((out.edge_weight > 0).all())
        assert out.augmented.shape == (out.num_graphs,)

    def test_originals_are_not_changed(self, originals):
        source = Batch.from_data_list(originals)
        before = source.clone()
        method = self.fitted(originals)
        out = method(source, seed=1)
        for key, value in tensors(before).items():
            assert torch.equal(source[key], value), key
        kept = [g for g, new in zip(out.to_data_list(), out.augmented.tolist(), strict=True) if not new]
        if not method.replace:
            assert len(kept) == len(originals)
            for got, original in zip(kept, originals, strict=True):
                assert torch.equal(got.x, original.x)
                assert torch.equal(got.edge_index, original.edge_index)
                assert int(got.y.argmax()) == int(original.y)

    def test_same_seed_same_batch(self, originals):
        batch = Batch.from_data_list(originals)
        method = self.fitted(originals)
        state = torch.random.get_rng_state()
        one, two = method(batch, seed=3), method(batch, seed=3)
        assert torch.equal(torch.random.get_rng_state(), state), "the global random state was moved"
        for key, value in tensors(one).items():
            assert torch.equal(two[key], value), key

    def test_no_graph_is_empty_and_none_leaks_into_another(self, originals):
        out = self.fitted(originals)(Batch.from_data_list(originals), seed=2)
        packed = pack(out)  # refuses edges between graphs, edges out of range, NaN
        assert int(packed.sizes.min()) >= 1
        assert torch.equal(out.batch, packed.graph_of_node)

    def test_attributes_travel_with_their_nodes(self, originals):
        """Every node has a number; where a made graph still has it, it must be whole: the features belong to it."""
        for g, data in enumerate(originals):
            data.number = 100 * g + torch.arange(data.num_nodes)
        method = self.fitted(originals)
        for data in made(method, originals):
            if "number" not in data or getattr(method, "mode", None) == "zero":
                continue
            for row, number in zip(data.x, data.number.tolist(), strict=True):
                home = originals[number // 100].x[number % 100]
                assert self.mixes_features or torch.equal(row[: home.numel()], home)

    def test_degree_features_follow_the_edges(self):
        """One-hot degrees go in, one-hot degrees come out, unless the method says that it treats them otherwise."""
        originals = [OneHotDegree(11)(g) for g in graphs(x=None, edge_width=None, density=0.5)]
        method = self.method()
        if not method.follows_degrees or ("integer categories" in self.refuses and not method.makes_graphs):
            return
        method.degree_features = True
        method.fit(originals, **self.fit_options)
        for data in made(method, originals):
            degree = torch.bincount(data.edge_index[0], minlength=data.num_nodes)
            assert torch.equal(data.x[:, :12].argmax(1), degree)
            assert torch.equal(data.x[:, :12].sum(1), torch.ones(data.num_nodes))

    def test_in_a_loader_worker(self):
        originals = graphs(x="onehot")
        method = self.fitted(originals)
        here = list(PlainLoader(originals, 4, collate_fn=method))
        method = self.fitted(originals)
        there = list(PlainLoader(originals, 4, collate_fn=method, num_workers=1))
        for a, b in zip(here, there, strict=True):
            assert torch.equal(a.edge_index, b.edge_index)
            assert torch.equal(a.y, b.y)

    def test_can_be_sent_to_another_process(self):
        originals = graphs(x="onehot")
        method = self.fitted(originals)
        batch = Batch.from_data_list(originals)
        assert torch.equal(pickle.loads(pickle.dumps(method))(batch, seed=0).x, method(batch, seed=0).x)

    def test_its_loss_trains_a_model(self, originals):
        method = self.fitted(originals)
        sample = pack(method.eval_batch(Batch.from_data_list(originals)))
        model = method.wrap_model(backbone_for(sample, 3, hidden_channels=8, num_layers=2))
        optimizer = torch.optim.Adam(model.parameters())
        for epoch in range(2):
            method.begin_epoch(model, epoch)
            optimizer.zero_grad()
            value = method.loss(model, Batch.from_data_list(originals))
            assert value.dim() == 0
            assert torch.isfinite(value)
            value.backward()
            assert any(p.grad is not None and bool((p.grad != 0).any()) for p in model.parameters())
            optimizer.step()
        model.eval()
        assert model(method.eval_batch(Batch.from_data_list(originals))).shape == (len(originals), 3)

    def test_settings_make_it_again(self):
        method = self.method()
        settings = method.settings()
        assert type(method)(**settings).settings() == settings

    def test_it_tells_about_itself(self):
        kind = type(self.method())
        assert all(getattr(kind.about, f) for f in ("paper", "changes", "needs", "label", "edge_attr", "cost"))
        defaults = kind().settings()
        for name, values in kind.grid.items():
            assert defaults[name] == values[0], "the first value of a grid is the default"
