import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.utils import to_networkx

from epic import InputError
from epic.augment import DropNode
from epic.testing import AugmentationTester
from epic.testing import augmented_graphs as made
from epic.testing import random_graphs as graphs
from tests.sample_graphs import random_graph


class TestDropNode(AugmentationTester):
    def method(self):
        return DropNode(0.4, seed=0)


class TestDropNodeZero(AugmentationTester):
    refuses = ("integer categories",)
    keeps_features = False  # some rows are zero

    def method(self):
        return DropNode(0.5, mode="zero", seed=0)


def test_nodes_go_with_their_edges_and_attributes_follow():
    for seed in range(5):
        data = random_graph(np.random.default_rng(seed), 12, density=0.5, y=[1])
        data.number = torch.arange(12)
        (part,) = made(DropNode(0.4, num_classes=2), [data], seed)
        kept = part.number.tolist()
        assert torch.equal(part.x, data.x[kept])
        back = {(kept[u], kept[v]): a for (u, v), a in zip(part.edge_index.T.tolist(), part.edge_attr, strict=True)}
        whole = {(u, v): a for (u, v), a in zip(data.edge_index.T.tolist(), data.edge_attr, strict=True)}
        assert set(back) == set(nx.induced_subgraph(to_networkx(data), kept).edges)
        assert all(torch.equal(a, whole[edge]) for edge, a in back.items())


def test_the_share_left_out_is_p():
    one = Data(edge_index=torch.zeros(2, 0, dtype=torch.long), x=torch.ones(1000, 1), y=torch.tensor([0]))
    left = sum(g.num_nodes for g in made(DropNode(0.3, num_classes=2), [one] * 20))
    assert abs(left / 20_000 - 0.7) < 0.016  # standard deviation 0.0032


def test_one_node_is_left_and_it_is_a_random_one():
    originals = graphs(60, nodes=4, edge_width=None)
    for data in originals:
        data.number = torch.arange(4)
    lone = made(DropNode(1.0, num_classes=3), originals)
    assert {g.num_nodes for g in lone} == {1}
    assert {int(g.number) for g in lone} == {0, 1, 2, 3}


def test_labels_stay():
    originals = graphs()
    for g, data in enumerate(originals):
        data.owner = torch.full((data.num_nodes,), g)
    for data in made(DropNode(0.4, num_classes=3), originals):
        assert int(data.y) == int(originals[int(data.owner[0])].y)


def test_zeroing_leaves_the_structure_and_scales_at_test():
    originals = graphs(nodes=10)
    method = DropNode(0.25, mode="zero", num_classes=3)
    rows = torch.cat([g.x for g in originals])
    for g in made(method, originals):
        original = next(o for o in originals if torch.equal(o.edge_index, g.edge_index))
        zero = (g.x == 0).all(1)
        assert torch.equal(g.x[~zero], original.x[~zero])
        assert torch.equal(g.edge_attr, original.edge_attr)
    many = made(method, originals * 40)
    share = torch.cat([(g.x == 0).all(1) for g in many]).double().mean()
    assert abs(float(share) - 0.25) < 0.032  # standard deviation 0.0063
    batch = Batch.from_data_list(originals)
    assert torch.allclose(method.eval_batch(batch).x, 0.75 * rows)
    assert torch.equal(batch.x, rows)


@pytest.mark.parametrize(("ratio", "replace", "scale"), [(0.5, True, 0.9), (0.5, False, (1 + 0.5 * 0.8) / 1.5)])
def test_zeroing_part_of_the_graphs_scales_by_what_training_sees(ratio, replace, scale):
    batch = Batch.from_data_list(graphs())
    method = DropNode(0.2, mode="zero", ratio=ratio, replace=replace)
    assert torch.allclose(method.eval_batch(batch).x, scale * batch.x)


def test_zeroed_degrees_stay_zero():
    originals = graphs(nodes=10, density=0.6, edge_width=None)
    for data in originals:
        data.x = torch.bincount(data.edge_index[0], minlength=10)[:, None].float()
    zeroed = made(DropNode(1.0, mode="zero", degree_features=True).fit(originals), originals)
    assert all(bool((g.x == 0).all()) and g.num_edges > 0 for g in zeroed)
    for g in made(DropNode(0.5, degree_features=True).fit(originals), originals):
        assert torch.equal(g.x[:, 0], torch.bincount(g.edge_index[0], minlength=g.num_nodes).float())


def test_zeroing_needs_features():
    bare = graphs(x=None)
    with pytest.raises(InputError, match="needs node features x"):
        DropNode(mode="zero", num_classes=3)(Batch.from_data_list(bare))
    assert len(made(DropNode(num_classes=3), bare)) == 12


def test_unknown_mode():
    with pytest.raises(InputError, match="unknown mode 'zeros'; did you mean 'zero'"):
        DropNode(mode="zeros")
