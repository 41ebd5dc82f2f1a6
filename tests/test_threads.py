import pytest
import torch
from torch import nn
from torch_geometric.data import Batch

from epic import EPIC, LearnedCost
from epic._threads import LARGE, few_threads
from epic.augment import DropEdge
from epic.data import lollipop


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_small_networks_get_one_thread_and_the_setting_returns():
    with few_threads(nn.Linear(3, 3)):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    with few_threads(nn.Linear(LARGE, 1, bias=False)):
        assert torch.get_num_threads() == 2
    with pytest.raises(ValueError, match="inside"), few_threads():
        raise ValueError("inside")
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_learning_augmenting_and_embedding_use_one_thread(monkeypatch):
    seen = []
    embed = LearnedCost.embed
    monkeypatch.setattr(LearnedCost, "embed", lambda cost, g: seen.append(torch.get_num_threads()) or embed(cost, g))
    train = lollipop(30, seed=0)
    augment = EPIC().fit(train, epochs=1, progress=False)
    augment(Batch.from_data_list(train[:8]))
    augment.cost_.distances(train[:3], progress=False)
    list(augment.generate(train, count=3))
    assert set(seen) == {1}
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_any_augmentation_restores_the_setting():
    DropEdge()(Batch.from_data_list(lollipop(4, seed=0)))
    assert torch.get_num_threads() == 2
