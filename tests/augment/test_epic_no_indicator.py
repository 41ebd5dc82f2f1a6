import torch
from torch_geometric.data import Batch

from epic import EPIC, UnitCost
from epic.augment import EPICNoIndicator
from tests.augment.tester import AugmentationTester, graphs


class TestEPICNoIndicator(AugmentationTester):
    fit_options = {"epochs": 1, "progress": False}

    def method(self):
        return EPICNoIndicator(seed=0)


def test_is_epic_without_its_last_column():
    batch = Batch.from_data_list(graphs())
    one = EPICNoIndicator(UnitCost(), num_classes=3)(batch, seed=1)
    other = EPIC(UnitCost(), num_classes=3, indicator=True)(batch, seed=1)
    assert torch.equal(one.x, other.x[:, :-1])
    assert torch.equal(other.x[:, -1].bool(), other.augmented[other.batch])
    for key in ("edge_index", "edge_attr", "y"):
        assert torch.equal(one[key], other[key])
    assert "indicator" not in one.to_dict()
