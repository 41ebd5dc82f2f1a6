from collections import Counter

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.utils import to_dense_adj

from epic import InputError
from epic.augment import GraphCrop
from epic.testing import AugmentationTester
from epic.testing import augmented_graphs as made
from epic.testing import random_graphs as graphs
from tests.augment.test_regions import dense


class TestGraphCrop(AugmentationTester):
    def method(self):
        return GraphCrop(0.6, seed=0)


# No two nodes of it look alike, so that ranks from a root are all different.
EDGES = torch.tensor([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (2, 4), (5, 7)]).T


def test_the_kept_nodes_are_the_first_by_a_dense_solve():
    n, copies = 9, 3000
    data = Data(edge_index=torch.cat([EDGES, EDGES.flip(0)], 1), x=10.0 + torch.arange(n)[:, None], y=torch.tensor([0]))
    a = to_dense_adj(data.edge_index)[0].double().numpy()
    expected = Counter()
    for root in range(n):
        rank = dense(a, root, 0.15)
        assert np.diff(np.sort(rank)).min() > 1e-6
        expected[frozenset(np.argsort(-rank)[:5].tolist())] += 1 / n
    assert len(expected) > 3
    parts = made(GraphCrop(0.5, ratio=1, num_classes=1), [data] * copies)
    found = Counter(frozenset((g.x[:, 0] - 10).long().tolist()) for g in parts)
    assert set(found) == set(expected)
    for part, p in expected.items():
        assert found[part] / copies == pytest.approx(p, abs=5 * (p * (1 - p) / copies) ** 0.5)


def test_a_component_that_is_too_small_is_kept_whole():
    # A triangle and a square: five of the seven nodes are the one whole, and part of the other.
    e = torch.tensor([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 6), (6, 3)]).T
    data = Data(edge_index=torch.cat([e, e.flip(0)], 1), x=10.0 + torch.arange(7)[:, None], y=torch.tensor([0]))
    for part in made(GraphCrop(5 / 7, ratio=1, num_classes=1), [data] * 50):
        kept = set((part.x[:, 0] - 10).long().tolist())
        assert len(kept) == 5
        assert {0, 1, 2} <= kept or {3, 4, 5, 6} <= kept


def test_half_of_the_batch_is_cropped_and_labels_stay():
    originals = graphs(nodes=10, density=0.5)
    for g, data in enumerate(originals):
        data.owner = torch.full((data.num_nodes,), g)
    out = GraphCrop()(Batch.from_data_list(originals))
    assert sorted(g.num_nodes for g in out.to_data_list()) == [7] * 6 + [10] * 6
    for data in out.to_data_list():
        assert int(data.y) == int(originals[int(data.owner[0])].y)


def test_arguments_are_checked():
    with pytest.raises(InputError, match="share must lie between 0 and 1, got -1"):
        GraphCrop(-1)
    with pytest.raises(InputError, match="restart must lie between 0 and 1"):
        GraphCrop(restart=0)
