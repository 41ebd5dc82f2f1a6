"""The pool itself, with a mixture that needs no optimal transport."""

import sys

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from epic import InputError, pack
from epic.augment import FGWMixup, GeoMix
from epic.augment.base import MethodInfo
from epic.augment.dense import Dense, sparse
from epic.augment.pool import SHARD, PooledMixup
from epic.random import uniform
from epic.testing import random_graphs
from tests.sample_graphs import random_graph


class Crossed(PooledMixup):
    """The edges of the first graph; every node has the first's share as its feature."""

    info = MethodInfo(paper="none", changes="all", cost="nothing")
    mixed = 0

    def draw_shares(self, count, generator):
        return uniform(count, generator)

    def mix_pair(self, one, two, share):
        type(self).mixed += 1
        x = None if one.bare else np.full_like(one.side.x, share)
        return sparse(Dense(one.side.a, x, one.attr), np.stack(np.nonzero(one.side.a)), weighted=False)


@pytest.fixture(autouse=True)
def _count_again():
    Crossed.mixed = 0


MANY = 2 * SHARD + 5


def fitted(graphs, folder=None, **settings):
    return Crossed(**{"seed": 0, **settings}).fit(graphs, progress=False, folder=folder)


def test_graphs_as_matrices():
    data = random_graph(np.random.default_rng(0), 5, directed=True, y=[0])
    data.edge_weight = torch.arange(1, data.num_edges + 1).float()
    dense = Dense.of(pack([data]), 0)
    for k, (u, v) in enumerate(data.edge_index.T.tolist()):
        assert dense.side.a[u, v] == k + 1
        assert dense.attr[:, u, v].tolist() == pytest.approx(((k + 1) * data.edge_attr[k]).tolist())
    assert dense.edges == (dense.side.a != 0).sum() == data.num_edges
    assert np.array_equal(dense.side.x, data.x.double().numpy())


def test_no_more_graphs_than_asked_and_than_there_are():
    assert len(fitted(random_graphs(12)).pool_) == 12
    assert len(fitted(random_graphs(12), pool_size=7).pool_) == 7


def test_the_same_seed_gives_the_same_pool():
    one, two, other = (fitted(random_graphs(), seed=s) for s in (0, 0, 1))
    assert one.fingerprint() == two.fingerprint()
    assert not torch.equal(one.pool_.y, other.pool_.y)


@pytest.mark.parametrize("pairs", ["different", "same"])
def test_pairs_go_by_labels(pairs):
    graphs = random_graphs(30)
    y = torch.tensor([int(g.y) for g in graphs])
    one, two, share = fitted(graphs, pairs=pairs).pool_.y.T
    assert ((y[one.long()] == y[two.long()]) == (pairs == "same")).all()
    assert (one != two).all()
    assert len(share.unique()) == 30


def test_labels_and_shares_belong_to_the_graphs():
    """A class for each graph; the feature of a mixture is its share of the first."""
    graphs = random_graphs(9, num_classes=9)
    batch = fitted(graphs, ratio=1.0)(graphs)
    new = [g for g in batch.to_data_list() if g.augmented]
    assert len(new) == 9
    for data in new:
        share = float(data.x[0, 0])
        one = int((data.y[0] - share).abs().argmin())
        assert sorted(data.y[0].tolist())[-3:] == pytest.approx([0, *sorted([share, 1 - share])])
        assert set(map(tuple, data.edge_index.T.tolist())) == set(map(tuple, graphs[one].edge_index.T.tolist()))


def test_no_graph_comes_twice_before_all_came():
    graphs = random_graphs(10, num_classes=10)
    method = fitted(graphs, ratio=1.0)
    batch = method(graphs)
    assert len(batch.y[batch.augmented].unique(dim=0)) == 10
    twice = Crossed(seed=0, ratio=2.0).fit(graphs, progress=False)(graphs)
    assert set(twice.y[twice.augmented].unique(dim=0, return_counts=True)[1].tolist()) == {2}


def test_a_pool_on_disk_is_that_in_memory_and_is_read_again(tmp_path):
    graphs = random_graphs(MANY)
    memory, disk = fitted(graphs), fitted(graphs, tmp_path)
    assert memory.fingerprint() == disk.fingerprint()
    assert memory.milliseconds_ > 0
    Crossed.mixed = 0
    again = fitted(graphs, tmp_path)
    assert (Crossed.mixed, again.milliseconds_) == (0, None)
    assert again.fingerprint() == disk.fingerprint()


