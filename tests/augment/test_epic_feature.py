import pytest
import torch
from torch_geometric.data import Batch, Data

from epic import EPIC, FeatureCost
from epic.augment import EPICFeature
from tests.augment.tester import AugmentationTester, graphs, made


class TestEPICFeature(AugmentationTester):
    def method(self):
        return EPICFeature(seed=0)


def test_the_label_is_the_share_of_feature_distance():
    """Values 1 and 10 become 2 and 13: the first substitution costs 1, the second 3, crosswise would cost more."""

    def bare(values, y):
        return Data(x=torch.tensor(values)[:, None], edge_index=torch.zeros(2, 0).long(), y=torch.tensor([y]))

    ends = [bare([1.0, 10.0], 0), bare([2.0, 13.0], 1)]
    expected = {(2.0, 10.0): 0.25, (1.0, 13.0): 0.75}  # the share of the way from 1, 10
    seen = set()
    for g in made(EPICFeature(ratio=20, num_classes=2, degree_features=False), ends):
        values = tuple(sorted(g.x[:, 0].tolist()))
        assert float(g.y[0, 1]) == pytest.approx(expected[values])
        seen.add(values)
    assert seen == set(expected)


def test_is_epic_at_feature_cost():
    batch = Batch.from_data_list(graphs())
    one, other = EPICFeature(num_classes=3)(batch, seed=1), EPIC(FeatureCost(), num_classes=3)(batch, seed=1)
    for key in ("x", "edge_index", "edge_attr", "y"):
        assert torch.equal(one[key], other[key])
