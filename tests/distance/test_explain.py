import numpy as np
import pytest
import torch

import epic.distance.explain
from epic import FeatureCost, InputError, UnitCost
from tests.sample_graphs import random_graph


def graphs(*sizes):
    rng = np.random.default_rng(0)
    return [random_graph(rng, n, x="onehot", edge_width=None) for n in sizes]


@pytest.mark.parametrize("chunk", [3, 4096])
def test_prices_are_those_counted_by_hand(monkeypatch, chunk):
    monkeypatch.setattr(epic.distance.explain, "CHUNK", chunk)
    graph, *reference = graphs(6, 4, 5)
    found = FeatureCost().explain(graph, reference)
    every = torch.cat([g.x for g in reference])
    by_hand = [float(np.mean([torch.dist(u, v) for v in every])) for u in graph.x]
    assert found.substitution.tolist() == pytest.approx(by_hand, rel=1e-5)
    assert found.deletion.tolist() == pytest.approx([1.0] * 6)  # the length of a one-hot vector
    assert found.insertion.tolist() == pytest.approx([1.0] * 6)


def test_without_a_reference_there_is_no_substitution():
    found = UnitCost().explain(graphs(4)[0])
    assert found.substitution is None
    assert found.deletion.tolist() == [1.0] * 4


def test_several_graphs_and_strange_references_are_refused():
    one, other = graphs(3, 4)
    with pytest.raises(InputError, match="takes one graph, got 2"):
        UnitCost().explain([one, other])
    with pytest.raises(InputError, match="no nodes"):
        UnitCost().explain(one, graphs(0))
    other.x = other.x[:, :2]
    with pytest.raises(InputError, match="width"):
        FeatureCost().explain(one, other)
