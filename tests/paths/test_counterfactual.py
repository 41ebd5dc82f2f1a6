"""Counterfactuals of models that are known: what they change, what it costs, and that nothing can be spared."""

import itertools

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import global_add_pool

from epic import EPIC, EdgeCost, InputError, LearnedCost, UnitCost, counterfactual, pack
from epic.data import lollipop, lollipop_graph
from epic.paths.counterfactual import _cost, _graphs
from epic.random import base_seed
from tests.sample_graphs import random_graphs


def by_size(batch):
    """Class 1 from ten nodes on."""
    return batch.batch.bincount() - 9.5


def reds(batch):
    """Two scores: class 1 if more than half of the nodes have the first colour."""
    share = global_add_pool(batch.x[:, 0], batch.batch) / batch.batch.bincount()
    return torch.stack([0.5 - share, share - 0.5], dim=1)


def test_it_inserts_what_is_missing_and_no_more():
    found = counterfactual(lollipop_graph(4, 3), by_size, reference=lollipop(30, seed=0))
    assert (found.before, found.after, found.step, found.cost) == (0, 1, 3, 3.0)
    assert {op.kind for op in found.operations} == {"insert"}
    assert found.graph.num_nodes == 10
    assert "class 0 -> 1 by 3 of" in repr(found)


def test_a_generator_is_drawn_from_once():
    generator = torch.Generator().manual_seed(3)
    counterfactual(lollipop_graph(4, 3), by_size, reference=lollipop(30, seed=0), k=3, tries=2, seed=generator)
    once = torch.Generator().manual_seed(3)
    base_seed(once)
    assert torch.equal(generator.get_state(), once.get_state())


def test_graphs_and_classes_are_called_by_their_names():
    reference = [lollipop_graph(4, 3), lollipop_graph(5, 6)]
    for graph, name in zip(reference, ("short", "long"), strict=True):
        graph.name, graph.class_names = name, ("small", "large")
    found = counterfactual(reference[0], by_size, reference=reference)
    told = "Counterfactual(short: class small -> large by 3 of 11 operations towards long, cost 3.000 of "
    assert repr(found).startswith(told)
    assert repr(found.path).startswith("EditPath(short -> long: 7 -> 11 nodes, ")


def test_it_deletes_on_the_way_back():
    found = counterfactual(lollipop_graph(6, 6), by_size, reference=lollipop(30, seed=0))
    assert (found.before, found.after, found.step) == (1, 0, 3)
    assert {op.kind for op in found.operations} == {"delete"}


@pytest.mark.parametrize("matching", ["nodes", "edges"])
def test_no_operation_can_be_spared(matching):
    graphs = random_graphs(24, x="onehot")
    classes = reds(Batch.from_data_list(graphs)).argmax(1)
    assert 0 < int(classes.sum()) < len(graphs)
    for number in range(6):
        prices = {"edge_cost": EdgeCost(0.5)} if matching == "edges" else {}
        found = counterfactual(graphs[number], reds, reference=graphs, matching=matching, **prices)
        assert reds(Batch.from_data_list([found.graph])).argmax() == found.after != found.before
        assert found.after == classes[found.reference]
        done = found.path._rank < found.step
        assert found.cost == pytest.approx(_cost(found.path._ops, done))
        assert found.cost <= found.path.distance + 1e-9
        for at in np.flatnonzero(done):
            fewer = done.copy()
            fewer[at] = False
            left = _graphs(found.path, [fewer])
            assert left.num_nodes == 0 or reds(left.to_batch()).argmax() != found.after


def test_where_all_sets_can_be_tried_it_finds_the_cheapest():
    """A model that counts nodes: undoing in turn leaves a cheapest set of the same path."""
    graphs = [g for g in random_graphs(60, x="onehot") if g.num_nodes <= 6]
    for graph in graphs[:6]:
        found = counterfactual(graph, by_five, reference=graphs, k=1, tries=1)
        ops = found.path._ops
        every = [np.array(bits, dtype=bool) for bits in itertools.product((0, 1), repeat=len(found.path))]
        right = [s for s in every if by_class(_graphs(found.path, [s])) == found.after]
        assert found.cost == pytest.approx(min(_cost(ops, s) for s in right))


def by_five(batch):
    """Class 1 from five nodes on."""
    return (batch.batch.bincount() - 4.5)[:, None]


