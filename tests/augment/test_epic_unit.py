import pytest
import torch
from torch_geometric.data import Batch, Data

from epic import EPIC, UnitCost
from epic.augment import EPICUnit
from tests.augment.tester import AugmentationTester, graphs, made


class TestEPICUnit(AugmentationTester):
    def method(self):
        return EPICUnit(seed=0)


def bare(labels, y):
    return Data(x=torch.eye(4)[labels], edge_index=torch.zeros(2, 0).long(), y=torch.tensor([y]))


def test_the_label_is_the_share_of_labels_changed():
    """0123 into 0000: node 0 is free, the other three substitutions cost 1 each."""
    out = made(EPICUnit(ratio=40, num_classes=2, degree_features=False), [bare([0, 1, 2, 3], 0), bare([0, 0, 0, 0], 1)])
    seen = set()
    for g in out:
        changed = int((g.x[:, 0] == 1).sum()) - 1
        assert g.y[0].tolist() == pytest.approx([1 - changed / 3, changed / 3])
        seen.add(changed)
    assert seen >= {1, 2}


def test_is_epic_at_unit_cost():
    batch = Batch.from_data_list(graphs())
    one, other = EPICUnit(num_classes=3)(batch, seed=1), EPIC(UnitCost(), num_classes=3)(batch, seed=1)
    for key in ("x", "edge_index", "edge_attr", "y"):
        assert torch.equal(one[key], other[key])


def test_interpolates_exactly_in_its_own_distance():
    """Distances to both ends add up to the distance of the ends, and the label tells which share is which."""
    cost = UnitCost()
    data = [bare([0, 1, 2, 3, 1], 0), bare([1, 1, 3], 1)]
    whole = cost.distance(*data)
    for g in made(EPICUnit(ratio=20, num_classes=2, degree_features=False), data):
        assert cost.distance(data[0], g) == pytest.approx(whole * float(g.y[0, 1]), abs=1e-5)
        assert cost.distance(g, data[1]) == pytest.approx(whole * float(g.y[0, 0]), abs=1e-5)
