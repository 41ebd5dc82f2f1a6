import torch
from torch_geometric.data import Batch, Data

from epic.augment import DropEdge
from epic.graphs.convert import pack
from epic.testing import AugmentationTester
from epic.testing import augmented_graphs as made
from epic.testing import random_graphs as graphs


class TestDropEdge(AugmentationTester):
    def method(self):
        return DropEdge(0.4, seed=0)


def test_both_directions_go_together_and_attributes_follow():
    for data in made(DropEdge(0.5, num_classes=3), graphs(density=0.6)):
        pairs = {tuple(e): a.tolist() for e, a in zip(data.edge_index.T.tolist(), data.edge_attr, strict=True)}
        for (u, v), attribute in pairs.items():
            assert pairs[v, u] == attribute


def test_the_share_left_out_is_p():
    ring = torch.arange(1000)
    edges = torch.stack([ring, ring.roll(1)])
    one = Data(edge_index=torch.cat([edges, edges.flip(0)], 1), x=torch.ones(1000, 1), y=torch.tensor([0]))
    thin = made(DropEdge(0.3, num_classes=2, degree_features=False), [one] * 20)
    share = sum(g.num_edges for g in thin) / (20 * 2000)
    assert abs(share - 0.7) < 0.01  # standard deviation 0.003


def test_all_edges_or_none():
    originals = graphs(density=0.5)
    whole = made(DropEdge(0.0, num_classes=3), originals)
    assert sorted(g.num_edges for g in whole) == sorted(g.num_edges for g in originals)
    assert all(g.num_edges == 0 for g in made(DropEdge(1.0, num_classes=3), originals))


def test_replaces_or_adds():
    batch = Batch.from_data_list(graphs())
    assert DropEdge(ratio=0.5, num_classes=3)(batch).num_graphs == 12
    added = DropEdge(ratio=0.5, replace=False, num_classes=3)(batch)
    assert added.num_graphs == 18
    assert torch.equal(pack(added).sizes[:12], pack(batch).sizes)