def by_class(graphs):
    return -1 if graphs.num_nodes == 0 else int(by_five(graphs.to_batch())[0, 0] > 0)


def test_a_target_class_is_reached_or_refused():
    train = lollipop(40, seed=0)

    def head(batch):
        """Score of each of four classes by the largest degree: the class is the size of the clique."""
        degree = torch.bincount(batch.edge_index[0], minlength=batch.num_nodes)
        top = torch.zeros(batch.num_graphs).scatter_reduce(0, batch.batch, degree.float(), "amax")
        return -(top[:, None] - torch.arange(4.0, 8.0)).abs()

    graph = lollipop_graph(4, 5)
    assert counterfactual(graph, head, reference=train, target=2).after == 2
    with pytest.raises(InputError, match="into class 0 already"):
        counterfactual(graph, head, reference=train, target=0)
    with pytest.raises(InputError, match="none of the 1 reference graphs into another class"):
        counterfactual(graph, head, reference=[lollipop_graph(4, 2)])
    with pytest.raises(InputError, match="the graph has no nodes"):
        counterfactual(Data(num_nodes=0, edge_index=torch.zeros(2, 0, dtype=torch.long)), head, reference=train)
    with pytest.raises(InputError, match="k must be a whole number of at least 1, got 0"):
        counterfactual(graph, head, reference=train, k=0)
    with pytest.raises(InputError, match="the model returns NaN"):
        counterfactual(graph, lambda batch: torch.full((batch.num_graphs, 2), torch.nan), reference=train)
    with pytest.raises(InputError, match="seed must be an int"):
        counterfactual(graph, head, reference=train, seed=0.5)
    with pytest.raises(InputError, match=r"must return scores \[1, classes\], got \(3,\)"):
        counterfactual(graph, lambda batch: torch.zeros(3), reference=train)


def test_modules_are_evaluated_and_put_back():
    class Net(torch.nn.Module):
        def forward(self, batch):
            assert not self.training
            return by_size(batch)

    net = Net().train()
    counterfactual(lollipop_graph(4, 3), net, reference=lollipop(30, seed=0))
    assert net.training


def test_learned_costs_and_degree_features():
    """The model sees degrees as they are after the edits."""
    from torch_geometric.transforms import OneHotDegree

    degrees = OneHotDegree(8, cat=False)
    train = [degrees(g) for g in lollipop(40, seed=0)]
    augment = EPIC(degree_features=True, seed=0).fit(train, epochs=1, progress=False)
    seen = []

    def model(batch):
        real = torch.bincount(batch.edge_index[0], minlength=batch.num_nodes)
        seen.append(bool((batch.x.argmax(1) == real.clamp(max=8)).all()))
        return by_size(batch)

    cost = augment.cost_
    assert isinstance(cost, LearnedCost)
    small = min(train, key=lambda g: g.num_nodes)
    found = counterfactual(small, model, reference=train, cost=cost, finish=augment.found_.degrees.refresh)
    assert all(seen)
    assert found.graph.num_nodes >= 10
    assert by_size(pack([found.graph]).to_batch())[0] > 0


def test_the_same_seed_gives_the_same_answer():
    graphs = random_graphs(20, x="onehot")
    one, two = (counterfactual(graphs[0], reds, reference=graphs, cost=UnitCost(), seed=3) for _ in range(2))
    assert one.operations == two.operations


def test_the_model_sees_the_molecules_of_a_valid_path():
    """What it is asked about on the way is what the answer holds, features included."""
    pytest.importorskip("rdkit")
    from pathlib import Path

    from epic.data import load

    dataset = load(str(Path(__file__).parents[2] / "examples" / "molecules.csv"))

    def heavy(batch):
        """Class 1 from ten atoms on; a hydrogen of a molecule's atoms counts a little."""
        return batch.batch.bincount() - 9.5 + 0.001 * global_add_pool(batch.x.double(), batch.batch).sum(1)

    found = counterfactual(dataset[60], heavy, reference=dataset, matching="edges", order="valid", k=1, tries=1)
    assert heavy(Batch.from_data_list([found.graph]))[0] > 0
    shown, _ = found.path.after(found.path._rank < found.step)
    assert torch.equal(shown.x, found.graph.x)
    assert set(shown.edge) == {"edge_attr"}