def test_resume_equals_uninterrupted(tmp_path, monkeypatch):
    graphs = random_graphs(MANY)
    whole = Crossed.mix_pair

    def killed(self, *pair):
        if Crossed.mixed == SHARD + 3:
            raise KeyboardInterrupt
        return whole(self, *pair)

    monkeypatch.setattr(Crossed, "mix_pair", killed)
    with pytest.raises(KeyboardInterrupt):
        fitted(graphs, tmp_path)
    monkeypatch.setattr(Crossed, "mix_pair", whole)
    Crossed.mixed = 0
    resumed = fitted(graphs, tmp_path)
    assert Crossed.mixed == MANY - SHARD, "what was done is not done again"
    assert resumed.fingerprint() == fitted(graphs).fingerprint()


def test_a_damaged_shard_is_made_again(tmp_path):
    graphs = random_graphs(MANY)
    before = fitted(graphs, tmp_path).fingerprint()
    shard = sorted(tmp_path.glob("*/shard-*"))[1]
    shard.write_bytes(shard.read_bytes()[:100])
    Crossed.mixed = 0
    assert fitted(graphs, tmp_path).fingerprint() == before
    assert Crossed.mixed == SHARD


def test_a_folder_serves_several_pools(tmp_path):
    graphs, others = random_graphs(6), random_graphs(6, seed=1)
    fitted(graphs, tmp_path)
    for settings in ({"seed": 1}, {"pairs": "random"}, {"pool_size": 5}):
        fitted(graphs, tmp_path, **settings)
    fitted(others, tmp_path)
    assert len(list(tmp_path.iterdir())) == 5
    fitted(graphs, tmp_path, ratio=1.0, replace=True)
    assert len(list(tmp_path.iterdir())) == 5, "how many a batch draws does not change the pool"


def test_the_origin_is_known_for_the_graphs_of_fit():
    graphs = pack(random_graphs(8, num_classes=8))
    method, picked = fitted(graphs), torch.arange(8)
    made = method.make_graphs(graphs, picked, torch.Generator().manual_seed(1))
    origin = method.origin(graphs, picked, torch.Generator().manual_seed(1), made)
    assert torch.allclose(origin.float(), made.y), "every graph has a class of its own"
    assert method.origin(graphs[:5], picked[:5], torch.Generator(), made) is None


def test_graphs_without_nodes_take_no_part():
    graphs = random_graphs(5)
    empty = random_graphs(1)[0]
    empty.x, empty.edge_index, empty.edge_attr = empty.x[:0], empty.edge_index[:, :0], empty.edge_attr[:0]
    empty.num_nodes = 0
    pool = fitted([empty, *graphs]).pool_
    assert len(pool) == 5
    assert int(pool.y[:, :2].min()) == 1


def test_missing_tasks_stay_missing():
    graphs = random_graphs(4)
    for k, graph in enumerate(graphs):
        graph.y = torch.tensor([[k % 2, float("nan")]])
    y = fitted(graphs)(graphs).y
    assert y[:, 0].isfinite().all()
    assert y[:, 1].isnan().all()


def test_structure_alone_is_enough():
    graphs = random_graphs(6, x=None, edge_width=None)
    out = fitted(graphs, degree_features=False, ratio=1.0)(graphs)
    assert out.num_graphs == 12


@pytest.mark.parametrize("cls", [FGWMixup, GeoMix])
def test_without_pot_nothing_is_begun(cls, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot.lp", None)
    with pytest.raises(InputError, match=r"pip install POT"):
        cls().fit(random_graphs(6), folder=tmp_path, progress=False)
    assert not list(tmp_path.iterdir())


def test_clear_errors():
    graphs = random_graphs(6)
    with pytest.raises(InputError, match=r"call fit\(train\) first"):
        Crossed(num_classes=3)(graphs)
    with pytest.raises(InputError, match="takes no epochs"):
        Crossed().fit(graphs, epochs=3)
    with pytest.raises(InputError, match="pairs='random'"):
        fitted([g for g in graphs if int(g.y) == 0])
    with pytest.raises(InputError, match=r"x of the batch has width 3, but None in fit"):
        fitted(random_graphs(6, x=None), degree_features=False)(graphs)
    coded = [Data(**{**g.to_dict(), "x": g.x.long()}) for g in graphs]
    with pytest.raises(InputError, match=r"x holds torch.int64 categories"):
        fitted(graphs)(coded)


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"cannot write to .*file/pool-.*: Not a directory"):
        fitted(random_graphs(6), tmp_path / "file")
