import pytest
import torch
from torch_geometric.data import Data

from epic import FeatureCost, InputError


def one(x):
    return Data(x=torch.tensor([x]), edge_index=torch.zeros(2, 0).long())


def test_by_hand():
    assert FeatureCost().distance(one([3.0, 4.0]), one([3.0, 3.0])) == pytest.approx(1.0)
    assert FeatureCost().distance(one([3.0, 4.0]), one([-3.0, -4.0])) == pytest.approx(
        10.0
    )  # dearer to swap than 5 + 5? equal
    assert FeatureCost(edit=0.3).distance(one([3.0, 4.0]), one([3.0, 3.0])) == pytest.approx(0.6)


def test_integers_are_categories_not_quantities():
    near, far = FeatureCost().distance(one([1, 5]), one([2, 5])), FeatureCost().distance(one([1, 5]), one([90, 5]))
    assert near == far == pytest.approx(2**0.5)
    assert FeatureCost().distance(one([1, 5]), one([2, 6])) == pytest.approx(2.0)


def test_bad_price_is_refused():
    with pytest.raises(InputError, match="edit must be positive and finite, got 0"):
        FeatureCost(edit=0)
